// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.nativehal.NativeOptions;
import io.weft.nativehal.NativePlatform;
import io.weft.nativehal.driver.CollectiveLibrary;
import io.weft.nativehal.driver.DeviceKernels;
import io.weft.nativehal.driver.GemmLibrary;
import io.weft.nativehal.driver.NativeMachine;
import io.weft.nativehal.driver.Vendor;
import io.weft.nativehal.kernels.ModuleKernels;
import io.weft.nativehal.kernels.NoKernels;
import io.weft.nativehal.nccl.NcclLibrary;
import io.weft.spi.PlatformDriver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** The devices of this machine through AMD's own libraries, asked in an order in which no answer can end the process. */
public final class HipNative {
    /** Version 5.2, the oldest that was tried. */
    private static final int OLDEST = 5_02_00000;

    private HipNative() {}

    /** What can be said about this machine without loading a library. */
    public static String hardware() {
        return Files.exists(Path.of("/dev/kfd"))
                ? "the kernel driver is loaded"
                : "no AMD kernel driver is loaded here";
    }

    /**
     * Opens the platform.
     *
     * @throws AcceleratorException UNAVAILABLE saying what is missing; NOT_FOUND for a device that is not there; INVALID_ARGUMENT for an option
     */
    public static PlatformDriver open(PlatformUri uri) {
        NativeOptions options = NativeOptions.of(uri);
        HipLibraries libraries = HipLibraries.open(options.libraries());
        HipRuntime runtime = libraries.runtime();
        if (runtime.version() < OLDEST) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    runtime.library().name() + " is version " + HipRuntime.text(runtime.version())
                            + "; HIP 5.2 or newer is needed",
                    "name the folder of a newer one in " + HipLibraries.ENVIRONMENT,
                    null,
                    null);
        }
        // The gate. Nothing else is asked before there is a device: other calls answer with codes that differ from
        // version to version, and hipBLASLt ends the process.
        OptionalInt count = runtime.deviceCount();
        if (count.isEmpty()) {
            throw absent(uri, runtime, HipFailure.NO_DEVICE);
        }
        int started = runtime.start();
        if (HipFailure.saysNoDevice(started)) {
            throw absent(uri, runtime, started);
        }
        if (started != 0) {
            throw runtime.failure("start HIP", started);
        }
        List<Integer> ordinals = NativePlatform.ordinals(uri, options, count.getAsInt());
        Set<String> chips = HipMachine.architectures(runtime, ordinals);
        Float8 float8 = float8(uri, chips);
        NativeMachine machine = HipMachine.read(runtime, ordinals, driverTree());
        Optional<Hiprtc> compiler = runtime.hasModules() ? libraries.compiler() : Optional.empty();
        runtime.device(ordinals.getFirst());
        Optional<HipblasLt> products = libraries.products(float8);
        Optional<NcclLibrary> collectives = libraries.collectives(float8);
        Vendor vendor = new Vendor(
                "AMD",
                runtime,
                device -> compiler.<DeviceKernels>map(found -> new ModuleKernels(
                                HipModule.load(runtime, found, device.architecture()), device.computeUnits()))
                        .orElseGet(() -> new NoKernels(
                                "there is no run-time compiler for Weft's kernels (" + String.join(", ", Hiprtc.NAMES)
                                        + ")",
                                "install HIPRTC of the same ROCm release")),
                products.map(GemmLibrary.class::cast),
                collectives.map(CollectiveLibrary.class::cast),
                runtime.pages(),
                versions(runtime, products, collectives));
        return new NativePlatform(uri, options, vendor, machine);
    }

    private static AcceleratorException absent(PlatformUri uri, HipRuntime runtime, int code) {
        AcceleratorException said = runtime.failure("open " + uri, code);
        return new AcceleratorException(
                ErrorCode.UNAVAILABLE,
                "open " + uri,
                "no device: HIP " + HipRuntime.text(runtime.version()) + " ("
                        + runtime.library().name() + ") lists none, and " + hardware(),
                said.nextStep(),
                said.vendorError().orElse(null),
                null);
    }

    /** The one encoding of all chips. Where they differ, 8-bit floats are not offered: sums and copies between the devices would be silently wrong. */
    private static Float8 float8(PlatformUri uri, Set<String> chips) {
        List<Float8> encodings = chips.stream()
                .map(Float8::of)
                .filter(one -> one != Float8.NONE)
                .distinct()
                .toList();
        if (encodings.size() > 1) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "open " + uri,
                    "the devices are " + String.join(" and ", chips)
                            + ", whose 8-bit floats differ: one job over them would compute with wrong numbers",
                    "choose devices of one kind with devices=",
                    null,
                    null);
        }
        return encodings.isEmpty() ? Float8.NONE : encodings.getFirst();
    }

    /** The kernel driver's tree. The property is for tests, and for containers that mount it elsewhere. */
    private static Path driverTree() {
        return Path.of(System.getProperty("io.weft.amd.kfd", "/sys/class/kfd"));
    }

    private static Map<String, String> versions(
            HipRuntime runtime, Optional<HipblasLt> products, Optional<NcclLibrary> collectives) {
        Map<String, String> versions = new LinkedHashMap<>();
        versions.put("driver HIP", HipRuntime.text(runtime.driverVersion()));
        versions.put("runtime", HipRuntime.text(runtime.version()));
        products.map(HipblasLt::version)
                .filter(version -> version > 0)
                .ifPresent(version -> versions.put(
                        "hipBLASLt", version / 100_000 + "." + version / 100 % 1000 + "." + version % 100));
        collectives
                .map(NcclLibrary::version)
                .filter(version -> version > 0)
                .ifPresent(version ->
                        versions.put("RCCL", version / 10_000 + "." + version / 100 % 100 + "." + version % 100));
        return versions;
    }
}

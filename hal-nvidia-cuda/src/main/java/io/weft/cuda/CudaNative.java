// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.cuda.ffi.CudaLibraries;
import io.weft.cuda.ffi.CudaRuntime;
import io.weft.cuda.ffi.Nvml;
import io.weft.nativehal.NativeOptions;
import io.weft.nativehal.NativePlatform;
import io.weft.nativehal.driver.CollectiveLibrary;
import io.weft.nativehal.driver.GemmLibrary;
import io.weft.nativehal.driver.NativeMachine;
import io.weft.nativehal.driver.PageDriver;
import io.weft.nativehal.driver.Vendor;
import io.weft.nativehal.kernels.ModuleKernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The GPUs of this machine: what NVIDIA's libraries supply, in the order in which they can be asked. */
final class CudaNative {
    private CudaNative() {}

    /**
     * Opens the platform.
     *
     * @throws AcceleratorException UNAVAILABLE saying what is missing; NOT_FOUND for a device that is not there
     */
    static NativePlatform open(PlatformUri uri) {
        NativeOptions options = NativeOptions.of(uri);
        CudaLibraries libraries = CudaLibraries.open(options.libraries());
        int code = libraries.driver().start();
        if (code != 0) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    "the driver does not start: " + libraries.driver().explain(code),
                    "check that nvidia-smi works here",
                    null,
                    null);
        }
        CudaRuntime runtime = libraries.runtime();
        int major = runtime.runtimeVersion() / 1000;
        if (major < 12) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    runtime.library().name() + " is version " + version(runtime.runtimeVersion())
                            + "; CUDA 12 or newer is needed",
                    "name the folder of a newer one in " + CudaLibraries.ENVIRONMENT,
                    null,
                    null);
        }
        int count;
        try {
            count = runtime.deviceCount();
        } catch (AcceleratorException none) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    "no device: " + none.detail(),
                    none.nextStep(),
                    none.vendorError().orElse(null),
                    none);
        }
        if (count == 0) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open " + uri,
                    "the driver lists no device",
                    "check CUDA_VISIBLE_DEVICES and nvidia-smi",
                    null,
                    null);
        }
        List<Integer> ordinals = NativePlatform.ordinals(uri, options, count);
        NativeMachine machine;
        String driverVersion;
        try (Nvml nvml = libraries.openNvml().orElse(null)) {
            machine = Machine.read(libraries, nvml, ordinals);
            driverVersion = nvml == null ? "" : nvml.driverVersion();
        }
        Optional<PageDriver> pages =
                libraries.driver().hasVirtualMemory() ? Optional.of(libraries.driver()) : Optional.empty();
        Vendor vendor = new Vendor(
                "NVIDIA",
                runtime,
                device -> new ModuleKernels(PtxModule.load(libraries.driver()), device.computeUnits()),
                libraries.cublas().map(GemmLibrary.class::cast),
                libraries.nccl().map(CollectiveLibrary.class::cast),
                pages,
                versions(libraries, driverVersion));
        return new NativePlatform(uri, options, vendor, machine);
    }

    private static Map<String, String> versions(CudaLibraries libraries, String driverVersion) {
        Map<String, String> versions = new LinkedHashMap<>();
        if (!driverVersion.isEmpty()) {
            versions.put("driver", driverVersion);
        }
        versions.put("driver CUDA", version(libraries.runtime().driverVersion()));
        versions.put("runtime", version(libraries.runtime().runtimeVersion()));
        libraries
                .cublas()
                .ifPresent(cublas -> versions.put(
                        "cuBLASLt",
                        cublas.version() / 10000 + "." + cublas.version() / 100 % 100 + "." + cublas.version() % 100));
        libraries
                .nccl()
                .ifPresent(nccl -> versions.put(
                        "NCCL",
                        nccl.version() / 10000 + "." + nccl.version() / 100 % 100 + "." + nccl.version() % 100));
        return versions;
    }

    private static String version(int number) {
        return number / 1000 + "." + number % 1000 / 10;
    }
}

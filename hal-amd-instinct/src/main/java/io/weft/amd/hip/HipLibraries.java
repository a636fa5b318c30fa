// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.nativehal.ffi.LibraryFolders;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.nccl.NcclLibrary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * AMD's libraries. HIP is opened first and alone; the others only once it has listed a device, as one of them ends the process where there is none.
 *
 * <p>Looked for in this order: the folders given with the platform ({@code libraries=}), those of the environment variable {@value #ENVIRONMENT} or the system property {@value #PROPERTY}, {@code LD_LIBRARY_PATH}, {@code ROCM_PATH} and
 * {@code HIP_PATH}, {@code /opt/rocm}, the system's own search, and last the packages of a Python installation.
 */
final class HipLibraries {
    /** Folders, separated by colons. */
    static final String ENVIRONMENT = "IO_WEFT_AMD_LIBRARIES";
    /** The same as a system property, which wins. */
    static final String PROPERTY = "io.weft.amd.libraries";

    private static final List<String> RCCL_NAMES = List.of("librccl.so.1", "librccl.so");
    /** RCCL knows 8-bit floats from here on; 2.13 does not. */
    private static final int FIRST_WITH_FLOAT8 = 2_18_00;

    private static final Map<List<Path>, HipLibraries> OPENED = new ConcurrentHashMap<>();

    private final HipRuntime runtime;
    private final List<Path> before;
    private final List<Path> after;

    private HipLibraries(HipRuntime runtime, List<Path> before, List<Path> after) {
        this.runtime = runtime;
        this.before = before;
        this.after = after;
    }

    /**
     * Opens HIP, once for each set of folders.
     *
     * @param given folders that come before all others
     * @throws AcceleratorException UNAVAILABLE saying that it is missing or why it cannot be used
     */
    static HipLibraries open(List<Path> given) {
        List<Path> first = new ArrayList<>(given);
        first.addAll(LibraryFolders.ofSetting(PROPERTY, ENVIRONMENT));
        HipLibraries known = OPENED.get(first);
        if (known != null) {
            return known;
        }
        HipLibraries opened = load(List.copyOf(first));
        OPENED.put(List.copyOf(first), opened);
        return opened;
    }

    private static HipLibraries load(List<Path> first) {
        List<String> refusals = new ArrayList<>();
        Set<Path> folders = new LinkedHashSet<>(first);
        folders.addAll(LibraryFolders.ofVariable("LD_LIBRARY_PATH", ""));
        folders.addAll(LibraryFolders.ofVariable("ROCM_PATH", "lib"));
        folders.addAll(LibraryFolders.ofVariable("HIP_PATH", "lib"));
        folders.add(Path.of("/opt/rocm/lib"));
        LibraryFolders.children(Path.of("/opt")).stream()
                .filter(folder -> folder.getFileName().toString().startsWith("rocm-"))
                .sorted(java.util.Comparator.reverseOrder())
                .forEach(folder -> folders.add(folder.resolve("lib")));
        List<Path> after = new ArrayList<>();
        for (Path packages : LibraryFolders.pythonPackages()) {
            after.add(packages.resolve("torch/lib"));
            LibraryFolders.children(packages).stream()
                    .filter(folder -> folder.getFileName().toString().startsWith("_rocm_sdk"))
                    .forEach(folder -> after.add(folder.resolve("lib")));
        }
        List<Path> before = List.copyOf(folders);
        NativeLibrary library = NativeLibrary.open(HipRuntime.NAMES, before, after, refusals)
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.UNAVAILABLE,
                        "open",
                        refusals.isEmpty()
                                ? "the HIP runtime is not here (" + String.join(", ", HipRuntime.NAMES) + ")"
                                : "the HIP runtime cannot be used: " + String.join("; ", refusals),
                        "install ROCm, or name the folder of its libraries in " + ENVIRONMENT,
                        null,
                        null));
        HipRuntime runtime = new HipRuntime(library);
        List<String> missing = runtime.missingEssentials();
        if (!missing.isEmpty()) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open",
                    library.name() + " lacks " + String.join(", ", missing),
                    "use ROCm 5.2 or newer",
                    null,
                    null);
        }
        return new HipLibraries(runtime, before, after);
    }

    /** HIP. */
    HipRuntime runtime() {
        return runtime;
    }

    /** The run-time compiler; from HIP 7 on in a library of its own. */
    Optional<Hiprtc> compiler() {
        Hiprtc inside = new Hiprtc(runtime.library());
        if (inside.isComplete()) {
            return Optional.of(inside);
        }
        return NativeLibrary.open(Hiprtc.NAMES, before, after, new ArrayList<>())
                .map(Hiprtc::new)
                .filter(Hiprtc::isComplete);
    }

    /** Matrix products. Only to be called when there is a device. */
    Optional<HipblasLt> products(Float8 float8) {
        return NativeLibrary.open(HipblasLt.NAMES, before, after, new ArrayList<>())
                .map(library -> new HipblasLt(library, float8))
                .filter(HipblasLt::isComplete);
    }

    /** Collectives. Only to be called when there is a device. */
    Optional<NcclLibrary> collectives(Float8 float8) {
        Set<ElementType> plain =
                EnumSet.of(ElementType.INT8, ElementType.INT32, ElementType.FP16, ElementType.FP32, ElementType.BF16);
        return NativeLibrary.open(RCCL_NAMES, before, after, new ArrayList<>())
                .map(library -> {
                    NcclLibrary old = new NcclLibrary("RCCL", library, plain);
                    if (old.version() < FIRST_WITH_FLOAT8) {
                        return old;
                    }
                    Set<ElementType> all = EnumSet.copyOf(plain);
                    all.addAll(float8.types());
                    return new NcclLibrary("RCCL", library, all);
                })
                .filter(NcclLibrary::isComplete);
    }
}

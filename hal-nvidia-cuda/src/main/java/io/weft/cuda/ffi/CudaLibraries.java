// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda.ffi;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.nativehal.ffi.LibraryFolders;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.nccl.NcclLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
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
 * The vendor's libraries, found and opened once for each set of folders. Runtime and driver must be there; cuBLASLt, NCCL and NVML are powers more.
 *
 * <p>Looked for in this order: the folders given with the platform ({@code libraries=}), those of the environment variable {@value #ENVIRONMENT} or the system property
 * {@value #PROPERTY}, the folders of the environment that the vendor's tools use, the system's own search, the usual installations, and last the packages of a Python
 * installation, as that is where machines of machine-learning people have them.
 */
public final class CudaLibraries {
    /** Folders, separated by colons. */
    public static final String ENVIRONMENT = "IO_WEFT_CUDA_LIBRARIES";
    /** The same as a system property, which wins. */
    public static final String PROPERTY = "io.weft.cuda.libraries";

    private static final List<String> NCCL_NAMES = List.of("libnccl.so.2", "libnccl.so");
    private static final Set<ElementType> NCCL_TYPES = EnumSet.of(
            ElementType.INT8,
            ElementType.INT32,
            ElementType.FP16,
            ElementType.FP32,
            ElementType.BF16,
            ElementType.FP8_E4M3,
            ElementType.FP8_E5M2);

    private static final Map<List<Path>, CudaLibraries> OPENED = new ConcurrentHashMap<>();

    private final CudaRuntime runtime;
    private final CudaDriverApi driver;
    private final CublasLt cublas;
    private final NcclLibrary nccl;
    private final NativeLibrary nvml;

    private CudaLibraries(
            CudaRuntime runtime, CudaDriverApi driver, CublasLt cublas, NcclLibrary nccl, NativeLibrary nvml) {
        this.runtime = runtime;
        this.driver = driver;
        this.cublas = cublas;
        this.nccl = nccl;
        this.nvml = nvml;
    }

    /**
     * Opens the libraries.
     *
     * @param given folders that come before all others
     * @throws AcceleratorException UNAVAILABLE saying which library is missing or unusable
     */
    public static CudaLibraries open(List<Path> given) {
        List<Path> key = List.copyOf(withSettings(given));
        CudaLibraries known = OPENED.get(key);
        if (known != null) {
            return known;
        }
        CudaLibraries opened = load(key);
        OPENED.put(key, opened);
        return opened;
    }

    private static List<Path> withSettings(List<Path> given) {
        List<Path> folders = new ArrayList<>(given);
        folders.addAll(LibraryFolders.ofSetting(PROPERTY, ENVIRONMENT));
        return folders;
    }

    private static CudaLibraries load(List<Path> first) {
        List<String> refusals = new ArrayList<>();
        Set<Path> folders = new LinkedHashSet<>(first);
        folders.addAll(usualFolders());
        List<Path> before = List.copyOf(folders);
        List<Path> after = pythonFolders();
        // Before any library of the vendor is loaded, as they read the environment when they start.
        keepMulticastOff();
        NativeLibrary runtimeLibrary = NativeLibrary.open(CudaRuntime.NAMES, before, after, refusals)
                .orElseThrow(() -> absent("the CUDA runtime", CudaRuntime.NAMES, refusals));
        NativeLibrary driverLibrary = NativeLibrary.open(CudaDriverApi.NAMES, before, after, refusals)
                .orElseThrow(() -> absent("the NVIDIA driver's library", CudaDriverApi.NAMES, refusals));
        CudaDriverApi driver = new CudaDriverApi(driverLibrary);
        CudaRuntime runtime = new CudaRuntime(runtimeLibrary, driver);
        requireAll(runtimeLibrary, runtime.missingEssentials());
        requireAll(driverLibrary, driver.missingEssentials());
        CublasLt cublas = NativeLibrary.open(CublasLt.NAMES, before, after, refusals)
                .map(CublasLt::new)
                .filter(CublasLt::isComplete)
                .orElse(null);
        NcclLibrary nccl = NativeLibrary.open(NCCL_NAMES, before, after, refusals)
                .map(library -> new NcclLibrary("NCCL", library, NCCL_TYPES))
                .filter(NcclLibrary::isComplete)
                .orElse(null);
        NativeLibrary nvml =
                NativeLibrary.open(Nvml.NAMES, before, after, refusals).orElse(null);
        return new CudaLibraries(runtime, driver, cublas, nccl, nvml);
    }

    private static void requireAll(NativeLibrary library, List<String> missing) {
        if (!missing.isEmpty()) {
            throw new AcceleratorException(
                    ErrorCode.UNAVAILABLE,
                    "open",
                    library.name() + " lacks " + String.join(", ", missing),
                    "use CUDA 12 or newer",
                    null,
                    null);
        }
    }

    private static AcceleratorException absent(String what, List<String> names, List<String> refusals) {
        String reason = refusals.isEmpty()
                ? what + " is not here (" + String.join(", ", names) + ")"
                : what + " cannot be used: " + String.join("; ", refusals);
        return new AcceleratorException(
                ErrorCode.UNAVAILABLE,
                "open",
                reason,
                "name its folder in " + ENVIRONMENT + " or install it",
                null,
                null);
    }

    private static List<Path> usualFolders() {
        List<Path> folders = new ArrayList<>();
        Map<String, String> environment = System.getenv();
        for (String root : List.of("CUDA_HOME", "CUDA_PATH", "NCCL_HOME")) {
            String value = environment.get(root);
            if (value != null && !value.isBlank()) {
                for (Path folder : NativeLibrary.folders(value)) {
                    folders.add(folder.resolve("lib64"));
                    folders.add(folder.resolve("lib"));
                }
            }
        }
        folders.addAll(NativeLibrary.folders(environment.getOrDefault("LD_LIBRARY_PATH", "")));
        for (String root : List.of("/usr/local/nvidia", "/usr/local/cuda", "/opt/cuda", "/usr/lib/wsl")) {
            folders.add(Path.of(root, "lib64"));
            folders.add(Path.of(root, "lib"));
        }
        return folders;
    }

    /** Where Python's package installer puts the vendor's libraries. */
    private static List<Path> pythonFolders() {
        List<Path> folders = new ArrayList<>();
        for (Path packages : LibraryFolders.pythonPackages()) {
            for (Path part : LibraryFolders.children(packages.resolve("nvidia"))) {
                folders.add(part.resolve("lib"));
            }
        }
        return folders;
    }

    /**
     * Sets what NCCL reads from the environment, where the user has not: no NVLink multicast, which Weft does not need and which can put GPUs that others share out of service
     * when a program dies in it; and connections made when ranks join, so that issuing a collective never waits for another rank's thread.
     */
    @SuppressWarnings("restricted")
    private static void keepMulticastOff() {
        Linker.nativeLinker().defaultLookup().find("setenv").ifPresent(setenv -> {
            for (Map.Entry<String, String> setting :
                    Map.of("NCCL_NVLS_ENABLE", "0", "NCCL_RUNTIME_CONNECT", "0").entrySet()) {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment name = arena.allocateFrom(setting.getKey());
                    MemorySegment value = arena.allocateFrom(setting.getValue());
                    int keepTheUsers = 0;
                    Native.call(setenv, name.address(), value.address(), keepTheUsers);
                }
            }
        });
    }

    /** The runtime. */
    public CudaRuntime runtime() {
        return runtime;
    }

    /** The driver. */
    public CudaDriverApi driver() {
        return driver;
    }

    /** Matrix products, where the library is there and complete. */
    public Optional<CublasLt> cublas() {
        return Optional.ofNullable(cublas);
    }

    /** Collectives, where the library is there and complete. */
    public Optional<NcclLibrary> nccl() {
        return Optional.ofNullable(nccl);
    }

    /** A started NVML, which the caller closes. */
    public Optional<Nvml> openNvml() {
        if (nvml == null) {
            return Optional.empty();
        }
        Nvml started = new Nvml(nvml);
        return started.isStarted() ? Optional.of(started) : Optional.empty();
    }
}

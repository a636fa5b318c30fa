// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda.ffi;

import io.weft.api.AcceleratorException;
import io.weft.nativehal.driver.PageDriver;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * The CUDA driver, libcuda: what the runtime does not offer, which is kernels from PTX text, fills of wide elements, virtual memory and device names.
 *
 * <p>Source of signatures and numbers: cuda.h of CUDA 13.0. Functions with a {@code _v2} name are called by it, as the header does.
 */
public final class CudaDriverApi implements PageDriver {
    /** File names. */
    public static final List<String> NAMES = List.of("libcuda.so.1", "libcuda.so");

    private final NativeLibrary library;
    private final MemorySegment init;
    private final MemorySegment getErrorName;
    private final MemorySegment getErrorString;
    private final MemorySegment deviceGetName;
    private final MemorySegment deviceTotalMem;
    private final MemorySegment moduleLoadData;
    private final MemorySegment moduleUnload;
    private final MemorySegment moduleGetFunction;
    private final MemorySegment funcLoad;
    private final MemorySegment launchKernel;
    private final MemorySegment memsetD8;
    private final MemorySegment memsetD16;
    private final MemorySegment memsetD32;
    private final MemorySegment memset2dD8;
    private final MemorySegment memset2dD16;
    private final MemorySegment memset2dD32;
    private final MemorySegment memCreate;
    private final MemorySegment memRelease;
    private final MemorySegment memAddressReserve;
    private final MemorySegment memAddressFree;
    private final MemorySegment memMap;
    private final MemorySegment memUnmap;
    private final MemorySegment memSetAccess;
    private final MemorySegment memGetAllocationGranularity;

    /** Looks every function up; a missing one is only an error when it is called. */
    public CudaDriverApi(NativeLibrary library) {
        this.library = library;
        init = library.find("cuInit");
        getErrorName = library.find("cuGetErrorName");
        getErrorString = library.find("cuGetErrorString");
        deviceGetName = library.find("cuDeviceGetName");
        deviceTotalMem = library.find("cuDeviceTotalMem_v2");
        moduleLoadData = library.find("cuModuleLoadData");
        moduleUnload = library.find("cuModuleUnload");
        moduleGetFunction = library.find("cuModuleGetFunction");
        funcLoad = library.find("cuFuncLoad"); // from CUDA 12.4 on
        launchKernel = library.find("cuLaunchKernel");
        memsetD8 = library.find("cuMemsetD8Async");
        memsetD16 = library.find("cuMemsetD16Async");
        memsetD32 = library.find("cuMemsetD32Async");
        memset2dD8 = library.find("cuMemsetD2D8Async");
        memset2dD16 = library.find("cuMemsetD2D16Async");
        memset2dD32 = library.find("cuMemsetD2D32Async");
        memCreate = library.find("cuMemCreate");
        memRelease = library.find("cuMemRelease");
        memAddressReserve = library.find("cuMemAddressReserve");
        memAddressFree = library.find("cuMemAddressFree");
        memMap = library.find("cuMemMap");
        memUnmap = library.find("cuMemUnmap");
        memSetAccess = library.find("cuMemSetAccess");
        memGetAllocationGranularity = library.find("cuMemGetAllocationGranularity");
    }

    /** The library behind it. */
    public NativeLibrary library() {
        return library;
    }

    /** Whether pages can be mapped on demand. */
    public boolean hasVirtualMemory() {
        return memCreate != null
                && memRelease != null
                && memAddressReserve != null
                && memAddressFree != null
                && memMap != null
                && memUnmap != null
                && memSetAccess != null
                && memGetAllocationGranularity != null;
    }

    /** Functions without which no platform can be opened, by name, that are not there. */
    public List<String> missingEssentials() {
        return List.of("cuInit", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel", "cuMemsetD8Async")
                .stream()
                .filter(library.missing()::contains)
                .toList();
    }

    private void check(String operation, int code) {
        if (code != 0) {
            throw failure(operation, code);
        }
    }

    private AcceleratorException failure(String operation, int code) {
        return VendorFailure.cuda(
                library.name(), operation, code, text(getErrorName, code), text(getErrorString, code));
    }

    private static String text(MemorySegment function, int code) {
        Scratch out = Scratch.mine();
        if (function == null || Native.call(function, code, out.address()) != 0) {
            return "CUresult " + code;
        }
        return Native.text(out.word(0));
    }

    /** Starts the driver; more than once is allowed. The code of the failure, 0 for none. */
    public int start() {
        return init == null ? 500 : Native.call(init, 0); // CUDA_ERROR_NOT_FOUND
    }

    /** What a code of {@link #start()} means. */
    public String explain(int code) {
        return text(getErrorName, code) + ", " + text(getErrorString, code);
    }

    /** Product name; empty when unknown. */
    public String name(int ordinal) {
        Scratch out = Scratch.mine();
        out.word(0, 0);
        // A CUdevice is its ordinal.
        return deviceGetName == null || Native.call(deviceGetName, out.address(), 256, ordinal) != 0
                ? ""
                : Native.text(out.address());
    }

    /** Device memory, bytes; 0 when unknown. */
    public long memoryBytes(int ordinal) {
        Scratch out = Scratch.mine();
        return deviceTotalMem == null || Native.call(deviceTotalMem, out.address(), ordinal) != 0 ? 0 : out.word(0);
    }

    /** Compiles PTX text for the current device and loads it. */
    public long load(MemorySegment text) {
        Scratch out = Scratch.mine();
        check("load kernels", Native.call(moduleLoadData, out.address(), text.address()));
        return out.word(0);
    }

    /** Unloads kernels. */
    public void unload(long module) {
        if (moduleUnload != null) {
            check("unload kernels", Native.call(moduleUnload, module));
        }
    }

    /**
     * A kernel of a module, loaded to the device at once. The driver would put that off until the first launch, and then wait for whatever runs there; behind a collective that waits for another rank it would wait for ever.
     */
    public long function(long module, MemorySegment name) {
        Scratch out = Scratch.mine();
        check("find kernel", Native.call(moduleGetFunction, out.address(), module, name.address()));
        long function = out.word(0);
        if (funcLoad != null) {
            check("load kernel", Native.call(funcLoad, function));
        }
        return function;
    }

    /**
     * Launches a kernel.
     *
     * @param arguments address of an array of pointers to the arguments, read before the call returns
     */
    public void launch(
            long function, int gridX, int gridY, int gridZ, int blockX, int blockY, long stream, long arguments) {
        int code = Native.call(launchKernel, function, gridX, gridY, gridZ, blockX, blockY, 1, 0, stream, arguments, 0);
        if (code != 0) {
            throw failure("launch kernel", code);
        }
    }

    /**
     * Sets elements of 1, 2 or 4 bytes.
     *
     * @param pitch bytes from row to row
     * @param columns elements of each row
     */
    public void fill(long address, long pitch, int bits, int elementBytes, long columns, long rows, long stream) {
        int code;
        if (rows == 1) {
            MemorySegment function = elementBytes == 1 ? memsetD8 : elementBytes == 2 ? memsetD16 : memsetD32;
            code = Native.call(
                    library.need(function, "cuMemsetD" + 8 * elementBytes + "Async", "fill"),
                    address,
                    bits,
                    columns,
                    stream);
        } else {
            MemorySegment function = elementBytes == 1 ? memset2dD8 : elementBytes == 2 ? memset2dD16 : memset2dD32;
            code = Native.call(
                    library.need(function, "cuMemsetD2D" + 8 * elementBytes + "Async", "fill"),
                    address,
                    pitch,
                    bits,
                    columns,
                    rows,
                    stream);
        }
        if (code != 0) {
            throw failure("fill", code);
        }
    }

    /** Writes a CUmemAllocationProp for pinned memory of a device: 32 bytes. */
    private static long properties(Scratch out, int ordinal) {
        MemorySegment memory = out.memory();
        long at = 64;
        memory.asSlice(at, 32).fill((byte) 0);
        memory.set(ValueLayout.JAVA_INT, at, 1); // CU_MEM_ALLOCATION_TYPE_PINNED
        memory.set(ValueLayout.JAVA_INT, at + 8, 1); // CU_MEM_LOCATION_TYPE_DEVICE
        memory.set(ValueLayout.JAVA_INT, at + 12, ordinal);
        return out.address() + at;
    }

    @Override
    public long pageBytes(int ordinal) {
        Scratch out = Scratch.mine();
        long properties = properties(out, ordinal);
        // CU_MEM_ALLOC_GRANULARITY_RECOMMENDED (1)
        check("page size", Native.call(memGetAllocationGranularity, out.address(), properties, 1));
        return out.word(0);
    }

    @Override
    public long createPages(int ordinal, long bytes) {
        Scratch out = Scratch.mine();
        long properties = properties(out, ordinal);
        check("create " + bytes + " bytes of memory", Native.call(memCreate, out.address(), bytes, properties, 0));
        return out.word(0);
    }

    @Override
    public void releasePages(long handle) {
        check("release memory", Native.call(memRelease, handle));
    }

    @Override
    public long reserve(long bytes, long alignment) {
        Scratch out = Scratch.mine();
        check(
                "reserve " + bytes + " bytes of addresses",
                Native.call(memAddressReserve, out.address(), bytes, alignment, 0, 0));
        return out.word(0);
    }

    @Override
    public void release(long address, long bytes) {
        check("release addresses", Native.call(memAddressFree, address, bytes));
    }

    @Override
    public void map(long address, long bytes, long handle) {
        check("map", Native.call(memMap, address, bytes, 0, handle, 0));
    }

    @Override
    public void letIn(long address, long bytes, List<Integer> devices) {
        try (Arena arena = Arena.ofConfined()) {
            // CUmemAccessDesc: location {device (1), id}, flags read and write (3); 12 bytes each.
            MemorySegment access = arena.allocate(12L * devices.size(), 8);
            long at = 0;
            for (int device : devices) {
                access.set(ValueLayout.JAVA_INT, at, 1);
                access.set(ValueLayout.JAVA_INT, at + 4, device);
                access.set(ValueLayout.JAVA_INT, at + 8, 3);
                at += 12;
            }
            check(
                    "let devices " + devices + " into memory",
                    Native.call(memSetAccess, address, bytes, access.address(), devices.size()));
        }
    }

    @Override
    public void unmap(long address, long bytes) {
        check("unmap", Native.call(memUnmap, address, bytes));
    }
}

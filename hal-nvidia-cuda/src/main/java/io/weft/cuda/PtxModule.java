// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.cuda.ffi.CudaDriverApi;
import io.weft.nativehal.kernels.KernelModule;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.Map;

/** Weft's kernels on one device. The text is PTX, made from weft_kernels.cu; the driver compiles it for the device when a platform is opened. */
final class PtxModule implements KernelModule {
    private final CudaDriverApi driver;
    private final long module;
    private final Map<Entry, Long> functions = new EnumMap<>(Entry.class);

    private PtxModule(CudaDriverApi driver, long module) {
        this.driver = driver;
        this.module = module;
    }

    /** Loads the kernels. The device is current. */
    static PtxModule load(CudaDriverApi driver) {
        try (Arena arena = Arena.ofConfined()) {
            PtxModule loaded = new PtxModule(driver, driver.load(text(arena)));
            for (Entry entry : Entry.values()) {
                loaded.functions.put(entry, driver.function(loaded.module, arena.allocateFrom(entry.symbol())));
            }
            return loaded;
        }
    }

    private static MemorySegment text(Arena arena) {
        try (InputStream in = PtxModule.class.getResourceAsStream("/io/weft/cuda/weft_kernels.ptx")) {
            if (in == null) {
                throw new AcceleratorException(
                        ErrorCode.INTERNAL, "load kernels", "weft_kernels.ptx is not in the module");
            }
            byte[] bytes = in.readAllBytes();
            MemorySegment text = arena.allocate(bytes.length + 1L);
            MemorySegment.copy(bytes, 0, text, ValueLayout.JAVA_BYTE, 0, bytes.length);
            return text;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void launch(
            Entry entry, int gridX, int gridY, int gridZ, int blockX, int blockY, long stream, long arguments) {
        driver.launch(functions.get(entry), gridX, gridY, gridZ, blockX, blockY, stream, arguments);
    }

    @Override
    public void close() {
        driver.unload(module);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import io.weft.nativehal.kernels.KernelModule;
import io.weft.nativehal.kernels.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Weft's kernels on one device, compiled for its chip when they are first needed in this process. */
final class HipModule implements KernelModule {
    /** Code by compiler, its version and chip: one compilation costs up to a second. */
    private static final Map<String, byte[]> COMPILED = new ConcurrentHashMap<>();

    private final HipRuntime runtime;
    private final long module;
    private final Map<Entry, Long> functions = new EnumMap<>(Entry.class);

    private HipModule(HipRuntime runtime, long module) {
        this.runtime = runtime;
        this.module = module;
    }

    /**
     * Compiles if need be, and loads. The device is current.
     *
     * @param architecture such as {@code gfx942}: code without settings runs with every setting of the chip
     */
    static HipModule load(HipRuntime runtime, Hiprtc compiler, String architecture) {
        String key = compiler.library().name() + " " + runtime.version() + " " + architecture;
        byte[] code = COMPILED.computeIfAbsent(
                key, ignored -> compiler.compile(KernelSource.text(), KernelSource.NAME, architecture));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(code.length, 4096); // as the loader of an image expects it
            MemorySegment.copy(code, 0, copy, ValueLayout.JAVA_BYTE, 0, code.length);
            HipModule loaded = new HipModule(runtime, runtime.loadModule(copy));
            for (Entry entry : Entry.values()) {
                loaded.functions.put(entry, runtime.function(loaded.module, arena.allocateFrom(entry.symbol())));
            }
            return loaded;
        }
    }

    @Override
    public void launch(
            Entry entry, int gridX, int gridY, int gridZ, int blockX, int blockY, long stream, long arguments) {
        runtime.launchKernel(functions.get(entry), gridX, gridY, gridZ, blockX, blockY, stream, arguments);
    }

    @Override
    public void close() {
        runtime.unloadModule(module);
    }
}

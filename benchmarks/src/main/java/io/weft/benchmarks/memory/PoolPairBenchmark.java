// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.memory;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.weft.memory.PoolCore;
import io.weft.memory.PoolOptions;
import io.weft.memory.StreamOrder;
import io.weft.memory.replay.CountedPages;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One free and one allocation of a random live block, in steady state; one stream for each thread, one pool for all. Beside it, in the same run: the floor (a free
 * list by size class without any check), Netty's adaptive allocator, and malloc of the C library, of jemalloc and of tcmalloc through the foreign-function
 * interface. The last two need Debian's {@code libjemalloc2} and {@code libtcmalloc-minimal4}; where one is missing, its benchmark fails and the others go on. Jemalloc
 * can be loaded late only with {@code GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384}.
 * Threads by JMH's {@code -t}, garbage by {@code -prof gc}. Threads are Netty's, so that its caches are on.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {
            "--enable-native-access=ALL-UNNAMED",
            "-Djmh.executor=CUSTOM",
            "-Djmh.executor.class=io.weft.benchmarks.memory.NettyThreads",
            "-Dio.netty.maxDirectMemory=19000000000",
            "-XX:MaxDirectMemorySize=18g"
        })
public class PoolPairBenchmark {
    private static final int DRAWS = 1 << 16;

    /** Sizes. */
    @Param({"FIXED_64", "CLASSES", "LOG", "TENSORS"})
    public SizeMix mix;

    private PoolCore core;

    /** One pool for all threads. */
    @Setup
    public void open() {
        core = new PoolCore(
                new CountedPages(1L << 42, true),
                StreamOrder.immediate(),
                PoolOptions.defaults().withSegmentBytes(64L << 20));
    }

    /** A thread's live blocks and what it will do. */
    @State(Scope.Thread)
    public static class Live {
        private static final java.util.concurrent.atomic.AtomicInteger NEXT =
                new java.util.concurrent.atomic.AtomicInteger();

        private int stream;
        private long[] addresses;
        private long[] sizes;
        private short[] slots;
        private int at;

        /** Draws sizes and slots. */
        @Setup
        public void draw(PoolPairBenchmark benchmark) {
            stream = NEXT.getAndIncrement() & 3;
            SplittableRandom random = new SplittableRandom(42 + stream);
            sizes = new long[DRAWS];
            slots = new short[DRAWS];
            for (int i = 0; i < DRAWS; i++) {
                sizes[i] = benchmark.mix.draw(random);
                slots[i] = (short) random.nextInt(benchmark.mix.slots());
            }
            addresses = new long[benchmark.mix.slots()];
            java.util.Arrays.fill(addresses, -1);
        }
    }

    /** Ours. */
    @Benchmark
    public long pool(Live live) {
        int at = live.at++ & (DRAWS - 1);
        int slot = live.slots[at];
        long old = live.addresses[slot];
        if (old >= 0) {
            core.free(old, live.stream);
        }
        long fresh = core.allocate(live.sizes[at], live.stream);
        live.addresses[slot] = fresh;
        return fresh;
    }

    /** A thread's free list by size class over a virtual range: the floor, with no check and no way back to the device. */
    @State(Scope.Thread)
    public static class FreeList {
        private final long[][] stacks = new long[512][1 << 10];
        private final int[] counts = new int[512];
        private final int[] classes = new int[1 << 10];
        private long top;

        private static int classOf(long bytes) {
            int shift = 60 - Long.numberOfLeadingZeros(bytes - 1 | 7);
            return (shift << 3) + (int) ((bytes - 1) >>> shift);
        }
    }

    /** The floor. */
    @Benchmark
    public long freeList(Live live, FreeList list) {
        int at = live.at++ & (DRAWS - 1);
        int slot = live.slots[at];
        long old = live.addresses[slot];
        if (old >= 0) {
            int oldClass = list.classes[slot];
            list.stacks[oldClass][list.counts[oldClass]++] = old;
        }
        int sizeClass = FreeList.classOf(live.sizes[at]);
        int count = list.counts[sizeClass];
        long fresh;
        if (count > 0) {
            fresh = list.stacks[sizeClass][count - 1];
            list.counts[sizeClass] = count - 1;
        } else {
            fresh = list.top;
            list.top += live.sizes[at] + 127 & -128;
        }
        list.classes[slot] = sizeClass;
        live.addresses[slot] = fresh;
        return fresh;
    }

    private static final Linker LINKER = Linker.nativeLinker();

    @SuppressWarnings("restricted")
    private static final MethodHandle MALLOC = LINKER.downcallHandle(
            LINKER.defaultLookup().find("malloc").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

    @SuppressWarnings("restricted")
    private static final MethodHandle FREE = LINKER.downcallHandle(
            LINKER.defaultLookup().find("free").orElseThrow(), FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));

    /** The C library. */
    @Benchmark
    public long malloc(Live live) throws Throwable {
        int at = live.at++ & (DRAWS - 1);
        int slot = live.slots[at];
        long old = live.addresses[slot];
        if (old >= 0) {
            FREE.invokeExact(old);
        }
        long fresh = (long) MALLOC.invokeExact(live.sizes[at]);
        live.addresses[slot] = fresh;
        return fresh;
    }

    @SuppressWarnings("restricted")
    private static MethodHandle nativeFunction(String library, String name, FunctionDescriptor type) {
        SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
        return LINKER.downcallHandle(symbols.find(name).orElseThrow(), type);
    }

    /** Looked up when its benchmark runs, and constants then. */
    private static final class Jemalloc {
        private static final String LIBRARY = "libjemalloc.so.2";
        static final MethodHandle MALLOC =
                nativeFunction(LIBRARY, "malloc", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        static final MethodHandle FREE =
                nativeFunction(LIBRARY, "free", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));
    }

    /** The same for the other one. */
    private static final class Tcmalloc {
        private static final String LIBRARY = "libtcmalloc_minimal.so.4";
        static final MethodHandle MALLOC = nativeFunction(
                LIBRARY, "tc_malloc", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        static final MethodHandle FREE =
                nativeFunction(LIBRARY, "tc_free", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));
    }

    /** Jemalloc. */
    @Benchmark
    public long jemalloc(Live live) throws Throwable {
        int at = live.at++ & (DRAWS - 1);
        int slot = live.slots[at];
        long old = live.addresses[slot];
        if (old >= 0) {
            Jemalloc.FREE.invokeExact(old);
        }
        long fresh = (long) Jemalloc.MALLOC.invokeExact(live.sizes[at]);
        live.addresses[slot] = fresh;
        return fresh;
    }

    /** Tcmalloc. */
    @Benchmark
    public long tcmalloc(Live live) throws Throwable {
        int at = live.at++ & (DRAWS - 1);
        int slot = live.slots[at];
        long old = live.addresses[slot];
        if (old >= 0) {
            Tcmalloc.FREE.invokeExact(old);
        }
        long fresh = (long) Tcmalloc.MALLOC.invokeExact(live.sizes[at]);
        live.addresses[slot] = fresh;
        return fresh;
    }

    /** Netty's allocator and a thread's live buffers of it. */
    @State(Scope.Benchmark)
    public static class Netty {
        private final AdaptiveByteBufAllocator allocator = new AdaptiveByteBufAllocator(true, true);
    }

    /** A thread's live buffers. */
    @State(Scope.Thread)
    public static class Buffers {
        private final ByteBuf[] buffers = new ByteBuf[1 << 10];

        /** Hands them back. */
        @TearDown
        public void release() {
            for (ByteBuf buffer : buffers) {
                if (buffer != null) {
                    buffer.release();
                }
            }
        }
    }

    /** Netty's adaptive allocator, direct memory. */
    @Benchmark
    public ByteBuf netty(Live live, Netty netty, Buffers buffers) {
        int at = live.at++ & (DRAWS - 1);
        int slot = live.slots[at];
        ByteBuf old = buffers.buffers[slot];
        if (old != null) {
            old.release();
        }
        ByteBuf fresh = netty.allocator.directBuffer((int) live.sizes[at]);
        buffers.buffers[slot] = fresh;
        return fresh;
    }
}

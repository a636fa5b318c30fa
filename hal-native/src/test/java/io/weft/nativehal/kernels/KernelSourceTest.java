// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The kernels' source, run on the host thread by thread, computes what Java computes: every byte of every 8-bit float, every rounding, every order. Skipped, saying so, where there is no C++ compiler.
 */
class KernelSourceTest {
    private static final long SEED = 20261130;

    private static MethodHandle reduce;
    private static MethodHandle sumWide;
    private static MethodHandle gemm;

    @BeforeAll
    @SuppressWarnings("restricted")
    static void build() throws IOException, InterruptedException {
        Path module = Path.of("").toAbsolutePath();
        Path folder = Files.createDirectories(module.resolve("target/kernels-on-host"));
        Path library = folder.resolve("libkernels.so");
        List<String> command = List.of(
                compiler(folder),
                "-std=c++17",
                "-O1",
                "-ffp-contract=off",
                "-Wno-unknown-pragmas",
                "-shared",
                "-fPIC",
                "-I" + module.resolve("src/main/resources/io/weft/nativehal/kernels"),
                "-o",
                library.toString(),
                module.resolve("src/test/native/kernels_on_host.cpp").toString());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), () -> "the kernels do not compile on the host:\n" + said);
        SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
        Linker linker = Linker.nativeLinker();
        FunctionDescriptor flat =
                FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
        reduce = linker.downcallHandle(symbols.findOrThrow("host_reduce"), flat);
        sumWide = linker.downcallHandle(symbols.findOrThrow("host_sum_wide"), flat);
        gemm = linker.downcallHandle(
                symbols.findOrThrow("host_gemm"),
                FunctionDescriptor.ofVoid(
                        ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    }

    private static String compiler(Path folder) throws IOException, InterruptedException {
        for (String name : List.of("g++", "c++", "clang++")) {
            for (String place : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
                if (Files.isExecutable(Path.of(place, name)) && makesLibraries(name, folder)) {
                    return name;
                }
            }
        }
        return abort("the kernels are not compiled: no C++ compiler on the PATH (g++, c++ or clang++) makes libraries");
    }

    /** Small installations have a compiler and neither headers nor a linker. */
    private static boolean makesLibraries(String name, Path folder) throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("probe.cpp"), "#include <cmath>\n#include <cstdint>\n");
        Process probe = new ProcessBuilder(
                        name,
                        "-std=c++17",
                        "-shared",
                        "-fPIC",
                        "-o",
                        folder.resolve("probe.so").toString(),
                        source.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("probe.log").toFile())
                .start();
        return probe.waitFor() == 0;
    }

    private static RandomGenerator random() {
        return RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);
    }

    private static void put(MemorySegment to, int index, ElementType type, int bits) {
        switch (type.bytes()) {
            case 1 -> to.set(ValueLayout.JAVA_BYTE, index, (byte) bits);
            case 2 -> to.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * index, (short) bits);
            default -> to.set(ValueLayout.JAVA_INT_UNALIGNED, 4L * index, bits);
        }
    }

    private static int get(MemorySegment from, int index, ElementType type) {
        return switch (type.bytes()) {
            case 1 -> from.get(ValueLayout.JAVA_BYTE, index) & 0xFF;
            case 2 -> from.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * index) & 0xFFFF;
            default -> from.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * index);
        };
    }

    private static int bits(ElementType type, float value) {
        return type.encode(value) & (type.bytes() == 4 ? -1 : (1 << (8 * type.bytes())) - 1);
    }

    /** Lays the argument out as {@link ModuleKernels} does. */
    private static MemorySegment argument(
            Arena arena,
            MemorySegment to,
            List<MemorySegment> from,
            int count,
            ReduceOp op,
            ElementType in,
            ElementType out) {
        MemorySegment block = arena.allocate(56 + 16L * ModuleKernels.MAX_INPUTS, 16);
        block.set(ValueLayout.JAVA_LONG, 0, to.address());
        block.set(ValueLayout.JAVA_LONG, 8, count);
        block.set(ValueLayout.JAVA_LONG, 16, 1);
        block.set(ValueLayout.JAVA_LONG, 24, count);
        block.set(ValueLayout.JAVA_INT, 32, from.size());
        block.set(ValueLayout.JAVA_INT, 36, KernelNumbers.of(op));
        block.set(ValueLayout.JAVA_FLOAT, 40, op.kind() == ReduceOp.Kind.AVG ? 1f / from.size() : op.scale());
        block.set(ValueLayout.JAVA_INT, 44, KernelNumbers.of(in));
        block.set(ValueLayout.JAVA_INT, 48, KernelNumbers.of(out));
        block.set(ValueLayout.JAVA_INT, 52, 1);
        for (int i = 0; i < from.size(); i++) {
            block.set(ValueLayout.JAVA_LONG, 56 + 8L * i, from.get(i).address());
            block.set(ValueLayout.JAVA_LONG, 56 + 8L * ModuleKernels.MAX_INPUTS + 8L * i, count);
        }
        return block;
    }

    private static void run(MethodHandle kernel, MemorySegment argument) {
        try {
            kernel.invoke(argument, 2, 32);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ElementType.class,
            names = {"FP16", "BF16", "FP8_E4M3", "FP8_E5M2", "FP8_E4M3_FNUZ", "FP8_E5M2_FNUZ"})
    void everyCodeOfASmallFloatIsReadAndWrittenAsInJava(ElementType type) {
        int codes = 1 << (8 * type.bytes());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate((long) codes * type.bytes(), 64);
            MemorySegment wide = arena.allocate(4L * codes, 64);
            for (int code = 0; code < codes; code++) {
                put(all, code, type, code);
            }
            run(reduce, argument(arena, wide, List.of(all), codes, ReduceOp.SUM, type, ElementType.FP32));
            for (int code = 0; code < codes; code++) {
                float expected = type.decode(code);
                float actual = Float.intBitsToFloat(get(wide, code, ElementType.FP32));
                assertTrue(
                        Float.isNaN(expected) ? Float.isNaN(actual) : Float.compare(expected, actual) == 0,
                        type + " code " + code + ": " + expected + " in Java, " + actual + " in the kernel");
            }
            RandomGenerator random = random();
            for (int i = 0; i < codes; i++) {
                // All exponents, ties and specials come up.
                put(wide, i, ElementType.FP32, i < 8 ? SPECIALS[i] : random.nextInt() & (i % 2 == 0 ? -1 : 0xFFF00000));
            }
            run(reduce, argument(arena, all, List.of(wide), codes, ReduceOp.SUM, ElementType.FP32, type));
            for (int i = 0; i < codes; i++) {
                float value = Float.intBitsToFloat(get(wide, i, ElementType.FP32));
                float expected = type.decode(bits(type, value));
                float actual = type.decode(get(all, i, type));
                assertTrue(
                        Float.isNaN(expected) ? Float.isNaN(actual) : Float.compare(expected, actual) == 0,
                        value + " to " + type + ": " + expected + " in Java, " + actual + " in the kernel, seed "
                                + SEED);
            }
        }
    }

    private static final int[] SPECIALS = {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 1, 0x80000001
    };

    @ParameterizedTest
    @CsvSource({
        "SUM, BF16, BF16",
        "SUM, FP16, FP32",
        "AVG, BF16, BF16",
        "AVG, FP8_E4M3_FNUZ, FP8_E4M3_FNUZ",
        "PROD, FP32, FP32",
        "MIN, FP16, FP16",
        "MAX, FP8_E5M2, FP32",
        "SCALED_SUM, BF16, FP32",
        "SCALED_SUM, FP8_E4M3, FP8_E4M3"
    })
    void reductionsAddUpInOrderAndRoundOnce(ReduceOp.Kind kind, ElementType in, ElementType out) {
        int count = 500;
        int inputs = 3;
        ReduceOp op = switch (kind) {
            case SUM -> ReduceOp.SUM;
            case PROD -> ReduceOp.PROD;
            case MIN -> ReduceOp.MIN;
            case MAX -> ReduceOp.MAX;
            case AVG -> ReduceOp.AVG;
            case SCALED_SUM -> ReduceOp.scaledSum(0.3f);
        };
        RandomGenerator random = random();
        try (Arena arena = Arena.ofConfined()) {
            List<MemorySegment> from = List.of(
                    arena.allocate(4L * count, 64), arena.allocate(4L * count, 64), arena.allocate(4L * count, 64));
            for (MemorySegment one : from) {
                for (int i = 0; i < count; i++) {
                    put(one, i, in, bits(in, random.nextFloat(-3, 3)));
                }
            }
            MemorySegment to = arena.allocate(4L * count, 64);
            run(reduce, argument(arena, to, from, count, op, in, out));
            float factor = in.decode(bits(in, kind == ReduceOp.Kind.AVG ? 1f / inputs : 0.3f));
            for (int i = 0; i < count; i++) {
                float sum = 0;
                for (int k = 0; k < inputs; k++) {
                    float next = in.decode(get(from.get(k), i, in));
                    float scaled = next * factor;
                    sum = switch (kind) {
                        case SUM -> k == 0 ? next : sum + next;
                        case PROD -> k == 0 ? next : sum * next;
                        case MIN -> k == 0 ? next : Math.min(sum, next);
                        case MAX -> k == 0 ? next : Math.max(sum, next);
                        case AVG, SCALED_SUM -> k == 0 ? scaled : sum + scaled;
                    };
                }
                assertEquals(bits(out, sum), get(to, i, out), kind + " at " + i + ", seed " + SEED);
            }
            if (kind == ReduceOp.Kind.SUM && in == out) {
                MemorySegment again = arena.allocate(4L * count, 64);
                run(sumWide, argument(arena, again, from, count, op, in, out));
                assertEquals(-1, again.asSlice(0, 2L * count).mismatch(to.asSlice(0, 2L * count)));
            }
        }
    }

    @Test
    void aProductIsThatOfAPlainLoop() throws Throwable {
        int m = 21;
        int n = 35;
        int k = 40;
        RandomGenerator random = random();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment a = arena.allocate(2L * m * k, 64);
            MemorySegment b = arena.allocate(2L * k * n, 64);
            MemorySegment c = arena.allocate(4L * m * n, 64);
            for (int i = 0; i < m * k; i++) {
                put(a, i, ElementType.BF16, bits(ElementType.BF16, random.nextFloat(-2, 2)));
            }
            for (int i = 0; i < k * n; i++) {
                put(b, i, ElementType.BF16, bits(ElementType.BF16, random.nextFloat(-2, 2)));
            }
            MemorySegment block = arena.allocate(144, 16);
            long[] words = {a(c), a(a), a(b), m, n, k, n, 1, k, 1, n, 1, 0, 0, 0};
            for (int i = 0; i < words.length; i++) {
                block.set(ValueLayout.JAVA_LONG, 8L * i, words[i]);
            }
            block.set(ValueLayout.JAVA_FLOAT, 120, 1);
            block.set(ValueLayout.JAVA_FLOAT, 124, 0);
            block.set(ValueLayout.JAVA_INT, 128, KernelNumbers.of(ElementType.BF16));
            block.set(ValueLayout.JAVA_INT, 132, KernelNumbers.of(ElementType.FP32));
            gemm.invoke(block, Math.ceilDiv(n, 16), Math.ceilDiv(m, 16), 1);
            for (int row = 0; row < m; row++) {
                for (int column = 0; column < n; column++) {
                    float sum = 0;
                    for (int i = 0; i < k; i++) {
                        sum = Math.fma(
                                ElementType.BF16.decode(get(a, row * k + i, ElementType.BF16)),
                                ElementType.BF16.decode(get(b, i * n + column, ElementType.BF16)),
                                sum);
                    }
                    assertEquals(
                            Float.floatToRawIntBits(sum),
                            get(c, row * n + column, ElementType.FP32),
                            "at " + row + ", " + column + ", seed " + SEED);
                }
            }
        }
    }

    private static long a(MemorySegment memory) {
        return memory.address();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import io.weft.api.ElementType;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;

/**
 * Reproducible test data. Element {@code i} of stream {@code stream} is a pure function of (seed, stream, i, type), so a buffer has the
 * same content whether it is filled at once, in chunks, or by many ranks which each fill their shard.
 *
 * <p>Floats are uniform in (-1, 1), rounded to the type; integers are uniform in [-8, 8]. No element is ever zero, so a sum
 * that misses a term shows: what would round to zero is the type's smallest positive value instead.
 */
public final class RandomData {
    private static final int CHUNK = 1 << 16;

    private RandomData() {}

    /** The bit pattern of one element. Allocates nothing; any thread. */
    public static int bits(ElementType type, long seed, long stream, long index) {
        long hash = mix(mix(seed + 0x9E3779B97F4A7C15L * (stream + 1)) + 0x9E3779B97F4A7C15L * (index + 1));
        if (!type.isFloating()) {
            int draw = (int) (hash >>> 60); // 0..15
            int value = draw < 8 ? draw - 8 : draw - 7; // -8..-1, 1..8
            return type == ElementType.INT8 ? value & 0xFF : value;
        }
        // An odd multiple of 2^-23 within (-1, 1): exact in fp32 and never zero.
        int odd = 2 * (int) (hash >>> 41) + 1 - (1 << 23);
        int bits = type.encode(odd * 0x1p-23f);
        return type.decode(bits) == 0f ? 1 : bits;
    }

    /**
     * Writes elements {@code first} to {@code first + count - 1} of a stream, in parallel when there are many.
     *
     * @param offset bytes into {@code memory} of the element with index {@code first}
     */
    public static void fill(
            MemorySegment memory, long offset, ElementType type, long seed, long stream, long first, long count) {
        int bytes = type.bytes();
        long chunks = (count + CHUNK - 1) / CHUNK;
        LongStream range = LongStream.range(0, chunks);
        (chunks > 1 ? range.parallel() : range).forEach(chunk -> {
            long end = Math.min(count, (chunk + 1) * CHUNK);
            for (long i = chunk * CHUNK; i < end; i++) {
                Elements.put(memory, offset + i * bytes, type, bits(type, seed, stream, first + i));
            }
        });
    }

    /** Fills the whole segment with a stream's elements from index 0; bytes beyond the last whole element stay as they are. */
    public static void fill(MemorySegment memory, ElementType type, long seed, long stream) {
        fill(memory, 0, type, seed, stream, 0, memory.byteSize() / type.bytes());
    }

    // Finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
    private static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}

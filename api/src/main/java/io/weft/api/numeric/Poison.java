// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import io.weft.api.ElementType;
import java.lang.foreign.MemorySegment;

/**
 * Patterns that outputs are filled with before a check, so that an element nobody wrote is found.
 *
 * <p>Floats get a NaN, which also spoils every number computed from it; in types with several NaN patterns it is one that no kernel of
 * ours produces. Integers get a marker far from any test result.
 */
public final class Poison {
    private Poison() {}

    /** The pattern of a type, in the low bytes. */
    public static int bits(ElementType type) {
        return switch (type) {
            case FP32 -> 0x7FDEADAD;
            case FP16 -> 0x7FAD;
            case BF16 -> 0x7FDE;
            case FP8_E4M3 -> 0xFF;
            case FP8_E5M2 -> 0xFE;
            case FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> 0x80;
            case INT8 -> 0x85; // -123
            case INT32 -> 0x85D1EAD5;
        };
    }

    /** Fills {@code count} elements from a byte offset. */
    public static void fill(MemorySegment memory, long offset, ElementType type, long count) {
        int bits = bits(type);
        for (long i = 0; i < count; i++) {
            Elements.put(memory, offset + i * type.bytes(), type, bits);
        }
    }

    /**
     * Finds the first element which still holds the poison.
     *
     * @return its index from {@code offset}, or -1
     */
    public static long firstLeft(MemorySegment memory, long offset, ElementType type, long count) {
        int bits = bits(type);
        for (long i = 0; i < count; i++) {
            if (Elements.bits(memory, offset + i * type.bytes(), type) == bits) {
                return i;
            }
        }
        return -1;
    }
}

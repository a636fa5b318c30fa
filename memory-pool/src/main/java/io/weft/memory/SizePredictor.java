// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * Predicts the size of the next allocation from the last eight, online: a table remembers what followed each such context last time, and a shorter context stands
 * in where the longer one is new. A wrong prediction costs its time and nothing else. Not safe for threads; allocates nothing after construction.
 *
 * <p>A context's hash is a polynomial in the multiplier, so that one more size needs the hash before it and the size that drops out, and not all eight.
 */
public final class SizePredictor {
    private static final int LONG_CONTEXT = 8;
    private static final int TABLE_BITS = 14;
    /** Odd, so that it has an inverse; 2^64 over the golden ratio. */
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private static final long INVERSE = inverse(MULTIPLIER);
    private static final long NEWEST = power(MULTIPLIER, LONG_CONTEXT);

    private final long[] recent = new long[LONG_CONTEXT];
    private final long[] afterLong = new long[1 << TABLE_BITS];
    private final long[] afterShort = new long[1 << TABLE_BITS];
    private int next;
    private long hash;
    private long last;
    private int longSlot;
    private int shortSlot;
    private long predictions;
    private long right;
    private long predicted;

    /** A predictor that knows nothing yet. */
    public SizePredictor() {}

    private static long power(long base, int exponent) {
        long product = 1;
        for (int i = 0; i < exponent; i++) {
            product *= base;
        }
        return product;
    }

    /** The inverse modulo 2^64, by Newton's iteration, which doubles the right bits each time. */
    private static long inverse(long odd) {
        long inverse = odd;
        for (int bits = 3; bits < Long.SIZE; bits *= 2) {
            inverse *= 2 - odd * inverse;
        }
        return inverse;
    }

    /** The size expected next, 0 when nothing is known. */
    public long predict() {
        return predicted;
    }

    /** Tells the size that came. */
    public void observe(long bytes) {
        predictions++;
        if (predicted == bytes) {
            right++;
        }
        afterLong[longSlot] = bytes;
        afterShort[shortSlot] = bytes;
        int at = next & (LONG_CONTEXT - 1);
        long oldest = recent[at];
        recent[at] = bytes;
        next++;
        // The newest size times the multiplier to the eighth, and so on, down to the oldest times the multiplier.
        hash = bytes * NEWEST + hash * INVERSE - oldest;
        longSlot = (int) (hash >>> (64 - TABLE_BITS));
        shortSlot = (int) (((bytes * MULTIPLIER + last) * MULTIPLIER) >>> (64 - TABLE_BITS));
        last = bytes;
        long known = afterLong[longSlot];
        predicted = known != 0 ? known : afterShort[shortSlot];
    }

    /** Share of sizes that were predicted right so far. */
    public double accuracy() {
        return predictions == 0 ? 0 : (double) right / predictions;
    }
}

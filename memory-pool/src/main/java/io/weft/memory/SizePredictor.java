// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * Predicts the size of the next allocation from the last eight, online: a table remembers what followed each such context last time, and a shorter context stands
 * in where the longer one is new. A wrong prediction costs its time and nothing else. Not safe for threads; allocates nothing after construction.
 */
public final class SizePredictor {
    private static final int LONG_CONTEXT = 8;
    private static final int SHORT_CONTEXT = 2;
    private static final int TABLE_BITS = 14;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private final long[] recent = new long[LONG_CONTEXT];
    private final long[] afterLong = new long[1 << TABLE_BITS];
    private final long[] afterShort = new long[1 << TABLE_BITS];
    private int next;
    private int longSlot;
    private int shortSlot;
    private long predictions;
    private long right;
    private long predicted;

    /** A predictor that knows nothing yet. */
    public SizePredictor() {}

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
        recent[next & (LONG_CONTEXT - 1)] = bytes;
        next++;
        long hash = 0;
        for (int back = 1; back <= LONG_CONTEXT; back++) {
            hash = (hash + recent[(next - back) & (LONG_CONTEXT - 1)]) * MULTIPLIER;
            if (back == SHORT_CONTEXT) {
                shortSlot = (int) (hash >>> (64 - TABLE_BITS));
            }
        }
        longSlot = (int) (hash >>> (64 - TABLE_BITS));
        long known = afterLong[longSlot];
        predicted = known != 0 ? known : afterShort[shortSlot];
    }

    /** Share of sizes that were predicted right so far. */
    public double accuracy() {
        return predictions == 0 ? 0 : (double) right / predictions;
    }
}

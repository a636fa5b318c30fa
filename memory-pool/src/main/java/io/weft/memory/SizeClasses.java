// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * Sizes that spans serve: multiples of the alignment up to sixteen times it, then eight per doubling up to 1 MiB, so that rounding wastes at most 12.5 % from
 * eight times the alignment on. A slot starts at a multiple of its size inside a span whose start is a multiple of a granule, so every slot keeps the alignment.
 * Immutable.
 */
final class SizeClasses {
    /** Log2 of the arena's unit. 16 KiB: rounding a block above 1 MiB up to it wastes at most 1.6 %, and one map entry of 8 bytes covers it. */
    static final int GRANULE_SHIFT = 14;

    /** Largest size that a span serves. */
    static final int MAX_SMALL = 1 << 20;

    /** Log2 of the least alignment that a pool can have, the unit in which slots are counted. */
    static final int MIN_ALIGNMENT_SHIFT = 7;

    /** A span has at most 2^13 units, for which dividing by multiplying with a reciprocal of so many bits is exact. */
    private static final int RECIPROCAL_SHIFT = 2 * (20 - MIN_ALIGNMENT_SHIFT);

    private static final int UNITS_SHIFT = RECIPROCAL_SHIFT + 1;
    private static final int SLOTS_SHIFT = UNITS_SHIFT + 14;

    private final int alignmentShift;
    private final int count;
    private final int[] sizes;
    private final int[] granules;
    private final int[] magazines;
    /** By class, in one number so that one load has it all: slots of a span, units of a slot, and their reciprocal. */
    private final long[] shapes;

    SizeClasses(long alignment) {
        this.alignmentShift = Long.numberOfTrailingZeros(alignment);
        this.count = classOf(MAX_SMALL) + 1;
        this.sizes = new int[count];
        this.granules = new int[count];
        this.magazines = new int[count];
        this.shapes = new long[count];
        for (int index = 0; index < count; index++) {
            sizes[index] = sizeOf(index);
            granules[index] = granulesFor(sizes[index]);
            long units = sizes[index] >> MIN_ALIGNMENT_SHIFT;
            shapes[index] = ((long) slots(index) << SLOTS_SHIFT)
                    | (units << UNITS_SHIFT)
                    | ((1L << RECIPROCAL_SHIFT) + units - 1) / units;
            magazines[index] = Math.clamp((8 << 20) / sizes[index], 8, Heap.MAGAZINE);
        }
    }

    /** Classes. */
    int count() {
        return count;
    }

    /** The smallest class that holds so many bytes, 1 to {@link #MAX_SMALL}. */
    int classOf(int bytes) {
        int last = bytes - 1;
        // The greater of the two rather than a branch, which sizes that come mixed would have the processor guess
        // wrong.
        int shift = Math.max(28 - Integer.numberOfLeadingZeros(last | 1), alignmentShift);
        return ((shift - alignmentShift) << 3) + (last >>> shift);
    }

    /** Bytes of one slot. */
    int size(int index) {
        return sizes[index];
    }

    /** Free slots of this class that a magazine keeps: 8 MiB of them, but no fewer than 8 and no more than {@link Heap#MAGAZINE}. */
    int magazine(int index) {
        return magazines[index];
    }

    /** Granules of one span. */
    int granules(int index) {
        return granules[index];
    }

    /** Slots of one span. */
    int slots(int index) {
        return (granules[index] << GRANULE_SHIFT) / sizes[index];
    }

    /** The slot that starts so many bytes behind the start of a span, or -1 when none does. */
    int slotAt(int index, int offset) {
        long shape = shapes[index];
        long units = (long) offset >>> MIN_ALIGNMENT_SHIFT;
        long slot = (units * (shape & ((1L << UNITS_SHIFT) - 1))) >>> RECIPROCAL_SHIFT;
        long start = (slot * ((shape >>> UNITS_SHIFT) & ((1 << 14) - 1))) << MIN_ALIGNMENT_SHIFT;
        return start == offset && slot < shape >>> SLOTS_SHIFT ? (int) slot : -1;
    }

    private int sizeOf(int index) {
        if (index < 16) {
            return (index + 1) << alignmentShift;
        }
        int shift = alignmentShift + (index >>> 3) - 1;
        return ((index & 7) + 9) << shift;
    }

    /** A span of about eight slots, at most 1 MiB, with as little left over at its end as possible. */
    private static int granulesFor(int size) {
        int least = (size + (1 << GRANULE_SHIFT) - 1) >> GRANULE_SHIFT;
        int most = Math.max(
                least,
                Math.min(size * 8L, MAX_SMALL) <= 65536 ? 4 : (int) (Math.min(size * 8L, MAX_SMALL) >> GRANULE_SHIFT));
        int best = most;
        double bestWaste = 1;
        for (int candidate = most; candidate >= Math.max(least, most / 2); candidate--) {
            long bytes = (long) candidate << GRANULE_SHIFT;
            double waste = (double) (bytes % size) / bytes;
            if (waste < bestWaste - 1e-9) {
                bestWaste = waste;
                best = candidate;
            }
        }
        return best;
    }
}

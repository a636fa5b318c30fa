// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Map;
import java.util.TreeMap;

/**
 * Best fit, lowest address first, over a range of offsets. Deterministic: the same calls in the same order give the same offsets, which is what a symmetric heap
 * stands on. Not safe for threads.
 */
final class OffsetAllocator {
    private final TreeMap<Long, Long> free = new TreeMap<>();
    private final TreeMap<Long, Long> live = new TreeMap<>();

    OffsetAllocator(long bytes) {
        free.put(0L, bytes);
    }

    /** The offset, or -1 when there is no room. */
    long allocate(long bytes, long alignment) {
        long bestStart = -1;
        long bestBytes = Long.MAX_VALUE;
        for (Map.Entry<Long, Long> gap : free.entrySet()) {
            long start = (gap.getKey() + alignment - 1) & -alignment;
            long usable = gap.getValue() - (start - gap.getKey());
            if (usable >= bytes && gap.getValue() < bestBytes) {
                bestStart = gap.getKey();
                bestBytes = gap.getValue();
            }
        }
        if (bestStart < 0) {
            return -1;
        }
        free.remove(bestStart);
        long start = (bestStart + alignment - 1) & -alignment;
        if (start > bestStart) {
            free.put(bestStart, start - bestStart);
        }
        long end = bestStart + bestBytes;
        if (start + bytes < end) {
            free.put(start + bytes, end - start - bytes);
        }
        live.put(start, bytes);
        return start;
    }

    /** Frees what starts at an offset; false when nothing does. */
    boolean free(long offset) {
        Long bytes = live.remove(offset);
        if (bytes == null) {
            return false;
        }
        long start = offset;
        long end = offset + bytes;
        Map.Entry<Long, Long> before = free.lowerEntry(start);
        if (before != null && before.getKey() + before.getValue() == start) {
            start = before.getKey();
        }
        Long after = free.remove(end);
        if (after != null) {
            end += after;
        }
        free.put(start, end - start);
        return true;
    }

    /** Whether a range lies in one live block. */
    boolean contains(long offset, long bytes) {
        Map.Entry<Long, Long> block = live.floorEntry(offset);
        return block != null && offset + bytes <= block.getKey() + block.getValue();
    }

    long liveBlocks() {
        return live.size();
    }

    long largestFree() {
        return free.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }
}

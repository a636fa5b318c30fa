// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import java.util.Map;
import java.util.TreeMap;

/**
 * The addresses of one device: its own 2^44 bytes of the platform's address space. An address goes up and up, so that a stale one is not soon somebody
 * else's; only when the end is reached does the search start over, and it passes over what is alive. Confined to the platform's lock.
 */
final class AddressSpace {
    private static final int BITS = 44;

    private final long first;
    private final long end;
    private final TreeMap<Long, Long> live = new TreeMap<>();
    private long next;

    /** The space of a device. Address 0 belongs to nobody. */
    AddressSpace(int ordinal) {
        first = (ordinal + 1L) << BITS;
        end = first + (1L << BITS);
        next = first;
    }

    /**
     * Takes a range.
     *
     * @param alignment a power of two
     * @return its address, or -1 when no gap is large enough
     */
    long take(long bytes, long alignment) {
        long found = search(next, bytes, alignment);
        if (found < 0) {
            found = search(first, bytes, alignment);
        }
        if (found >= 0) {
            live.put(found, bytes);
            next = found + bytes;
        }
        return found;
    }

    /** Gives a range back. */
    void give(long address) {
        live.remove(address);
    }

    private long search(long from, long bytes, long alignment) {
        Map.Entry<Long, Long> before = live.floorEntry(from);
        long at = before == null ? from : Math.max(from, before.getKey() + before.getValue());
        for (; ; ) {
            at = (at + alignment - 1) & -alignment;
            if (bytes > end - at) {
                return -1;
            }
            Map.Entry<Long, Long> after = live.ceilingEntry(at);
            if (after == null || bytes <= after.getKey() - at) {
                return at;
            }
            at = after.getKey() + after.getValue();
        }
    }
}

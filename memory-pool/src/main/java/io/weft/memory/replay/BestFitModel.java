// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The plain rival: best fit with coalescing over one range that grows by what is missing, 256-byte units, no streams, no spans. */
public final class BestFitModel implements ReplayTarget {
    private record Gap(long bytes, long start) {}

    private static final long UNIT = 256;

    private final long limit;
    private final TreeSet<Gap> bySize = new TreeSet<>(
            (a, b) -> a.bytes != b.bytes ? Long.compare(a.bytes, b.bytes) : Long.compare(a.start, b.start));
    private final TreeMap<Long, Gap> byStart = new TreeMap<>();
    private final Map<Long, Long> live = new HashMap<>();
    private long top;
    private long calls;

    /** @param limit bytes that the device has */
    public BestFitModel(long limit) {
        this.limit = limit;
    }

    @Override
    public String name() {
        return "bestfit";
    }

    @Override
    public long allocate(long bytes, int stream) {
        long size = (bytes + UNIT - 1) / UNIT * UNIT;
        Gap gap = bySize.ceiling(new Gap(size, -1));
        long start;
        if (gap != null) {
            start = gap.start;
            remove(gap);
            if (gap.bytes > size) {
                add(new Gap(gap.bytes - size, start + size));
            }
        } else {
            Map.Entry<Long, Gap> last = byStart.lastEntry();
            boolean ends = last != null && last.getKey() + last.getValue().bytes == top;
            start = ends ? last.getKey() : top;
            calls++;
            if (start + size > limit) {
                return -1;
            }
            if (ends) {
                remove(last.getValue());
            }
            top = start + size;
        }
        live.put(start, size);
        return start;
    }

    @Override
    public void free(long address, int stream) {
        long size = live.remove(address);
        long start = address;
        Map.Entry<Long, Gap> before = byStart.lowerEntry(start);
        if (before != null && before.getKey() + before.getValue().bytes == start) {
            remove(before.getValue());
            start = before.getKey();
            size += before.getValue().bytes;
        }
        Gap after = byStart.get(address + (size - (address - start)));
        if (after != null) {
            remove(after);
            size += after.bytes;
        }
        add(new Gap(size, start));
    }

    private void add(Gap gap) {
        bySize.add(gap);
        byStart.put(gap.start, gap);
    }

    private void remove(Gap gap) {
        bySize.remove(gap);
        byStart.remove(gap.start);
    }

    @Override
    public List<ReplayPiece> pieces() {
        List<ReplayPiece> pieces = new ArrayList<>();
        live.forEach((start, size) -> pieces.add(new ReplayPiece(0, start, size, ReplayPiece.Use.OUT)));
        byStart.values().forEach(gap -> pieces.add(new ReplayPiece(0, gap.start, gap.bytes, ReplayPiece.Use.FREE)));
        pieces.sort(Comparator.comparingLong(ReplayPiece::start));
        return pieces;
    }

    @Override
    public void recordUse(long address, int stream) {}

    @Override
    public void nextIteration() {}

    @Override
    public long reservedBytes() {
        return top;
    }

    @Override
    public long peakReservedBytes() {
        return top;
    }

    @Override
    public long peakAllocatedBytes() {
        return -1;
    }

    @Override
    public long deviceCalls() {
        return calls;
    }

    @Override
    public long retries() {
        return 0;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts a recording anew from its text alone, line by line as it is written: what was out, and what was held from the device. It knows nothing of the pool whose calls
 * they are, so that the pool's own figures can be held against it. Used by one thread at a time.
 */
public final class Recount extends OutputStream {
    private byte[] line = new byte[80];
    private int length;
    private long lines;
    private final Map<Long, Long> out = new HashMap<>();
    private long allocated;
    private long peakAllocated;
    private long reserved;
    private long peakReserved;
    private long allocations;
    private long frees;

    /** Nothing counted yet. */
    public Recount() {}

    @Override
    public void write(int value) {
        if (value == '\n') {
            count(new String(line, 0, length, StandardCharsets.US_ASCII));
            length = 0;
            return;
        }
        if (length == line.length) {
            line = Arrays.copyOf(line, 2 * length);
        }
        line[length++] = (byte) value;
    }

    @Override
    public void write(byte[] bytes, int offset, int count) {
        for (int i = offset; i < offset + count; i++) {
            write(bytes[i]);
        }
    }

    private void count(String text) {
        if (lines++ == 0) {
            return; // what kind of file it is
        }
        String[] cells = text.split(",", -1);
        switch (cells[0]) {
            case "a" -> {
                long bytes = Long.parseLong(cells[2]);
                out.put(Long.parseLong(cells[1]), bytes);
                allocations++;
                allocated += bytes;
                peakAllocated = Math.max(peakAllocated, allocated);
            }
            case "f" -> {
                frees++;
                allocated -= out.remove(Long.parseLong(cells[1]));
            }
            case "S" -> {
                reserved += Long.parseLong(cells[2]);
                peakReserved = Math.max(peakReserved, reserved);
            }
            case "s" -> reserved -= Long.parseLong(cells[2]);
            default -> {} // uses and iterations move no bytes
        }
    }

    /** Lines but the first. */
    public long events() {
        return Math.max(0, lines - 1);
    }

    /** Allocations. */
    public long allocations() {
        return allocations;
    }

    /** Frees. */
    public long frees() {
        return frees;
    }

    /** Bytes out at the end. */
    public long allocatedBytes() {
        return allocated;
    }

    /** The most bytes out at one time. */
    public long peakAllocatedBytes() {
        return peakAllocated;
    }

    /** Bytes held from the device at the end. */
    public long reservedBytes() {
        return reserved;
    }

    /** The most bytes held from the device at one time. */
    public long peakReservedBytes() {
        return peakReserved;
    }

    /** {@code 1 - peak allocated / peak reserved}. */
    public double fragmentation() {
        return peakReserved == 0 ? 0 : 1 - (double) peakAllocated / peakReserved;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies and fills on host memory, in parallel where they are large. Offsets, pitches and sizes are in bytes.
 *
 * <p>Source and destination must not overlap, as on a device. Bounds are checked by the segments. Thread-safe, allocates nothing
 * but the hand-over to the pool.
 */
public final class CopyKernel {
    /** Bytes that are worth a task of their own: some 50 microseconds of copying. */
    private static final long TASK_BYTES = 512 << 10;

    /** Bytes that a fill writes element by element before it copies them on; stays in L1. */
    private static final int SEED_BYTES = 4096;

    private final ComputePool pool;

    public CopyKernel(ComputePool pool) {
        this.pool = pool;
    }

    /** Copies {@code bytes} contiguous bytes. */
    public void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        if (bytes <= TASK_BYTES) {
            MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
            return;
        }
        pool.run(tasks(bytes), (task, lane) -> {
            long at = task * TASK_BYTES;
            MemorySegment.copy(from, fromOffset + at, to, toOffset + at, Math.min(TASK_BYTES, bytes - at));
        });
    }

    /**
     * Copies {@code rows} rows of {@code rowBytes} bytes whose starts are a pitch apart; the gaps of the destination are left alone.
     *
     * @param fromPitch from one row of the source to the next; 0 repeats one row
     * @param toPitch from one row of the destination to the next, at least {@code rowBytes}
     */
    public void copyRows(
            MemorySegment from,
            long fromOffset,
            long fromPitch,
            MemorySegment to,
            long toOffset,
            long toPitch,
            long rowBytes,
            long rows) {
        if (rowBytes == 0 || rows == 0) {
            return;
        }
        if ((fromPitch == rowBytes && toPitch == rowBytes) || rows == 1) {
            copy(from, fromOffset, to, toOffset, rowBytes * rows);
            return;
        }
        forEachRow(
                rowBytes,
                rows,
                (row, at, bytes) -> MemorySegment.copy(
                        from, fromOffset + row * fromPitch + at, to, toOffset + row * toPitch + at, bytes));
    }

    /**
     * Sets contiguous elements to one bit pattern.
     *
     * @param pattern in its low bytes
     * @param patternBytes 1, 2 or 4
     * @param count elements
     */
    public void fill(MemorySegment to, long offset, int pattern, int patternBytes, long count) {
        fillRows(to, offset, count * patternBytes, pattern, patternBytes, count, 1);
    }

    /**
     * Sets the elements of rows whose starts are a pitch apart; gaps are left alone.
     *
     * @param pitch bytes from one row to the next
     * @param pattern in its low bytes
     * @param patternBytes 1, 2 or 4
     * @param columns elements of a row
     */
    public void fillRows(
            MemorySegment to, long offset, long pitch, int pattern, int patternBytes, long columns, long rows) {
        if (patternBytes != 1 && patternBytes != 2 && patternBytes != 4) {
            throw new IllegalArgumentException("a fill pattern has 1, 2 or 4 bytes, not " + patternBytes);
        }
        long rowBytes = columns * patternBytes;
        if (rowBytes == 0 || rows == 0) {
            return;
        }
        boolean dense = pitch == rowBytes;
        forEachRow(
                dense ? rowBytes * rows : rowBytes,
                dense ? 1 : rows,
                (row, at, bytes) -> fillRun(to, offset + row * pitch + at, pattern, patternBytes, bytes));
    }

    private static void fillRun(MemorySegment to, long offset, int pattern, int patternBytes, long bytes) {
        byte low = (byte) pattern;
        boolean uniform = patternBytes == 1
                || (low == (byte) (pattern >> 8)
                        && (patternBytes == 2 || (low == (byte) (pattern >> 16) && low == (byte) (pattern >> 24))));
        if (uniform) {
            to.asSlice(offset, bytes).fill(low);
            return;
        }
        int seed = (int) Math.min(SEED_BYTES, bytes);
        if (patternBytes == 2) {
            for (int i = 0; i < seed; i += 2) {
                to.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset + i, (short) pattern);
            }
        } else {
            for (int i = 0; i < seed; i += 4) {
                to.set(ValueLayout.JAVA_INT_UNALIGNED, offset + i, pattern);
            }
        }
        for (long at = seed; at < bytes; at += seed) {
            MemorySegment.copy(to, offset, to, offset + at, Math.min(seed, bytes - at));
        }
    }

    @FunctionalInterface
    private interface Run {
        void apply(long row, long at, long bytes);
    }

    // Long rows are cut at multiples of TASK_BYTES, which every pattern divides; short rows are grouped.
    private void forEachRow(long rowBytes, long rows, Run run) {
        long parts = (rowBytes + TASK_BYTES - 1) / TASK_BYTES;
        long group = parts > 1 ? 1 : Math.max(1, TASK_BYTES / rowBytes);
        int tasks = Math.toIntExact((rows + group - 1) / group * parts);
        pool.run(tasks, (task, lane) -> {
            long first = task / parts * group;
            long at = task % parts * TASK_BYTES;
            long bytes = Math.min(TASK_BYTES, rowBytes - at);
            for (long row = first; row < Math.min(rows, first + group); row++) {
                run.apply(row, at, bytes);
            }
        });
    }

    private static int tasks(long bytes) {
        return Math.toIntExact((bytes + TASK_BYTES - 1) / TASK_BYTES);
    }
}

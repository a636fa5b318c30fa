// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.api.BufferView;
import io.weft.api.MatrixLayout;

/**
 * The bytes of a two-dimensional view in the platform's address space: {@code rows} runs of {@code width} bytes, {@code pitch} bytes apart.
 *
 * @param start address of the first byte
 * @param rows number of runs, 0 or more
 * @param width bytes of one run, 0 or more
 * @param pitch bytes from one run to the next, at least {@code width}
 */
record Extent(long start, long rows, long width, long pitch) {
    /** The bytes of a view whose memory starts at an address. Runs without gaps become one. */
    static Extent of(long memoryStart, BufferView view) {
        boolean rowMajor = view.layout() == MatrixLayout.ROW_MAJOR;
        long rows = rowMajor ? view.rows() : view.columns();
        long width = (rowMajor ? view.columns() : view.rows()) * view.type().bytes();
        long pitch = view.pitch() * view.type().bytes();
        long start = memoryStart + view.offset();
        if (rows == 0 || width == 0) {
            return new Extent(start, 0, 0, 0);
        }
        if (rows == 1 || pitch == width) {
            return range(start, rows * width);
        }
        return new Extent(start, rows, width, pitch);
    }

    /** A plain range of bytes. */
    static Extent range(long start, long bytes) {
        return new Extent(start, bytes == 0 ? 0 : 1, bytes, bytes);
    }

    boolean isEmpty() {
        return rows == 0;
    }

    /** The first address after the last byte. */
    long end() {
        return rows == 0 ? start : start + (rows - 1) * pitch + width;
    }

    /** Bytes from the first to the last, gaps counted. */
    long span() {
        return end() - start;
    }

    /**
     * Whether the two share a byte. Exact when one of them is a plain range or both have one pitch, which covers the blocks of one matrix; other pairs are said
     * to overlap when their bounds do. That errs on the side that costs a copy, never on the side that costs a wrong result.
     */
    boolean overlaps(Extent other) {
        if (rows == 0 || other.rows == 0 || end() <= other.start || other.end() <= start) {
            return false;
        }
        if (rows == 1 && other.rows == 1) {
            return true;
        }
        if (rows == 1) {
            return other.touches(start, end());
        }
        if (other.rows == 1) {
            return touches(other.start, other.end());
        }
        return pitch != other.pitch || sharesGrid(other);
    }

    /** Whether a run meets the range [from, to), which lies partly between our bounds. */
    private boolean touches(long from, long to) {
        // The last run that starts at or before the range either reaches into it, or the next run must start inside it.
        long row = Math.clamp(Math.floorDiv(from - start, pitch), 0, rows - 1);
        long at = start + row * pitch;
        if (at < to && from < at + width) {
            return true;
        }
        return row + 1 < rows && at + pitch < to;
    }

    private boolean sharesGrid(Extent other) {
        long delta = other.start - start;
        long row = Math.floorDiv(delta, pitch);
        long column = Math.floorMod(delta, pitch);
        // Seen on our grid, the other's runs start in `column` and may run over into the next row's beginning.
        boolean head = column < width && row < rows && row + other.rows > 0;
        boolean wraps = column + other.width > pitch;
        boolean tail = wraps && row + 1 < rows && row + 1 + other.rows > 0;
        return head || tail;
    }
}

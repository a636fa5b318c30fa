// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.HostMatrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Converts strips of a matrix to fp32 panels for {@link Lanes#tile}. A panel holds {@code width} neighbouring rows of the matrix, {@code
 * [depth][width]}: all rows' elements of one column, then those of the next column; zeros beyond the last row. (The right operand of a
 * product is packed transposed.)
 */
final class PanelPacker {
    /** Elements of a run that is dealt out to panels. */
    private static final int RUN = 512;

    /** Columns that are spread at a time: with 16 rows 8 KiB of panel, which stay in L1 until all rows are in. */
    private static final int SPREAD = 128;

    /** Columns of each panel that are dealt out at a time, so that neighbouring panels share the lines and pages they read. */
    private static final int DEAL = 64;

    /** What one thread needs to pack. */
    static final class Scratch {
        private final float[] run = new float[RUN];
        private final MemorySegment staging;

        Scratch(Lanes lanes) {
            staging = Arena.ofAuto().allocate(2L * DEAL * lanes.tileColumns(), 64);
        }
    }

    private final Lanes lanes;

    PanelPacker(Lanes lanes) {
        this.lanes = lanes;
    }

    /**
     * Packs some panels.
     *
     * @param from its rows become the panels' width, its columns their depth
     * @param entry batch entry
     * @param start row that panel 0 starts with
     * @param rows rows there are from {@code start} on; panels end there
     * @param width rows of a panel
     * @param firstPanel first panel to pack
     * @param endPanel panel to stop before
     * @param column first column to pack
     * @param depth columns to pack
     * @param to where to
     * @param at where the first packed panel starts
     * @param pitch from one panel's start to the next
     * @param scratch of this thread
     */
    void pack(
            HostMatrix from,
            int entry,
            int start,
            int rows,
            int width,
            int firstPanel,
            int endPanel,
            int column,
            int depth,
            float[] to,
            int at,
            int pitch,
            Scratch scratch) {
        int first = firstPanel * width;
        int count = Math.min(rows, endPanel * width) - first;
        long offset = from.address(entry, start + first, column);
        if (from.rowStride() != 1 || from.columnStride() == 1) {
            spread(from, offset, count, width, depth, to, at, pitch, scratch);
        } else {
            int whole = 0;
            if (width == lanes.tileColumns()) {
                whole = count / width * width;
                panels(from, offset, whole / width, width, depth, to, at, pitch, scratch);
            }
            long rest = offset + (long) whole * from.type().bytes();
            deal(from, rest, count - whole, width, depth, to, at + whole / width * pitch, pitch, scratch);
        }
        int filled = count % width;
        if (filled != 0) {
            int last = at + count / width * pitch;
            for (int p = 0; p < depth; p++) {
                for (int i = filled; i < width; i++) {
                    to[last + p * width + i] = 0f;
                }
            }
        }
    }

    // Rows are neighbours in memory and a panel is as wide as the lanes like it.
    private void panels(
            HostMatrix from,
            long offset,
            int panels,
            int width,
            int depth,
            float[] to,
            int at,
            int pitch,
            Scratch scratch) {
        ElementType type = from.type();
        long stride = from.columnStride() * type.bytes();
        for (int p = 0; p < depth; p += DEAL) {
            int size = Math.min(DEAL, depth - p);
            for (int panel = 0; panel < panels; panel++) {
                lanes.decodePanel(
                        type,
                        from.memory(),
                        offset + p * stride + (long) panel * width * type.bytes(),
                        stride,
                        size,
                        to,
                        at + panel * pitch + p * width,
                        scratch.staging);
            }
        }
    }

    // Rows are neighbours in memory: convert a run over several panels, then deal it out.
    private void deal(
            HostMatrix from,
            long offset,
            int count,
            int width,
            int depth,
            float[] to,
            int at,
            int pitch,
            Scratch scratch) {
        ElementType type = from.type();
        long stride = from.columnStride() * type.bytes();
        int step = RUN / width * width;
        for (int first = 0; first < count; first += step) {
            int size = Math.min(step, count - first);
            int target = at + first / width * pitch;
            for (int p = 0; p < depth; p++) {
                lanes.decode(
                        type, from.memory(), offset + (long) first * type.bytes() + p * stride, scratch.run, 0, size);
                dealRun(scratch.run, size, to, target + p * width, width, pitch);
            }
        }
    }

    private static void dealRun(float[] run, int size, float[] to, int at, int width, int pitch) {
        for (int i = 0; i < size; i += width, at += pitch) {
            int end = Math.min(width, size - i);
            for (int j = 0; j < end; j++) {
                to[at + j] = run[i + j];
            }
        }
    }

    // A row's elements are neighbours in memory, or nothing is: convert a run of a row, then spread it over the panel.
    private void spread(
            HostMatrix from,
            long offset,
            int count,
            int width,
            int depth,
            float[] to,
            int at,
            int pitch,
            Scratch scratch) {
        ElementType type = from.type();
        long rowStride = from.rowStride() * type.bytes();
        long stride = from.columnStride() * type.bytes();
        for (int first = 0; first < count; first += width) {
            int end = Math.min(width, count - first);
            int panel = at + first / width * pitch;
            for (int p = 0; p < depth; p += SPREAD) {
                int size = Math.min(SPREAD, depth - p);
                for (int i = 0; i < end; i++) {
                    long source = offset + (first + i) * rowStride + p * stride;
                    if (stride == type.bytes()) {
                        lanes.decode(type, from.memory(), source, scratch.run, 0, size);
                    } else {
                        gather(type, from.memory(), source, stride, scratch.run, size);
                    }
                    spreadRun(scratch.run, size, to, panel + p * width + i, width);
                }
            }
        }
    }

    private static void spreadRun(float[] run, int count, float[] to, int at, int width) {
        for (int i = 0; i < count; i++) {
            to[at + i * width] = run[i];
        }
    }

    /** Converts elements that lie {@code stride} bytes apart. */
    static void gather(ElementType type, MemorySegment memory, long offset, long stride, float[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = type.decode(Elements.bits(memory, offset + i * stride, type));
        }
    }
}

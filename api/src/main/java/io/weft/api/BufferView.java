// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Objects;

/**
 * A two-dimensional window on memory: {@code [rows, columns]} elements of one type. A vector is a view of one row.
 *
 * <p>A view checks at construction that it lies inside its memory and that its offset is a multiple of the element size; whether the
 * memory is still open is checked when a command is issued. Immutable, so free of thread rules.
 *
 * @param memory what it looks at
 * @param offset bytes from the start of the memory to element (0, 0)
 * @param rows number of rows, 0 or more
 * @param columns number of columns, 0 or more
 * @param pitch elements from one row to the next (row-major) or one column to the next (column-major)
 * @param layout which index runs fastest
 * @param type element type
 */
public record BufferView(
        Memory memory, long offset, long rows, long columns, long pitch, MatrixLayout layout, ElementType type) {
    public BufferView {
        Objects.requireNonNull(memory, "memory");
        Objects.requireNonNull(layout, "layout");
        Objects.requireNonNull(type, "type");
        if (offset < 0 || rows < 0 || columns < 0) {
            throw AcceleratorException.invalid(
                    "view",
                    "offset " + offset + ", rows " + rows + " and columns " + columns + " must not be negative");
        }
        long minor = layout == MatrixLayout.ROW_MAJOR ? columns : rows;
        if (pitch < minor) {
            throw AcceleratorException.invalid(
                    "view",
                    "pitch " + pitch + " elements is smaller than the " + minor + " elements of one "
                            + (layout == MatrixLayout.ROW_MAJOR ? "row" : "column"));
        }
        if (offset % type.bytes() != 0) {
            throw new AcceleratorException(
                    ErrorCode.MISALIGNED,
                    "view",
                    "offset " + offset + " is not a multiple of " + type.bytes() + " bytes, the size of " + type);
        }
        long end = end(offset, rows, columns, pitch, layout, type);
        if (end < 0 || end > memory.bytes()) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    "view",
                    "[" + rows + ", " + columns + "] " + type + " with pitch " + pitch + " from byte " + offset
                            + " ends at byte " + (end < 0 ? "beyond 2^63" : end) + " of a memory of " + memory.bytes()
                            + " bytes");
        }
    }

    private static long end(long offset, long rows, long columns, long pitch, MatrixLayout layout, ElementType type) {
        if (rows == 0 || columns == 0) {
            return offset;
        }
        try {
            long major = layout == MatrixLayout.ROW_MAJOR ? rows : columns;
            long minor = layout == MatrixLayout.ROW_MAJOR ? columns : rows;
            long elements = Math.addExact(Math.multiplyExact(major - 1, pitch), minor);
            return Math.addExact(offset, Math.multiplyExact(elements, type.bytes()));
        } catch (ArithmeticException overflow) {
            return -1;
        }
    }

    /** A row-major view without gaps between rows. */
    public static BufferView matrix(Memory memory, long offset, long rows, long columns, ElementType type) {
        return new BufferView(memory, offset, rows, columns, columns, MatrixLayout.ROW_MAJOR, type);
    }

    /** A row-major view with a pitch in elements. */
    public static BufferView pitched(
            Memory memory, long offset, long rows, long columns, long pitch, ElementType type) {
        return new BufferView(memory, offset, rows, columns, pitch, MatrixLayout.ROW_MAJOR, type);
    }

    /** A view of one row. */
    public static BufferView vector(Memory memory, long offset, long elements, ElementType type) {
        return new BufferView(memory, offset, 1, elements, elements, MatrixLayout.ROW_MAJOR, type);
    }

    /** Number of elements. */
    public long elements() {
        return rows * columns;
    }

    /** Bytes of its elements, gaps not counted. */
    public long bytes() {
        return elements() * type.bytes();
    }

    /** First byte after its last element; {@code offset} when it is empty. */
    public long end() {
        return end(offset, rows, columns, pitch, layout, type);
    }

    /** Whether it holds no elements. */
    public boolean isEmpty() {
        return rows == 0 || columns == 0;
    }

    /** Whether its elements have no gaps between them. */
    public boolean isContiguous() {
        return layout == MatrixLayout.ROW_MAJOR ? rows <= 1 || pitch == columns : columns <= 1 || pitch == rows;
    }

    /** The same window on another memory; used when slots are bound to buffers. */
    public BufferView on(Memory other) {
        return new BufferView(other, offset, rows, columns, pitch, layout, type);
    }

    /**
     * A window inside this one.
     *
     * @throws AcceleratorException {@link ErrorCode#OUT_OF_BOUNDS} when it does not fit
     */
    public BufferView window(long firstRow, long rowCount, long firstColumn, long columnCount) {
        if (firstRow < 0
                || rowCount < 0
                || firstColumn < 0
                || columnCount < 0
                || firstRow + rowCount > rows
                || firstColumn + columnCount > columns) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    "window",
                    "rows " + firstRow + "+" + rowCount + ", columns " + firstColumn + "+" + columnCount
                            + " do not fit [" + rows + ", " + columns + "]");
        }
        boolean empty = rowCount == 0 || columnCount == 0;
        long element =
                layout == MatrixLayout.ROW_MAJOR ? firstRow * pitch + firstColumn : firstColumn * pitch + firstRow;
        long start = empty ? offset : offset + element * type.bytes();
        return new BufferView(memory, start, rowCount, columnCount, pitch, layout, type);
    }

    /** Rows {@code [first, first + count)}. */
    public BufferView rowRange(long first, long count) {
        return window(first, count, 0, columns);
    }

    /** Columns {@code [first, first + count)}. */
    public BufferView columnRange(long first, long count) {
        return window(0, rows, first, count);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import io.weft.api.ElementType;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A strided matrix, or a batch of equally shaped ones, in memory that the host can read.
 *
 * <p>The view owns nothing: {@code memory} must stay alive and, unless the user of the view says otherwise, must not be written by
 * others while it is used. Row-major, column-major and transposed operands are all the same thing here: two strides. Elements may
 * lie at any byte address.
 *
 * @param memory where the elements lie
 * @param offset bytes from the start of {@code memory} to element (0, 0) of batch entry 0
 * @param type element type
 * @param batch how many matrices, at least 0
 * @param batchStride elements from one matrix to the next; 0 lets all of them share one storage (for reading only)
 * @param rows at least 0
 * @param columns at least 0
 * @param rowStride elements from one row to the next, at least 0
 * @param columnStride elements from one column to the next, at least 0
 */
public record HostMatrix(
        MemorySegment memory,
        long offset,
        ElementType type,
        int batch,
        long batchStride,
        int rows,
        int columns,
        long rowStride,
        long columnStride) {

    /** Checks that every element lies inside {@code memory}; the bounds check of the kernels is this one. */
    public HostMatrix {
        Objects.requireNonNull(memory, "memory");
        Objects.requireNonNull(type, "type");
        if (offset < 0
                || batch < 0
                || batchStride < 0
                || rows < 0
                || columns < 0
                || rowStride < 0
                || columnStride < 0) {
            throw new IllegalArgumentException("matrix " + rows + " x " + columns + " x " + batch + " at byte " + offset
                    + " with strides " + rowStride + ", " + columnStride + ", " + batchStride
                    + ": sizes, strides and the offset must be 0 or more");
        }
        if (batch > 0 && rows > 0 && columns > 0) {
            long last = Math.addExact(
                    Math.multiplyExact(batch - 1L, batchStride),
                    Math.addExact(
                            Math.multiplyExact(rows - 1L, rowStride), Math.multiplyExact(columns - 1L, columnStride)));
            long end = Math.addExact(offset, Math.multiplyExact(Math.addExact(last, 1L), (long) type.bytes()));
            if (end > memory.byteSize()) {
                throw new IllegalArgumentException("matrix " + rows + " x " + columns + " x " + batch + " of " + type
                        + " ends at byte " + end + ", its memory at " + memory.byteSize());
            }
        }
    }

    /**
     * One matrix whose rows are contiguous.
     *
     * @param leadingDimension elements from one row to the next, at least {@code columns}
     */
    public static HostMatrix rowMajor(
            MemorySegment memory, long offset, ElementType type, int rows, int columns, long leadingDimension) {
        if (leadingDimension < columns) {
            throw new IllegalArgumentException(
                    "row-major leading dimension " + leadingDimension + " is less than the " + columns + " columns");
        }
        return new HostMatrix(memory, offset, type, 1, 0, rows, columns, leadingDimension, 1);
    }

    /** One dense row-major matrix at the start of {@code memory}. */
    public static HostMatrix rowMajor(MemorySegment memory, ElementType type, int rows, int columns) {
        return rowMajor(memory, 0, type, rows, columns, columns);
    }

    /**
     * One matrix whose columns are contiguous.
     *
     * @param leadingDimension elements from one column to the next, at least {@code rows}
     */
    public static HostMatrix columnMajor(
            MemorySegment memory, long offset, ElementType type, int rows, int columns, long leadingDimension) {
        if (leadingDimension < rows) {
            throw new IllegalArgumentException(
                    "column-major leading dimension " + leadingDimension + " is less than the " + rows + " rows");
        }
        return new HostMatrix(memory, offset, type, 1, 0, rows, columns, 1, leadingDimension);
    }

    /** The same elements with rows and columns exchanged. */
    public HostMatrix transposed() {
        return new HostMatrix(memory, offset, type, batch, batchStride, columns, rows, columnStride, rowStride);
    }

    /**
     * {@code count} matrices of this shape.
     *
     * @param stride elements from one matrix to the next
     */
    public HostMatrix batched(int count, long stride) {
        return new HostMatrix(memory, offset, type, count, stride, rows, columns, rowStride, columnStride);
    }

    /** Bytes from the start of {@link #memory()} to an element. */
    public long address(int entry, int row, int column) {
        return offset + (entry * batchStride + row * rowStride + column * columnStride) * type.bytes();
    }

    /** The bit pattern of an element, in the low bytes. */
    public int bits(int entry, int row, int column) {
        return Elements.bits(memory, address(entry, row, column), type);
    }

    /** The value of an element; {@link ElementType#INT32} values beyond 2^53 do not exist, so this is exact for every type. */
    public double value(int entry, int row, int column) {
        return Elements.value(type, bits(entry, row, column));
    }
}

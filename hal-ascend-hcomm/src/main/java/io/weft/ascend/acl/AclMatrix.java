// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;

/**
 * A matrix in device memory as the operators see it; strides are elements.
 *
 * @param address of its first element
 * @param storageRows rows of the memory it lies in
 * @param storageColumns elements from row to row there
 */
record AclMatrix(
        long address,
        ElementType type,
        long rows,
        long columns,
        long rowStride,
        long columnStride,
        long storageRows,
        long storageColumns) {
    /** A view's matrix, so many elements further on. */
    static AclMatrix of(BufferView view, boolean transpose, long offset) {
        boolean rowMajor = view.layout() == MatrixLayout.ROW_MAJOR;
        long rowStride = rowMajor ? view.pitch() : 1;
        long columnStride = rowMajor ? 1 : view.pitch();
        return new AclMatrix(
                ((Buffer) view.memory()).address()
                        + view.offset()
                        + offset * view.type().bytes(),
                view.type(),
                transpose ? view.columns() : view.rows(),
                transpose ? view.rows() : view.columns(),
                transpose ? columnStride : rowStride,
                transpose ? rowStride : columnStride,
                rowMajor ? view.rows() : view.columns(),
                view.pitch());
    }

    /** A view's own matrix. */
    static AclMatrix of(BufferView view) {
        return of(view, false, 0);
    }

    /** A matrix without gaps, row by row. */
    static AclMatrix dense(long address, ElementType type, long rows, long columns) {
        return new AclMatrix(address, type, rows, columns, columns, 1, rows, columns);
    }

    /** Bytes of a dense matrix of this shape with elements of four bytes. */
    long wideBytes() {
        return rows * columns * Integer.BYTES;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.numeric.HostMatrix;
import java.lang.foreign.MemorySegment;

/**
 * A view of a command, resolved to a store. Its bytes are those of the store at the time of asking, or of the private copy that was taken by {@link #keep()}. Not
 * safe for several threads.
 */
final class Operand {
    private final Store store;
    private final long offset;
    private final BufferView view;
    private final Extent extent;
    private final int batch;
    private final long stride;
    private HostBlock kept;

    /**
     * @param store where the bytes are
     * @param base bytes from the store's start to that of the view's memory
     * @param view shape and type
     */
    Operand(Store store, long base, BufferView view) {
        this(store, base, view, 1, 0);
    }

    /**
     * @param batch how often the view repeats
     * @param stride elements from one to the next
     */
    Operand(Store store, long base, BufferView view, int batch, long stride) {
        this.store = store;
        this.offset = base + view.offset();
        this.view = view;
        this.batch = batch;
        this.stride = stride;
        Extent one = Extent.of(store.address() + base, view);
        // The blocks of a batch are taken as one range from first to last: they mostly lie back to back.
        this.extent = batch == 1 || one.isEmpty()
                ? one
                : Extent.range(
                        one.start(),
                        one.span() + (batch - 1) * stride * view.type().bytes());
    }

    BufferView view() {
        return view;
    }

    ElementType type() {
        return view.type();
    }

    /** Number of contiguous runs: rows, or columns of a column-major view. */
    long runs() {
        return view.layout() == MatrixLayout.ROW_MAJOR ? view.rows() : view.columns();
    }

    /** Bytes of one run. */
    long width() {
        return (view.layout() == MatrixLayout.ROW_MAJOR ? view.columns() : view.rows())
                * view.type().bytes();
    }

    /** Bytes from one run to the next. */
    long pitch() {
        return view.pitch() * view.type().bytes();
    }

    Extent extent() {
        return extent;
    }

    /** Takes a private copy of the present bytes, unless there is one. */
    void keep() {
        if (kept == null && !extent.isEmpty()) {
            kept = HostBlock.allocate(extent.span(), 64);
            kept.segment().copyFrom(store.backing(offset, extent.span()));
        }
    }

    /** Gives the private copy up, if there is one. */
    void discard() {
        if (kept != null) {
            kept.release();
            kept = null;
        }
    }

    boolean isKept() {
        return kept != null;
    }

    /** The bytes from the first element to the last, gaps included. */
    MemorySegment segment() {
        return kept != null ? kept.segment() : store.backing(offset, extent.span());
    }

    /** The bytes of the store itself, whether a copy was kept or not. */
    MemorySegment current() {
        return store.backing(offset, extent.span());
    }

    /** The elements as a matrix for the kernels. */
    HostMatrix matrix() {
        return matrix(segment());
    }

    HostMatrix matrix(MemorySegment bytes) {
        int rows = Math.toIntExact(view.rows());
        int columns = Math.toIntExact(view.columns());
        boolean rowMajor = view.layout() == MatrixLayout.ROW_MAJOR;
        return new HostMatrix(
                bytes,
                0,
                view.type(),
                batch,
                stride,
                rows,
                columns,
                rowMajor ? view.pitch() : 1,
                rowMajor ? 1 : view.pitch());
    }
}

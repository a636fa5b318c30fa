// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.memory.PoolCore;
import io.weft.memory.PoolOptions;
import io.weft.memory.StreamOrder;
import java.util.ArrayList;
import java.util.List;

/** Weft's pool over memory that is mere numbers. */
public final class PoolTarget implements ReplayTarget {
    private final CountedPages pages;
    private final PoolCore core;
    private long now;

    /**
     * @param limit bytes that the pool may hold
     * @param order how far streams are
     */
    public PoolTarget(long limit, StreamOrder order) {
        this.pages = new CountedPages(limit, true);
        this.core = new PoolCore(
                pages,
                order,
                PoolOptions.defaults().withLimits(limit, limit).withSegmentBytes(PoolOptions.SEGMENT_STEP));
    }

    /** The pool. */
    public PoolCore core() {
        return core;
    }

    @Override
    public String name() {
        return "weft";
    }

    @Override
    public long allocate(long bytes, int stream) {
        return core.allocate(bytes, stream);
    }

    @Override
    public void free(long address, int stream) {
        core.free(address, stream);
    }

    @Override
    public void recordUse(long address, int stream) {
        core.recordUse(address, stream);
    }

    @Override
    public void nextIteration() {
        now += 1_000_000;
        core.nextIteration(now);
    }

    @Override
    public long reservedBytes() {
        return core.reservedBytes();
    }

    @Override
    public long peakReservedBytes() {
        return core.statistics().peakReservedBytes();
    }

    @Override
    public long peakAllocatedBytes() {
        return core.statistics().peakAllocatedBytes();
    }

    @Override
    public long deviceCalls() {
        return pages.calls();
    }

    @Override
    public long retries() {
        return core.statistics().retries();
    }

    @Override
    public List<ReplayPiece> pieces() {
        return pieces(core.snapshot());
    }

    static List<ReplayPiece> pieces(List<PoolCore.Piece> snapshot) {
        List<ReplayPiece> pieces = new ArrayList<>();
        for (PoolCore.Piece piece : snapshot) {
            switch (piece.use()) {
                case BUFFER -> pieces.add(piece(piece, ReplayPiece.Use.OUT));
                case SPAN -> pieces.add(piece(piece, ReplayPiece.Use.SMALL));
                case LAYOUT, DEFERRED -> pieces.add(piece(piece, ReplayPiece.Use.HELD));
                case FREE -> pieces.add(piece(piece, ReplayPiece.Use.FREE));
                case VOID -> {}
            }
        }
        return pieces;
    }

    private static ReplayPiece piece(PoolCore.Piece piece, ReplayPiece.Use use) {
        return new ReplayPiece(0, piece.start(), piece.bytes(), use);
    }

    @Override
    public long plannedAllocations() {
        return core.statistics().plannedAllocations();
    }
}

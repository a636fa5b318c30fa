// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.memory.PoolCore;
import io.weft.memory.PoolOptions;
import io.weft.memory.PoolRecording;
import io.weft.memory.PoolStatistics;
import io.weft.memory.StreamOrder;
import java.util.List;

/**
 * Weft's pool, replaying a trace while it writes an event log, and what counting that log anew gives beside the pool's own figures.
 *
 * @param recount what was counted from the log alone
 * @param pool what the pool says
 */
public record RecountedReplay(Recount recount, PoolStatistics pool) {
    /**
     * Replays a trace a few times as {@link Replay} does.
     *
     * @param limit bytes that the pool may hold
     */
    public static RecountedReplay of(Trace trace, long limit, int passes) {
        Recount recount = new Recount();
        try (PoolRecording log = new PoolRecording(recount, false)) {
            Logged target = new Logged(log, limit);
            Replay.run(trace, target, passes);
            log.flush();
            return new RecountedReplay(recount, target.core.statistics());
        }
    }

    /** Whether both agree on every number that they share, to the byte. */
    public boolean isEqual() {
        return recount.allocations() == pool.allocations()
                && recount.frees() == pool.frees()
                && recount.allocatedBytes() == pool.allocatedBytes()
                && recount.peakAllocatedBytes() == pool.peakAllocatedBytes()
                && recount.reservedBytes() == pool.reservedBytes()
                && recount.peakReservedBytes() == pool.peakReservedBytes();
    }

    /** The pool with its log. */
    private static final class Logged implements ReplayTarget {
        private final PoolRecording log;
        private final PoolRecording.Source calls;
        private final PoolCore core;
        private long now;

        Logged(PoolRecording log, long limit) {
            this.log = log;
            this.calls = log.source();
            this.core = new PoolCore(
                    calls.recorded(new CountedPages(limit, true), () -> now),
                    StreamOrder.immediate(),
                    PoolOptions.defaults().withLimits(limit, limit).withSegmentBytes(PoolOptions.SEGMENT_STEP));
        }

        @Override
        public String name() {
            return "weft";
        }

        @Override
        public long allocate(long bytes, int stream) {
            long address = core.allocate(bytes, stream);
            if (address >= 0) {
                calls.allocate(address, bytes, stream, now);
            }
            return address;
        }

        @Override
        public void free(long address, int stream) {
            calls.free(address, stream, now);
            core.free(address, stream);
        }

        @Override
        public void recordUse(long address, int stream) {
            core.recordUse(address, stream);
            calls.use(address, stream, now);
        }

        @Override
        public void nextIteration() {
            now += 1_000_000;
            core.nextIteration(now);
            log.nextIteration(now);
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
            return 0;
        }

        @Override
        public long retries() {
            return 0;
        }

        @Override
        public List<ReplayPiece> pieces() {
            return List.of();
        }
    }
}

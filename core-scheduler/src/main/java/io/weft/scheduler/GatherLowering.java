// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.graph.Slot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Schedules of patterns in which rows of A travel to the rank that multiplies them. */
final class GatherLowering {
    private final GraphWriter writer;
    private final Schedule schedule;
    private final RowPlan plan;
    private final int ranks;
    private final long k;
    private final ElementType type;

    GatherLowering(GraphWriter writer) {
        this.writer = writer;
        this.schedule = writer.schedule;
        this.plan = writer.plan;
        this.ranks = writer.ranks;
        this.k = writer.k;
        this.type = writer.type;
    }

    void lower() {
        switch (schedule.kind()) {
            case SERIAL -> {
                if (schedule.engine() == TransferEngine.COLLECTIVE) {
                    serialCollective();
                } else {
                    serialCopies();
                }
            }
            case SHARD_P2P -> shardByShard();
            case UNIFORM_FUSED_1D -> fused(true);
            case HETERO_FUSED_1D -> {
                if (ranks == 2) {
                    unfused(); // One peer: its chunk is all there is to fuse, and lands in place.
                } else {
                    fused(false);
                }
            }
            case HETERO_UNFUSED_1D -> unfused();
            case UNIFORM_FUSED_2D -> slabs();
            case COVER_MERGE -> coverMerge();
        }
    }

    /** All rows that each rank multiplies, in place. */
    private Slot[] gathered() {
        Slot[] slots = new Slot[ranks];
        for (int d = 0; d < ranks; d++) {
            slots[d] = writer.problem.inPlace()
                    ? writer.a[d]
                    : writer.communication(d, "A gathered", plan.received[d] * k * type.bytes());
        }
        return slots;
    }

    private BufferView rowsOf(Slot slot, long first, long count) {
        return GraphWriter.rows(slot, 0, first, count, k, type);
    }

    private BufferView origin(int s, int d, long first, long count) {
        return writer.operand(s, plan.from[s][d] + first, count);
    }

    private int multiply(int d, int lane, int index, Slot gathered, long first, long count, int... after) {
        return writer.gemm(
                d,
                lane,
                index,
                writer.result(d, first, count),
                rowsOf(gathered, first, count),
                writer.weight(d),
                false,
                after);
    }

    /** The rows that need no communication, read where the caller put them. */
    private int multiplyOwn(int d, int lane, long first, long count) {
        return writer.gemm(
                d,
                lane,
                0,
                writer.result(d, plan.to[d][d] + first, count),
                origin(d, d, first, count),
                writer.weight(d),
                false);
    }

    private int sendBlock(int s, int d, int lane, Slot gathered, int... after) {
        return writer.send(
                s,
                d,
                lane,
                0,
                rowsOf(gathered, plan.to[s][d], plan.rows[s][d]),
                origin(s, d, 0, plan.rows[s][d]),
                after);
    }

    private void serialCollective() {
        Slot[] all = gathered();
        int[][] parts = new int[ranks][];
        if (writer.problem.pattern() == Pattern.ALL_TO_ALL_GEMM) {
            for (int r = 0; r < ranks; r++) {
                parts[r] = new int[] {exchange(r, all[r])};
            }
        } else if (plan.isEven()) {
            for (int r = 0; r < ranks; r++) {
                BufferView send = writer.operand(r, 0, plan.held[r]);
                BufferView receive = rowsOf(all[r], 0, plan.received[r]);
                int part = writer.collective(
                        r, writer.computeLane(0), CollectiveKind.ALL_GATHER, 0, send, receive, List.of(), List.of(), 0);
                parts[r] = new int[] {part};
            }
        } else {
            // Collectives with one count cannot gather uneven shards: one broadcast for each, as vendor libraries
            // advise.
            for (int r = 0; r < ranks; r++) {
                parts[r] = new int[ranks];
            }
            for (int root = 0; root < ranks; root++) {
                for (int r = 0; r < ranks; r++) {
                    long rows = plan.rows[root][r];
                    parts[r][root] = rows == 0
                            ? -1
                            : writer.collective(
                                    r,
                                    1 + root,
                                    CollectiveKind.BROADCAST,
                                    root,
                                    r == root ? writer.operand(r, 0, rows) : null,
                                    rowsOf(all[r], plan.to[root][r], rows),
                                    List.of(),
                                    List.of(),
                                    root);
                }
            }
        }
        boolean sameLane = parts[0].length == 1;
        for (int d = 0; d < ranks; d++) {
            int[] after = sameLane ? new int[0] : parts[d];
            multiply(d, writer.computeLane(0), 0, all[d], 0, plan.received[d], after);
        }
    }

    private int exchange(int r, Slot all) {
        BufferView send = writer.operand(r, 0, plan.held[r]);
        BufferView receive = rowsOf(all, 0, plan.received[r]);
        if (plan.isEven()) {
            return writer.collective(
                    r, writer.computeLane(0), CollectiveKind.ALL_TO_ALL, 0, send, receive, List.of(), List.of(), 0);
        }
        List<Long> out = new ArrayList<>(ranks);
        List<Long> in = new ArrayList<>(ranks);
        for (int peer = 0; peer < ranks; peer++) {
            out.add(plan.rows[r][peer] * k);
            in.add(plan.rows[peer][r] * k);
        }
        return writer.collective(r, writer.computeLane(0), CollectiveKind.ALL_TO_ALL_V, 0, send, receive, out, in, 0);
    }

    private void serialCopies() {
        Slot[] all = gathered();
        int[][] arrived = new int[ranks][ranks];
        for (int i = 1; i < ranks; i++) {
            for (int s = 0; s < ranks; s++) {
                int d = (s + i) % ranks;
                arrived[d][s] = sendBlock(s, d, writer.sendLane(s, d), all[d]);
            }
        }
        for (int d = 0; d < ranks; d++) {
            arrived[d][d] = writer.gather(
                    d, 0, rowsOf(all[d], plan.to[d][d], plan.rows[d][d]), origin(d, d, 0, plan.rows[d][d]));
            multiply(d, 0, 0, all[d], 0, plan.received[d], arrived[d]);
        }
    }

    private void shardByShard() {
        Slot[] all = gathered();
        for (int d = 0; d < ranks; d++) {
            multiplyOwn(d, 0, 0, plan.rows[d][d]);
        }
        int lane = schedule.streams(); // One lane for all peers: one shard at a time.
        int[] arrived = new int[ranks];
        for (int i = 1; i < ranks; i++) {
            for (int s = 0; s < ranks; s++) {
                int d = (s + ranks - i) % ranks;
                arrived[d] = sendBlock(s, d, lane, all[d]);
            }
            for (int d = 0; d < ranks; d++) {
                int s = (d + i) % ranks;
                multiply(d, writer.computeLane(i), i, all[d], plan.to[s][d], plan.rows[s][d], arrived[d]);
            }
        }
    }

    private void unfused() {
        Slot[] all = gathered();
        int chunks = schedule.chunks();
        for (int d = 0; d < ranks; d++) {
            multiplyOwn(d, 0, 0, plan.rows[d][d]);
        }
        int[] arrived = new int[ranks * ranks];
        int index = 0;
        for (int chunk = 0; chunk < chunks; chunk++) {
            for (int i = 1; i < ranks; i++) {
                for (int s = 0; s < ranks; s++) {
                    int d = (s + i) % ranks;
                    long first = RowPlan.cut(plan.rows[s][d], chunk, chunks);
                    long count = RowPlan.size(plan.rows[s][d], chunk, chunks);
                    arrived[d * ranks + s] = writer.send(
                            s, d, chunk, rowsOf(all[d], plan.to[s][d] + first, count), origin(s, d, first, count));
                }
            }
            for (int i = 1; i < ranks; i++) {
                index++;
                for (int d = 0; d < ranks; d++) {
                    int s = (d + ranks - i) % ranks;
                    long first = RowPlan.cut(plan.rows[s][d], chunk, chunks);
                    long count = RowPlan.size(plan.rows[s][d], chunk, chunks);
                    multiply(
                            d,
                            writer.computeLane(index),
                            index,
                            all[d],
                            plan.to[s][d] + first,
                            count,
                            arrived[d * ranks + s]);
                }
            }
        }
    }

    /** Steps over one chunk of every block (uniform) or of every remote block (hetero), through two staging blocks for A and two for C. */
    private void fused(boolean uniform) {
        int steps = schedule.chunks();
        int blocks = Math.min(2, steps);
        long rowBytes = k * type.bytes();
        long resultRowBytes = writer.n * writer.resultType.bytes();
        Slot[] staging = new Slot[ranks];
        Slot[] strips = new Slot[ranks];
        long[] stagingBlock = new long[ranks];
        long[] stripsBlock = new long[ranks];
        for (int d = 0; d < ranks; d++) {
            long most = 0;
            for (int s = 0; s < ranks; s++) {
                if (uniform || s != d) {
                    most += RowPlan.largest(plan.rows[s][d], steps);
                }
            }
            stagingBlock[d] = GraphWriter.align(most * rowBytes);
            stripsBlock[d] = GraphWriter.align(most * resultRowBytes);
            staging[d] = writer.communication(d, "A staging", blocks * stagingBlock[d]);
            strips[d] = writer.compute(d, "C staging", blocks * stripsBlock[d]);
            if (!uniform) {
                multiplyOwn(d, 0, 0, plan.rows[d][d]);
            }
        }
        int[] reader = new int[blocks * ranks]; // The last GEMM that read a staging block.
        int[] emptied = new int[blocks * ranks]; // The last copy that read a block of strips.
        Arrays.fill(reader, -1);
        Arrays.fill(emptied, -1);
        long[] offset = new long[ranks * ranks];
        long[] total = new long[ranks];
        int[] after = new int[ranks + 1];
        int[][] arrived = new int[ranks][ranks];
        for (int step = 0; step < steps; step++) {
            int block = step % blocks;
            for (int d = 0; d < ranks; d++) {
                long sum = 0;
                for (int s = 0; s < ranks; s++) {
                    offset[d * ranks + s] = sum;
                    if (uniform || s != d) {
                        sum += RowPlan.size(plan.rows[s][d], step, steps);
                    }
                }
                total[d] = sum;
                arrived[d][d] = -1;
            }
            for (int i = uniform ? 0 : 1; i < ranks; i++) {
                for (int s = 0; s < ranks; s++) {
                    int d = (s + i) % ranks;
                    long first = RowPlan.cut(plan.rows[s][d], step, steps);
                    long count = RowPlan.size(plan.rows[s][d], step, steps);
                    BufferView target = GraphWriter.rows(
                            staging[d], block * stagingBlock[d], offset[d * ranks + s], count, k, type);
                    BufferView from = origin(s, d, first, count);
                    int free = reader[block * ranks + d];
                    arrived[d][s] = i == 0
                            ? writer.gather(d, step, target, from, free)
                            : writer.send(s, d, step, target, from, free);
                }
            }
            for (int d = 0; d < ranks; d++) {
                int slot = block * ranks + d;
                System.arraycopy(arrived[d], 0, after, 0, ranks);
                after[ranks] = emptied[slot];
                BufferView left = GraphWriter.rows(staging[d], block * stagingBlock[d], 0, total[d], k, type);
                long stripBase = block * stripsBlock[d];
                BufferView strip = GraphWriter.rows(strips[d], stripBase, 0, total[d], writer.n, writer.resultType);
                int lane = writer.computeLane(uniform ? step : step + 1);
                int gemm = writer.gemm(d, lane, step + 1, strip, left, writer.weight(d), false, after);
                if (gemm >= 0) {
                    reader[slot] = gemm;
                }
                int wait = gemm;
                for (int s = 0; s < ranks; s++) {
                    if (!uniform && s == d) {
                        continue;
                    }
                    long first = RowPlan.cut(plan.rows[s][d], step, steps);
                    long count = RowPlan.size(plan.rows[s][d], step, steps);
                    BufferView piece = GraphWriter.rows(
                            strips[d], stripBase, offset[d * ranks + s], count, writer.n, writer.resultType);
                    int copy = writer.scatter(d, step, writer.result(d, plan.to[s][d] + first, count), piece, wait);
                    if (copy >= 0) {
                        emptied[slot] = copy;
                        wait = -1; // The lane keeps the rest behind this copy.
                    }
                }
            }
        }
    }

    /** Steps over slabs of columns of A; the product is accumulated over the steps. */
    private void slabs() {
        int steps = (int) Math.min(schedule.chunks(), k);
        int blocks = Math.min(2, steps);
        // Integers and fp32 are as wide as the accumulator already.
        boolean rounds = steps > 1 && writer.resultType.isFloating() && writer.resultType != ElementType.FP32;
        long widest = RowPlan.largest(k, steps);
        Slot[] staging = new Slot[ranks];
        BufferView[] sums = new BufferView[ranks];
        long[] stagingBlock = new long[ranks];
        for (int d = 0; d < ranks; d++) {
            long rows = plan.received[d];
            stagingBlock[d] = GraphWriter.align(rows * widest * type.bytes());
            staging[d] = writer.communication(d, "A slabs", blocks * stagingBlock[d]);
            sums[d] = rounds
                    ? GraphWriter.rows(
                            writer.compute(d, "C accumulator", rows * writer.n * ElementType.FP32.bytes()),
                            0,
                            0,
                            rows,
                            writer.n,
                            ElementType.FP32)
                    : writer.result(d, 0, rows);
        }
        int[] reader = new int[blocks * ranks];
        Arrays.fill(reader, -1);
        int[][] arrived = new int[ranks][ranks];
        for (int step = 0; step < steps; step++) {
            int block = step % blocks;
            long first = RowPlan.cut(k, step, steps);
            long width = RowPlan.size(k, step, steps);
            for (int i = 0; i < ranks; i++) {
                for (int s = 0; s < ranks; s++) {
                    int d = (s + i) % ranks;
                    BufferView target = GraphWriter.rows(
                            staging[d], block * stagingBlock[d], plan.to[s][d], plan.rows[s][d], width, type);
                    BufferView from = origin(s, d, 0, plan.rows[s][d]).columnRange(first, width);
                    int free = reader[block * ranks + d];
                    arrived[d][s] = i == 0
                            ? writer.gather(d, step, target, from, free)
                            : writer.send(s, d, step, target, from, free);
                }
            }
            for (int d = 0; d < ranks; d++) {
                BufferView left =
                        GraphWriter.rows(staging[d], block * stagingBlock[d], 0, plan.received[d], width, type);
                BufferView right = writer.weight(d).rowRange(first, width);
                reader[block * ranks + d] = writer.gemm(d, 0, step, sums[d], left, right, step > 0, arrived[d]);
            }
        }
        for (int d = 0; d < ranks && rounds; d++) {
            writer.round(d, 0, writer.result(d, 0, plan.received[d]), sums[d]);
        }
    }

    /**
     * A GEMM over just enough own rows to cover the communication, then everything else. The rows after and before the first GEMM's are contiguous in the gathered matrix, beside which the own rest is
     * copied; they are one range when the own block lies at an end, and two ranges otherwise.
     */
    private void coverMerge() {
        Slot[] all = gathered();
        for (int d = 0; d < ranks; d++) {
            CoverSplit split = CoverSplit.of(schedule.cover(), plan.to[d][d], plan.rows[d][d], plan.received[d]);
            multiplyOwn(d, 0, split.coverStart() - plan.to[d][d], split.coverRows());
        }
        int[][] arrived = new int[ranks][ranks];
        for (int i = 1; i < ranks; i++) {
            for (int s = 0; s < ranks; s++) {
                int d = (s + i) % ranks;
                arrived[d][s] = sendBlock(s, d, writer.sendLane(s, d), all[d]);
            }
        }
        for (int d = 0; d < ranks; d++) {
            long ownStart = plan.to[d][d];
            CoverSplit split = CoverSplit.of(schedule.cover(), ownStart, plan.rows[d][d], plan.received[d]);
            int rest = writer.gather(
                    d,
                    0,
                    rowsOf(all[d], split.restStart(), split.restRows()),
                    origin(d, d, split.restStart() - ownStart, split.restRows()));
            boolean restIsBefore = split.restStart() < split.coverStart();
            long before = split.coverStart();
            long behind = split.coverStart() + split.coverRows();
            int[] after = new int[ranks];
            for (int s = 0; s < ranks; s++) {
                after[s] = s < d ? arrived[d][s] : s == d && restIsBefore ? rest : -1;
            }
            multiply(d, 0, 1, all[d], 0, before, after);
            for (int s = 0; s < ranks; s++) {
                after[s] = s > d ? arrived[d][s] : s == d && !restIsBefore ? rest : -1;
            }
            multiply(d, writer.computeLane(1), 2, all[d], behind, plan.received[d] - behind, after);
        }
    }
}

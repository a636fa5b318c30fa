// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.graph.Slot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Schedules of patterns in which rows of the product travel: the mirror image of gathering. Pieces are multiplied for other ranks first and sent to their owners, the own block comes last, and
 * owners sum where the pattern reduces. All-reduce is that followed by sending every owner's sum to all others.
 */
final class ScatterLowering {
    private final GraphWriter writer;
    private final Schedule schedule;
    private final RowPlan plan;
    private final int ranks;
    private final long n;
    private final ElementType type;
    private final boolean reduces;
    private final boolean allReduce;
    /** Whether a peer's partial product lands in the result, where the own GEMM accumulates into it. */
    private final boolean landsInResult;

    private Slot[] inbox;
    private long[] inboxStrip;

    ScatterLowering(GraphWriter writer) {
        this.writer = writer;
        this.schedule = writer.schedule;
        this.plan = writer.plan;
        this.ranks = writer.ranks;
        this.n = writer.n;
        this.type = writer.resultType;
        this.reduces = writer.problem.pattern().reduces();
        this.allReduce = writer.problem.pattern() == Pattern.GEMM_ALL_REDUCE;
        this.landsInResult = !reduces || (accumulates() && ranks == 2);
    }

    private boolean accumulates() {
        return reduces && schedule.reduction() == Reduction.ACCUMULATE;
    }

    void lower() {
        if (schedule.kind() == Schedule.Kind.SERIAL && schedule.engine() == TransferEngine.COLLECTIVE) {
            serialCollective();
            return;
        }
        if (!landsInResult) {
            makeInbox();
        }
        switch (schedule.kind()) {
            case SERIAL -> serialCopies();
            case SHARD_P2P -> shardByShard();
            case UNIFORM_FUSED_1D -> fused(true);
            case HETERO_FUSED_1D -> {
                if (ranks == 2) {
                    unfused(); // One peer: its chunk is all there is to fuse, and is contiguous as it is.
                } else {
                    fused(false);
                }
            }
            case HETERO_UNFUSED_1D -> unfused();
            case UNIFORM_FUSED_2D -> slabs();
            case COVER_MERGE -> coverMerge();
        }
    }

    // Places.

    /** Partial products of the other ranks, one strip for each, in rank order. */
    private void makeInbox() {
        inbox = new Slot[ranks];
        inboxStrip = new long[ranks];
        for (int d = 0; d < ranks; d++) {
            inboxStrip[d] = GraphWriter.align(plan.rows[d][d] * n * type.bytes());
            inbox[d] = writer.communication(d, "partial products", (ranks - 1) * inboxStrip[d]);
        }
    }

    private long strip(int s, int d) {
        return (s < d ? s : s - 1) * inboxStrip[d];
    }

    /** Where rows of the block from s land on d. */
    private BufferView landing(int s, int d, long first, long count) {
        return landsInResult
                ? writer.result(d, plan.to[s][d] + first, count)
                : GraphWriter.rows(inbox[d], strip(s, d), first, count, n, type);
    }

    /** Own rows of the result. */
    private BufferView ownResult(int d, long first, long count) {
        return writer.result(d, plan.to[d][d] + first, count);
    }

    private BufferView operand(int r, int d, long first, long count) {
        return writer.operand(r, plan.from[r][d] + first, count);
    }

    private Slot[] products() {
        Slot[] slots = new Slot[ranks];
        for (int r = 0; r < ranks; r++) {
            slots[r] = writer.compute(r, "product", plan.held[r] * n * type.bytes());
        }
        return slots;
    }

    private BufferView product(Slot slot, long first, long count) {
        return GraphWriter.rows(slot, 0, first, count, n, type);
    }

    // Sums.

    /** The sum of all partial products of own rows, in rank order, and its way to the others. */
    private int sum(int d, int index, long first, long count, BufferView own, int... after) {
        List<BufferView> inputs = new ArrayList<>(ranks);
        for (int s = 0; s < ranks; s++) {
            inputs.add(s == d ? own : landing(s, d, first, count));
        }
        int node = writer.reduce(d, index, ownResult(d, first, count), inputs, after);
        publish(d, index, first, count, node);
        return node;
    }

    /** Sends finished own rows to all others where all want them. */
    private void publish(int d, int index, long first, long count, int after) {
        if (!allReduce) {
            return;
        }
        for (int i = 1; i < ranks; i++) {
            int peer = (d + i) % ranks;
            writer.sendResult(
                    d,
                    peer,
                    index,
                    writer.result(peer, plan.to[d][d] + first, count),
                    ownResult(d, first, count),
                    after);
        }
    }

    /**
     * The own block, after everything for others was issued, and the sums.
     *
     * @param arrived arrival of each chunk, {@code [chunk][destination][source]}
     * @param next number of GEMMs issued before on each rank
     */
    private void finishOwn(int[][][] arrived, int next) {
        int chunks = arrived.length;
        for (int d = 0; d < ranks; d++) {
            long rows = plan.rows[d][d];
            if (accumulates()) {
                accumulateOwn(d, rows, arrived, next);
                continue;
            }
            int own = writer.gemm(
                    d,
                    writer.computeLane(next),
                    next,
                    ownResult(d, 0, rows),
                    operand(d, d, 0, rows),
                    writer.weight(d),
                    false);
            if (!reduces) {
                continue;
            }
            if (!allReduce) {
                // One kernel: it cannot start before the own block, which comes last, whatever the chunks. Chunks of
                // one peer arrive in order.
                int[] after = lastArrivals(arrived, d);
                after[d] = own;
                sum(d, 0, 0, rows, ownResult(d, 0, rows), after);
                continue;
            }
            for (int chunk = 0; chunk < chunks; chunk++) {
                long first = RowPlan.cut(rows, chunk, chunks);
                int[] after = arrived[chunk][d].clone();
                after[d] = own;
                long count = RowPlan.size(rows, chunk, chunks);
                if (sum(d, chunk, first, count, ownResult(d, first, count), after) >= 0) {
                    own = -1; // Later sums follow the first on their lane.
                }
            }
        }
    }

    private int[] lastArrivals(int[][][] arrived, int d) {
        int[] last = new int[ranks];
        Arrays.fill(last, -1);
        for (int[][] chunk : arrived) {
            for (int s = 0; s < ranks; s++) {
                last[s] = Math.max(last[s], chunk[d][s]);
            }
        }
        return last;
    }

    private void accumulateOwn(int d, long rows, int[][][] arrived, int next) {
        int chunks = arrived.length;
        for (int chunk = 0; chunk < chunks; chunk++) {
            long first = RowPlan.cut(rows, chunk, chunks);
            long count = RowPlan.size(rows, chunk, chunks);
            int ready;
            if (landsInResult) {
                ready = arrived[chunk][d][1 - d];
            } else {
                List<BufferView> inputs = new ArrayList<>(ranks - 1);
                for (int s = 0; s < ranks; s++) {
                    if (s != d) {
                        inputs.add(landing(s, d, first, count));
                    }
                }
                ready = writer.reduce(d, chunk, ownResult(d, first, count), inputs, arrived[chunk][d]);
            }
            int gemm = writer.gemm(
                    d,
                    writer.computeLane(next + chunk),
                    next + chunk,
                    ownResult(d, first, count),
                    operand(d, d, first, count),
                    writer.weight(d),
                    true,
                    ready);
            publish(d, chunk, first, count, gemm);
        }
    }

    // Schedules.

    private void serialCollective() {
        if (allReduce) {
            for (int r = 0; r < ranks; r++) {
                BufferView all = writer.result(r, 0, plan.held[r]);
                multiplyAll(r, all);
                writer.collective(r, 0, CollectiveKind.ALL_REDUCE, 0, all, all, List.of(), List.of(), 0);
            }
            return;
        }
        Slot[] products = products();
        for (int r = 0; r < ranks; r++) {
            multiplyAll(r, product(products[r], 0, plan.held[r]));
        }
        if (!reduces) {
            for (int r = 0; r < ranks; r++) {
                exchange(r, products[r]);
            }
        } else if (plan.isEven()) {
            for (int r = 0; r < ranks; r++) {
                BufferView send = product(products[r], 0, plan.held[r]);
                BufferView receive = writer.result(r, 0, plan.received[r]);
                writer.collective(r, 0, CollectiveKind.REDUCE_SCATTER, 0, send, receive, List.of(), List.of(), 0);
            }
        } else {
            // Collectives with one count cannot scatter uneven shards: one reduce for each, as vendor libraries advise.
            for (int root = 0; root < ranks; root++) {
                long rows = plan.received[root];
                for (int r = 0; r < ranks && rows > 0; r++) {
                    BufferView send = product(products[r], plan.from[r][root], rows);
                    BufferView receive = r == root ? writer.result(r, 0, rows) : null;
                    writer.collective(r, 0, CollectiveKind.REDUCE, root, send, receive, List.of(), List.of(), root);
                }
            }
        }
    }

    private void multiplyAll(int r, BufferView target) {
        writer.gemm(r, 0, 0, target, writer.operand(r, 0, plan.held[r]), writer.weight(r), false);
    }

    private void exchange(int r, Slot product) {
        BufferView send = product(product, 0, plan.held[r]);
        BufferView receive = writer.result(r, 0, plan.received[r]);
        if (plan.isEven()) {
            writer.collective(r, 0, CollectiveKind.ALL_TO_ALL, 0, send, receive, List.of(), List.of(), 0);
            return;
        }
        List<Long> out = new ArrayList<>(ranks);
        List<Long> in = new ArrayList<>(ranks);
        for (int peer = 0; peer < ranks; peer++) {
            out.add(plan.rows[r][peer] * n);
            in.add(plan.rows[peer][r] * n);
        }
        writer.collective(r, 0, CollectiveKind.ALL_TO_ALL_V, 0, send, receive, out, in, 0);
    }

    private void serialCopies() {
        Slot[] products = products();
        int[] whole = new int[ranks];
        for (int r = 0; r < ranks; r++) {
            whole[r] = writer.gemm(
                    r,
                    0,
                    0,
                    product(products[r], 0, plan.held[r]),
                    writer.operand(r, 0, plan.held[r]),
                    writer.weight(r),
                    false);
        }
        int[][] arrived = new int[ranks][ranks];
        for (int i = 1; i < ranks; i++) {
            for (int r = 0; r < ranks; r++) {
                int d = (r + i) % ranks;
                long rows = plan.rows[r][d];
                arrived[d][r] = writer.send(
                        r, d, 0, landing(r, d, 0, rows), product(products[r], plan.from[r][d], rows), whole[r]);
            }
        }
        for (int d = 0; d < ranks; d++) {
            long rows = plan.rows[d][d];
            BufferView own = product(products[d], plan.from[d][d], rows);
            if (reduces) {
                arrived[d][d] = whole[d];
                sum(d, 0, 0, rows, own, arrived[d]);
            } else {
                writer.scatter(d, 0, ownResult(d, 0, rows), own, whole[d]);
            }
        }
    }

    private void shardByShard() {
        Slot[] outbox = outbox();
        int lane = schedule.streams(); // One lane for all peers: one shard at a time.
        int[][][] arrived = new int[1][ranks][ranks];
        for (int i = 1; i < ranks; i++) {
            for (int r = 0; r < ranks; r++) {
                int d = (r + i) % ranks;
                long rows = plan.rows[r][d];
                int gemm = multiplyOut(r, d, i - 1, outbox[r], 0, rows);
                arrived[0][d][r] =
                        writer.send(r, d, lane, i, landing(r, d, 0, rows), out(outbox[r], r, d, 0, rows), gemm);
            }
        }
        clearOwn(arrived);
        finishOwn(arrived, ranks - 1);
    }

    private void unfused() {
        Slot[] outbox = outbox();
        int chunks = schedule.chunks();
        int[][][] arrived = new int[chunks][ranks][ranks];
        int index = 0;
        for (int chunk = 0; chunk < chunks; chunk++) {
            for (int i = 1; i < ranks; i++) {
                for (int r = 0; r < ranks; r++) {
                    int d = (r + i) % ranks;
                    long first = RowPlan.cut(plan.rows[r][d], chunk, chunks);
                    long count = RowPlan.size(plan.rows[r][d], chunk, chunks);
                    int gemm = multiplyOut(r, d, index, outbox[r], first, count);
                    arrived[chunk][d][r] = writer.send(
                            r, d, chunk, landing(r, d, first, count), out(outbox[r], r, d, first, count), gemm);
                }
                index++;
            }
        }
        clearOwn(arrived);
        finishOwn(arrived, index);
    }

    private void clearOwn(int[][][] arrived) {
        for (int[][] chunk : arrived) {
            for (int d = 0; d < ranks; d++) {
                chunk[d][d] = -1;
            }
        }
    }

    /** Products for other ranks, in place. */
    private Slot[] outbox() {
        Slot[] slots = new Slot[ranks];
        for (int r = 0; r < ranks; r++) {
            slots[r] = writer.compute(r, "product", (plan.held[r] - plan.rows[r][r]) * n * type.bytes());
        }
        return slots;
    }

    private BufferView out(Slot outbox, int r, int d, long first, long count) {
        long start = plan.from[r][d] - (d > r ? plan.rows[r][r] : 0);
        return GraphWriter.rows(outbox, 0, start + first, count, n, type);
    }

    private int multiplyOut(int r, int d, int index, Slot outbox, long first, long count) {
        return writer.gemm(
                r,
                writer.computeLane(index),
                index,
                out(outbox, r, d, first, count),
                operand(r, d, first, count),
                writer.weight(r),
                false);
    }

    /** Steps over one chunk of every block (uniform) or of every remote block (hetero), through two staging blocks for A and two for C. */
    private void fused(boolean uniform) {
        int steps = schedule.chunks();
        int blocks = Math.min(2, steps);
        long rowBytes = writer.k * writer.type.bytes();
        Slot[] staging = new Slot[ranks];
        Slot[] strips = new Slot[ranks];
        long[] stagingBlock = new long[ranks];
        long[] stripsBlock = new long[ranks];
        for (int r = 0; r < ranks; r++) {
            long most = 0;
            for (int d = 0; d < ranks; d++) {
                if (uniform || d != r) {
                    most += RowPlan.largest(plan.rows[r][d], steps);
                }
            }
            stagingBlock[r] = GraphWriter.align(most * rowBytes);
            stripsBlock[r] = GraphWriter.align(most * n * type.bytes());
            staging[r] = writer.communication(r, "A staging", blocks * stagingBlock[r]);
            strips[r] = writer.compute(r, "C staging", blocks * stripsBlock[r]);
        }
        int[] reader = new int[blocks * ranks]; // The last GEMM that read a staging block.
        int[][] emptied = new int[blocks * ranks][ranks]; // What read each strip of a block.
        Arrays.fill(reader, -1);
        for (int[] readers : emptied) {
            Arrays.fill(readers, -1);
        }
        int[][][] arrived = new int[steps][ranks][ranks];
        clearOwn(arrived);
        long[] offset = new long[ranks * ranks];
        int[] gemms = new int[ranks];
        for (int step = 0; step < steps; step++) {
            int block = step % blocks;
            for (int r = 0; r < ranks; r++) {
                int slot = block * ranks + r;
                long total = 0;
                int gathered = -1;
                for (int d = 0; d < ranks; d++) {
                    offset[r * ranks + d] = total;
                    if (!uniform && d == r) {
                        continue;
                    }
                    long first = RowPlan.cut(plan.rows[r][d], step, steps);
                    long count = RowPlan.size(plan.rows[r][d], step, steps);
                    int copy = writer.gather(
                            r,
                            step,
                            GraphWriter.rows(staging[r], block * stagingBlock[r], total, count, writer.k, writer.type),
                            operand(r, d, first, count),
                            gathered < 0 ? reader[slot] : -1);
                    gathered = Math.max(gathered, copy);
                    total += count;
                }
                int[] after = Arrays.copyOf(emptied[slot], ranks + 1);
                after[ranks] = gathered;
                gemms[r] = writer.gemm(
                        r,
                        writer.computeLane(step),
                        step,
                        GraphWriter.rows(strips[r], block * stripsBlock[r], 0, total, n, type),
                        GraphWriter.rows(staging[r], block * stagingBlock[r], 0, total, writer.k, writer.type),
                        writer.weight(r),
                        false,
                        after);
                if (gemms[r] >= 0) {
                    reader[slot] = gemms[r];
                    Arrays.fill(emptied[slot], -1);
                }
            }
            for (int i = 1; i < ranks; i++) {
                for (int r = 0; r < ranks; r++) {
                    int d = (r + i) % ranks;
                    long first = RowPlan.cut(plan.rows[r][d], step, steps);
                    long count = RowPlan.size(plan.rows[r][d], step, steps);
                    BufferView piece =
                            GraphWriter.rows(strips[r], block * stripsBlock[r], offset[r * ranks + d], count, n, type);
                    int copy = writer.send(r, d, step, landing(r, d, first, count), piece, gemms[r]);
                    arrived[step][d][r] = copy;
                    if (copy >= 0) {
                        emptied[block * ranks + r][d] = copy;
                    }
                }
            }
            for (int d = 0; d < ranks && uniform; d++) {
                long first = RowPlan.cut(plan.rows[d][d], step, steps);
                long count = RowPlan.size(plan.rows[d][d], step, steps);
                BufferView own =
                        GraphWriter.rows(strips[d], block * stripsBlock[d], offset[d * ranks + d], count, n, type);
                int done;
                if (reduces) {
                    int[] after = arrived[step][d].clone();
                    after[d] = gemms[d];
                    done = sum(d, step, first, count, own, after);
                } else {
                    done = writer.scatter(d, step, ownResult(d, first, count), own, gemms[d]);
                }
                if (done >= 0) {
                    emptied[block * ranks + d][d] = done;
                }
            }
        }
        if (!uniform) {
            finishOwn(arrived, steps);
        }
    }

    /** Steps over slabs of columns of the product, through two staging blocks. Every element is still summed along all of K at once, so its bits stay. */
    private void slabs() {
        int steps = (int) Math.min(schedule.chunks(), n);
        int blocks = Math.min(2, steps);
        long widest = RowPlan.largest(n, steps);
        Slot[] strips = new Slot[ranks];
        long[] stripsBlock = new long[ranks];
        for (int r = 0; r < ranks; r++) {
            stripsBlock[r] = GraphWriter.align(plan.held[r] * widest * type.bytes());
            strips[r] = writer.compute(r, "C slabs", blocks * stripsBlock[r]);
        }
        int[][] emptied = new int[blocks * ranks][ranks];
        for (int[] readers : emptied) {
            Arrays.fill(readers, -1);
        }
        int[] gemms = new int[ranks];
        for (int step = 0; step < steps; step++) {
            int block = step % blocks;
            long first = RowPlan.cut(n, step, steps);
            long width = RowPlan.size(n, step, steps);
            for (int r = 0; r < ranks; r++) {
                int slot = block * ranks + r;
                gemms[r] = writer.gemm(
                        r,
                        writer.computeLane(step),
                        step,
                        slabRows(strips[r], block * stripsBlock[r], 0, plan.held[r], width),
                        writer.operand(r, 0, plan.held[r]),
                        writer.weight(r).columnRange(first, width),
                        false,
                        emptied[slot]);
                if (gemms[r] >= 0) {
                    Arrays.fill(emptied[slot], -1);
                }
            }
            int[][] arrived = new int[ranks][ranks];
            for (int i = 1; i < ranks; i++) {
                for (int r = 0; r < ranks; r++) {
                    int d = (r + i) % ranks;
                    long rows = plan.rows[r][d];
                    BufferView target = landsInResult
                            ? landing(r, d, 0, rows).columnRange(first, width)
                            : slabLanding(r, d, first, width);
                    BufferView piece = slabRows(strips[r], block * stripsBlock[r], plan.from[r][d], rows, width);
                    int copy = writer.send(r, d, step, target, piece, gemms[r]);
                    arrived[d][r] = copy;
                    if (copy >= 0) {
                        emptied[block * ranks + r][d] = copy;
                    }
                }
            }
            for (int d = 0; d < ranks; d++) {
                long rows = plan.rows[d][d];
                BufferView own = slabRows(strips[d], block * stripsBlock[d], plan.from[d][d], rows, width);
                BufferView target = ownResult(d, 0, rows).columnRange(first, width);
                int done;
                if (reduces) {
                    arrived[d][d] = gemms[d];
                    done = sumSlab(d, step, first, width, target, own, arrived[d]);
                } else {
                    done = writer.scatter(d, step, target, own, gemms[d]);
                }
                if (done >= 0) {
                    emptied[block * ranks + d][d] = done;
                }
            }
        }
    }

    private BufferView slabRows(Slot slot, long base, long first, long count, long width) {
        return GraphWriter.rows(slot, base, first, count, width, type);
    }

    /** A slab's landing place: slabs of one source lie one after the other, each without gaps, so that a copy is one run of bytes. */
    private BufferView slabLanding(int s, int d, long first, long width) {
        long rows = plan.rows[s][d];
        return slabRows(inbox[d], strip(s, d) + rows * first * type.bytes(), 0, rows, width);
    }

    private int sumSlab(int d, int index, long first, long width, BufferView target, BufferView own, int... after) {
        List<BufferView> inputs = new ArrayList<>(ranks);
        for (int s = 0; s < ranks; s++) {
            inputs.add(s == d ? own : slabLanding(s, d, first, width));
        }
        int node = writer.reduce(d, index, target, inputs, after);
        for (int i = 1; i < ranks && allReduce; i++) {
            int peer = (d + i) % ranks;
            BufferView there =
                    writer.result(peer, plan.to[d][d], plan.rows[d][d]).columnRange(first, width);
            writer.sendResult(d, peer, index, there, target, node);
        }
        return node;
    }

    /** Everything else in one GEMM (two where the own block lies in the middle), then a GEMM over just enough own rows to cover the sending. */
    private void coverMerge() {
        Slot[] products = products();
        int[] before = new int[ranks];
        int[] behind = new int[ranks];
        int[] cover = new int[ranks];
        CoverSplit[] splits = new CoverSplit[ranks];
        for (int r = 0; r < ranks; r++) {
            CoverSplit split = CoverSplit.of(schedule.cover(), plan.from[r][r], plan.rows[r][r], plan.held[r]);
            splits[r] = split;
            long end = split.coverStart() + split.coverRows();
            before[r] = multiplyRange(r, 0, 0, products[r], 0, split.coverStart());
            behind[r] = multiplyRange(r, writer.computeLane(1), 1, products[r], end, plan.held[r] - end);
        }
        int[][] arrived = new int[ranks][ranks];
        for (int i = 1; i < ranks; i++) {
            for (int r = 0; r < ranks; r++) {
                int d = (r + i) % ranks;
                long rows = plan.rows[r][d];
                arrived[d][r] = writer.send(
                        r,
                        d,
                        0,
                        landing(r, d, 0, rows),
                        product(products[r], plan.from[r][d], rows),
                        d < r ? before[r] : behind[r]);
            }
        }
        for (int d = 0; d < ranks; d++) {
            CoverSplit split = splits[d];
            // The cover follows the GEMM of the own rest on its lane, so what waits for the cover waits for both.
            boolean restIsBefore = split.restStart() < split.coverStart();
            int lane = restIsBefore ? 0 : writer.computeLane(1);
            long ownStart = plan.from[d][d];
            long rows = plan.rows[d][d];
            if (reduces) {
                cover[d] = multiplyRange(d, lane, 2, products[d], split.coverStart(), split.coverRows());
                arrived[d][d] = cover[d];
                sum(d, 0, 0, rows, product(products[d], ownStart, rows), arrived[d]);
            } else {
                long coverFirst = split.coverStart() - ownStart;
                long restFirst = split.restStart() - ownStart;
                writer.gemm(
                        d,
                        lane,
                        2,
                        ownResult(d, coverFirst, split.coverRows()),
                        writer.operand(d, split.coverStart(), split.coverRows()),
                        writer.weight(d),
                        false);
                writer.scatter(
                        d,
                        0,
                        ownResult(d, restFirst, split.restRows()),
                        product(products[d], split.restStart(), split.restRows()),
                        restIsBefore ? before[d] : behind[d]);
            }
        }
    }

    private int multiplyRange(int r, int lane, int index, Slot product, long first, long count) {
        return writer.gemm(
                r,
                lane,
                index,
                product(product, first, count),
                writer.operand(r, first, count),
                writer.weight(r),
                false);
    }
}

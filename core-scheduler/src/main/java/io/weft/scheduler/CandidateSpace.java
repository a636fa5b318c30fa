// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;

/** The schedules worth weighing for a problem, simplest first, each once. */
final class CandidateSpace {
    /** Chunks below this are all overhead on every machine known: a copy of 64 KiB spends more than half of its time on not copying (MI300X, AMD-DMA-Latte PERFORMANCE.md). */
    private static final long SMALLEST_CHUNK = 64 << 10;

    private static final double[] COVERS = {0.25, 0.5, 0.75, 1};

    /** Steps in which a computed cover is rounded. */
    private static final double COVER_STEPS = 16;

    private final OverlapProblem problem;
    /** Rows and columns of the tile that GEMM libraries take for large products; pieces that fill whole waves of it waste no compute unit. */
    private static final long TILE_ROWS = 128;

    private static final long TILE_COLUMNS = 256;

    private final boolean copyEngines;
    private final int units;
    private final double cover;

    /**
     * @param copyEngines whether devices have engines that copy beside compute
     * @param units compute units of a device, 0 when unknown
     * @param cover share of the own rows whose GEMM takes as long as the communication; not finite or not positive when unknown
     */
    CandidateSpace(OverlapProblem problem, boolean copyEngines, int units, double cover) {
        this.problem = problem;
        this.copyEngines = copyEngines;
        this.units = units;
        this.cover = cover;
    }

    /** Where compute units are not known. */
    CandidateSpace(OverlapProblem problem, boolean copyEngines, double cover) {
        this(problem, copyEngines, 0, cover);
    }

    List<Schedule> schedules() {
        Set<Schedule> all = new LinkedHashSet<>();
        all.add(Schedule.serial());
        if (problem.ranks() == 1) {
            return List.copyOf(all);
        }
        if (copyEngines) {
            with(all, TransferEngine.COPY_ENGINE);
        }
        with(all, TransferEngine.KERNEL);
        return List.copyOf(all);
    }

    private void with(Set<Schedule> all, TransferEngine engine) {
        boolean twoPeers = problem.ranks() > 2;
        all.add(Schedule.serial().withEngine(engine));
        for (double share : covers()) {
            Schedule merge =
                    Schedule.of(Schedule.Kind.COVER_MERGE).withEngine(engine).withCover(share);
            all.add(merge);
            if (twoPeers) {
                all.add(merge.withStreams(2)); // Ranks in the middle have two GEMMs after the first.
            }
        }
        Schedule shards = Schedule.of(Schedule.Kind.SHARD_P2P).withEngine(engine);
        all.add(shards);
        all.add(shards.withStreams(2));
        for (int chunks : chunkCounts()) {
            if (chunks > 1) {
                // One step is the serial schedule with staging.
                chunked(all, Schedule.Kind.UNIFORM_FUSED_1D, engine, chunks, 2);
                chunked(all, Schedule.Kind.UNIFORM_FUSED_2D, engine, chunks, 1);
            }
            if (twoPeers) {
                chunked(all, Schedule.Kind.HETERO_FUSED_1D, engine, chunks, 2);
            }
            chunked(all, Schedule.Kind.HETERO_UNFUSED_1D, engine, chunks, 4);
        }
        if (problem.pattern().reduces()) {
            accumulating(all, engine, shards);
        }
    }

    /** The same that sum by accumulation into what has arrived, without a kernel. */
    private void accumulating(Set<Schedule> all, TransferEngine engine, Schedule shards) {
        all.add(shards.withReduction(Reduction.ACCUMULATE));
        for (int chunks : chunkCounts()) {
            if (chunks > 1) {
                all.add(Schedule.of(Schedule.Kind.HETERO_UNFUSED_1D)
                        .withEngine(engine)
                        .withChunks(chunks)
                        .withReduction(Reduction.ACCUMULATE));
            }
        }
    }

    private static void chunked(Set<Schedule> all, Schedule.Kind kind, TransferEngine engine, int chunks, int streams) {
        Schedule one = Schedule.of(kind).withEngine(engine).withChunks(chunks);
        all.add(one);
        if (streams > 1) {
            all.add(one.withStreams(streams));
        }
    }

    private Set<Integer> chunkCounts() {
        Set<Integer> counts = new TreeSet<>();
        for (int chunks : new int[] {1, 2, 4, 8, problem.ranks()}) {
            if (chunks <= 2 || chunkBytes(problem, chunks) >= SMALLEST_CHUNK) {
                counts.add(chunks);
            }
        }
        return counts;
    }

    /** Bytes of one chunk between two ranks: what one copy moves. */
    static double chunkBytes(OverlapProblem problem, int chunks) {
        double rows = (double) problem.m() / problem.ranks() / chunks;
        if (problem.pattern().exchanges()) {
            rows /= problem.ranks();
        }
        return problem.pattern().gathers()
                ? rows * problem.k() * problem.elementType().bytes()
                : rows * problem.n() * problem.outputType().bytes();
    }

    private List<Double> covers() {
        Set<Double> shares = new TreeSet<>();
        for (double share : COVERS) {
            shares.add(share);
        }
        if (cover > 0 && cover < 1) {
            shares.add(Math.ceil(cover * COVER_STEPS) / COVER_STEPS);
        }
        wholeWaves().ifPresent(shares::add);
        return new ArrayList<>(shares);
    }

    /** The share nearest to what covers the communication whose product fills whole waves, from below. */
    private OptionalDouble wholeWaves() {
        double rows = (double) problem.m() / problem.ranks();
        double wanted = Math.clamp(cover > 0 ? cover : Schedule.DEFAULT_COVER, 0, 1) * rows;
        long across = (problem.n() + TILE_COLUMNS - 1) / TILE_COLUMNS;
        double inWave = (double) units / across; // rows of tiles in a wave
        double waves = Math.ceil(wanted / TILE_ROWS / Math.max(inWave, 1e-9));
        double filled = Math.floor(waves * inWave) * TILE_ROWS;
        return units > 0 && filled >= TILE_ROWS && filled < rows
                ? OptionalDouble.of(filled / rows)
                : OptionalDouble.empty();
    }
}

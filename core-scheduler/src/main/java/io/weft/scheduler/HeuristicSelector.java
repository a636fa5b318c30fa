// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Chooses without simulating any schedule.
 *
 * <p>Where the platform's model knows what single commands cost, every schedule worth weighing gets the length of its longest path ({@link PathTimes}), and the shortest wins: nothing contends there, except that GEMMs fill the compute units one after
 * the other and copies share ports. Copies by kernel are weighed where whole shards travel only, and several streams only where pieces are small: beside many small GEMMs, both slow down in ways that a path does not show.
 *
 * <p>Elsewhere it chooses by sizes and machine properties alone: operations per byte (OTB = 2MNK / bytes), memory traffic (MT = MK + NK + MN), M against K, and thresholds that follow from the machine.
 *
 * <ol>
 *   <li>Serial when chunks would fall under 1 MB (a copy of 1 MB spends 21 % of its time on not copying, one of 2 MB 11 %; MI300X, AMD-DMA-Latte PERFORMANCE.md), when OTB is below the machine's balance (pieces of a
 *       memory-bound GEMM read the weight again), or when the predicted gain is below the noise.
 *   <li>Cover-merge when the own block's GEMM takes longer than the communication: nothing else decomposes less.
 *   <li>Shard-p2p where devices meet at a switch: one peer at a time gets the whole port, so finer steps win no bandwidth.
 *   <li>M below K where A is gathered, and K long enough to pay for the accumulator: uniform-fused-2D, which keeps M whole. Where the product travels, slabs are cut along N instead, which costs neither an accumulator nor local
 *       copies: uniform-fused-2D whenever slabs are wide enough.
 *   <li>Otherwise by size, OTB x MT, which is the number of operations, seen as waves of tiles over the compute units: large where the pieces of a few streams fill a wave: hetero-unfused-1D, which copies nothing twice; small where
 *       not even 1/P of the rows does: uniform-fused-1D, the largest pieces; hetero-fused-1D between.
 * </ol>
 *
 * <p>Figures of the choice are added from the platform's model where it has one.
 */
public final class HeuristicSelector implements Selector {
    private static final double SMALLEST_CHUNK = 1e6;
    private static final double GOOD_CHUNK = 2e6;
    private static final double NOISE = 0.03;
    private static final int UNFUSED_STREAMS = 4;
    private static final double COVER_STEPS = 8;
    /** Columns from which a slab of the product is as good to multiply as the whole: two of the largest tiles. */
    private static final double WIDE_SLAB = 512;
    /**
     * K over chunks times balance from which reading and writing the fp32 accumulator once a step costs under a tenth of the GEMM: 8 M N bytes a step against 2 M N K operations, 4 chunks balance / K &lt; 0.1.
     */
    private static final double ACCUMULATOR_SHARE = 40;

    private final MachineFacts facts;
    private final Optional<PerformanceModel> model;
    private final PerformanceModel.Issue issue;
    private final Platform platform;
    /** How much the pairs of so many devices share, by their number. */
    private final Map<Integer, Double> sharing = new ConcurrentHashMap<>();

    /** Rules for the devices of a platform. */
    public HeuristicSelector(Platform platform) {
        this(platform, platform.extension(PerformanceModel.class));
    }

    /** With a model that may be absent. */
    HeuristicSelector(Platform platform, Optional<PerformanceModel> model) {
        this.platform = platform;
        this.facts = new MachineFacts(platform);
        this.model = model;
        this.issue = ModelSelector.issue(platform);
    }

    private record Verdict(Schedule choice, Schedule second, double gain, String reason) {}

    @Override
    public String name() {
        return "heuristic";
    }

    @Override
    public Selection select(OverlapProblem problem) {
        Verdict verdict = verdict(problem);
        List<Selection.Candidate> candidates = new ArrayList<>();
        Optional<OverlapMetrics> metrics = Optional.empty();
        if (model.isPresent()) {
            Baseline baseline = Baseline.of(problem, model.get(), issue);
            LoweredSchedule lowered = Lowering.lower(problem, verdict.choice());
            OverlapMetrics figures = OverlapMetrics.of(
                    lowered,
                    model.get().estimate(lowered.graph(), issue, PerformanceModel.Detail.SUMMARY),
                    model.get(),
                    baseline);
            metrics = Optional.of(figures);
            candidates.add(new Selection.Candidate(verdict.choice(), figures.us(), figures.speedup()));
            if (verdict.choice().kind() != Schedule.Kind.SERIAL) {
                candidates.add(new Selection.Candidate(Schedule.serial(), figures.serialUs(), 1));
            }
        } else {
            double serial = serialNanos(problem) / 1e3;
            candidates.add(new Selection.Candidate(verdict.choice(), serial / verdict.gain(), verdict.gain()));
            if (verdict.choice().kind() != Schedule.Kind.SERIAL) {
                candidates.add(new Selection.Candidate(Schedule.serial(), serial, 1));
            }
        }
        candidates.sort(java.util.Comparator.comparingDouble(Selection.Candidate::us));
        return new Selection(
                problem,
                verdict.choice(),
                Optional.ofNullable(verdict.second()),
                verdict.reason(),
                candidates,
                metrics);
    }

    /** The choice alone, without the figures that a {@link Selection} adds. */
    public Schedule choose(OverlapProblem problem) {
        return verdict(problem).choice();
    }

    private Verdict verdict(OverlapProblem problem) {
        return model.isPresent() && problem.ranks() > 1 ? shortest(problem, model.get()) : decide(problem);
    }

    /** The schedule with the shortest longest path; serial when that gains next to nothing. */
    private Verdict shortest(OverlapProblem problem, PerformanceModel costs) {
        double shared = sharing.computeIfAbsent(problem.ranks(), ranks -> PathTimes.sharing(costs, ranks));
        PathTimes paths = new PathTimes(costs, platform.topology(), problem.ranks(), shared);
        double serial = paths.nanos(Lowering.lower(problem, Schedule.serial()));
        Schedule best = Schedule.serial();
        double shortest = serial;
        Schedule second = null;
        double next = Double.POSITIVE_INFINITY;
        List<Schedule> schedules = new CandidateSpace(
                        problem,
                        facts.copyEngines(),
                        facts.computeUnits(),
                        commNanos(problem, 1) / (gemmNanos(problem) / problem.ranks()))
                .schedules().stream().filter(this::weighed).toList();
        double[] lengths = new double[schedules.size()];
        // Paths do not depend on one another, so walking them side by side changes no figure.
        IntStream.range(0, lengths.length)
                .parallel()
                .forEach(i -> lengths[i] = paths.nanos(Lowering.lower(problem, schedules.get(i))));
        for (int i = 0; i < lengths.length; i++) {
            Schedule schedule = schedules.get(i);
            double nanos = lengths[i];
            if (nanos < shortest) {
                if (schedule.kind() != best.kind()) {
                    second = best;
                    next = shortest;
                }
                best = schedule;
                shortest = nanos;
            } else if (nanos < next && schedule.kind() != best.kind()) {
                second = schedule;
                next = nanos;
            }
        }
        String reason = String.format(
                Locale.ROOT,
                "%s: its longest path takes %.1f us, serial's %.1f us%s; %s",
                best,
                shortest / 1e3,
                serial / 1e3,
                second == null ? "" : String.format(Locale.ROOT, ", that of %s %.1f us", second, next / 1e3),
                sizes(problem));
        if (serial / shortest < 1 + ModelSelector.NOISE) {
            return new Verdict(Schedule.serial(), best.kind() == Schedule.Kind.SERIAL ? second : best, 1, reason);
        }
        return new Verdict(best, second, serial / shortest, reason);
    }

    private boolean weighed(Schedule schedule) {
        boolean kernel = schedule.engine() == TransferEngine.KERNEL && facts.copyEngines();
        boolean whole = schedule.kind() == Schedule.Kind.SERIAL || schedule.kind() == Schedule.Kind.SHARD_P2P;
        return !(kernel && !whole) && !(schedule.kind().isChunked() && schedule.streams() == 2);
    }

    private String sizes(OverlapProblem problem) {
        double m = problem.largestRows();
        double n = problem.n();
        double k = problem.k();
        double traffic = m * k + n * k + m * n;
        return String.format(
                Locale.ROOT,
                "%.0f operations per byte (balance %.0f), memory traffic %.0f M elements",
                2 * m * n * k / (traffic * problem.elementType().bytes()),
                facts.balance(problem.elementType()),
                traffic / 1e6);
    }

    private double gemmNanos(OverlapProblem problem) {
        return facts.gemmNanos(
                1, (double) problem.largestRows(), (double) problem.n(), (double) problem.k(), problem.elementType());
    }

    private double commNanos(OverlapProblem problem, int chunks) {
        double phases = problem.pattern() == Pattern.GEMM_ALL_REDUCE ? 2 : 1;
        double skewed = 1 + problem.skew();
        return phases * facts.exchangeNanos(problem.ranks(), skewed * CandidateSpace.chunkBytes(problem, 1), chunks);
    }

    private double serialNanos(OverlapProblem problem) {
        return gemmNanos(problem) + commNanos(problem, 1);
    }

    private Verdict decide(OverlapProblem problem) {
        int ranks = problem.ranks();
        if (ranks == 1) {
            return serial(null, "one rank has nothing to communicate");
        }
        double m = problem.largestRows();
        double n = problem.n();
        double k = problem.k();
        double traffic = m * k + n * k + m * n;
        double otb = 2 * m * n * k / (traffic * problem.elementType().bytes());
        double balance = facts.balance(problem.elementType());
        double gemm = gemmNanos(problem);
        double comm = commNanos(problem, 1);
        double ownGemm = gemm / ranks;
        TransferEngine engine = facts.copyEngines() ? TransferEngine.COPY_ENGINE : TransferEngine.KERNEL;
        String sizes = String.format(
                Locale.ROOT,
                "%s, about %.0f us of GEMM and %.0f us of communication",
                sizes(problem),
                gemm / 1e3,
                comm / 1e3);
        if (otb < balance) {
            return serial(
                    null, "serial: the GEMM is bound by memory, and every piece would read the weight again; " + sizes);
        }
        if (comm <= ownGemm) {
            double cover = Math.clamp(Math.ceil(comm / ownGemm * COVER_STEPS) / COVER_STEPS, 1 / COVER_STEPS, 1);
            Schedule merge = Schedule.of(Schedule.Kind.COVER_MERGE)
                    .withEngine(engine)
                    .withCover(cover)
                    .withStreams(ranks > 2 ? 2 : 1); // Ranks in the middle have two GEMMs after the first.
            // Two pieces where the own block lies at an end and three elsewhere; the communication is hidden.
            double pieces = facts.gemmNanos(1, m / ranks * cover, n, k, problem.elementType())
                    + facts.gemmNanos(1, m - m / ranks * cover, n, k, problem.elementType());
            return weigh(
                    merge,
                    Schedule.of(Schedule.Kind.HETERO_FUSED_1D)
                            .withEngine(engine)
                            .withChunks(2),
                    (gemm + comm) / pieces,
                    String.format(
                            Locale.ROOT,
                            "cover-merge: %.0f %% of the own rows take as long as the communication; %s",
                            100 * cover,
                            sizes));
        }
        if (facts.sharedPorts()) {
            // Nothing is won by copying from all peers at once, and whole shards are the largest pieces.
            Schedule shards =
                    Schedule.of(Schedule.Kind.SHARD_P2P).withEngine(engine).withStreams(2);
            double pieces = ranks * facts.pieceNanos(2, m / ranks, n, k, problem.elementType());
            return weigh(
                    shards,
                    Schedule.of(Schedule.Kind.HETERO_UNFUSED_1D)
                            .withEngine(engine)
                            .withChunks(2)
                            .withStreams(UNFUSED_STREAMS),
                    (gemm + comm) / (Math.max(pieces, comm) + Math.min(pieces, comm) / ranks),
                    "shard-p2p: one peer at a time has the whole bandwidth of the port; " + sizes);
        }
        int chunks = chunks(problem);
        if (chunks < 2) {
            return serial(
                    Schedule.of(Schedule.Kind.SHARD_P2P).withEngine(engine),
                    String.format(
                            Locale.ROOT,
                            "serial: half a block is %.2f MB, and copies under 1 MB are mostly overhead; %s",
                            CandidateSpace.chunkBytes(problem, 2) / 1e6,
                            sizes));
        }
        double stepWaves = facts.waves(m / ranks, n);
        int fine = chunks;
        while (fine > 2 && UNFUSED_STREAMS * facts.waves(m / ranks / fine, n) < 1) {
            fine = fine > 4 ? 4 : 2;
        }
        double pieceWaves = UNFUSED_STREAMS * facts.waves(m / ranks / fine, n);
        Schedule.Kind kind;
        String why;
        if (!problem.pattern().gathers() && n / chunks >= WIDE_SLAB) {
            kind = Schedule.Kind.UNIFORM_FUSED_2D;
            why = String.format(
                    Locale.ROOT,
                    "slabs of %.0f columns of the product keep M whole and need no local copies",
                    n / chunks);
        } else if (problem.pattern().gathers() && m < k && k > ACCUMULATOR_SHARE * chunks * balance) {
            kind = Schedule.Kind.UNIFORM_FUSED_2D;
            why = String.format(
                    Locale.ROOT,
                    "M %.0f is below K %.0f, slabs of K keep M whole, and K is long enough to pay for the accumulator",
                    m,
                    k);
        } else if (pieceWaves >= 1) {
            chunks = fine;
            kind = Schedule.Kind.HETERO_UNFUSED_1D;
            why = String.format(
                    Locale.ROOT,
                    "large: %d pieces of 1/%d of the rows fill %.1f waves of tiles",
                    UNFUSED_STREAMS,
                    ranks * chunks,
                    pieceWaves);
        } else if (stepWaves < 1) {
            kind = Schedule.Kind.UNIFORM_FUSED_1D;
            why = String.format(Locale.ROOT, "small: 1/%d of the rows fills %.2f waves of tiles", ranks, stepWaves);
        } else {
            kind = Schedule.Kind.HETERO_FUSED_1D;
            why = String.format(
                    Locale.ROOT,
                    "between: 1/%d of the rows fills %.1f waves of tiles, %d pieces of 1/%d fill %.2f",
                    ranks,
                    stepWaves,
                    UNFUSED_STREAMS,
                    ranks * fine,
                    pieceWaves);
        }
        Schedule choice = Schedule.of(kind)
                .withEngine(engine)
                .withChunks(chunks)
                .withStreams(kind == Schedule.Kind.HETERO_UNFUSED_1D ? UNFUSED_STREAMS : 1);
        double pieces = pieces(problem, kind, chunks, m);
        // What cannot overlap: the first step's communication, or the last GEMM.
        double longer = Math.max(pieces, commNanos(problem, chunks));
        double exposed = Math.min(pieces, comm) / chunks;
        Schedule.Kind other =
                kind == Schedule.Kind.HETERO_FUSED_1D ? Schedule.Kind.HETERO_UNFUSED_1D : Schedule.Kind.HETERO_FUSED_1D;
        return weigh(
                choice,
                Schedule.of(other).withEngine(engine).withChunks(chunks),
                (gemm + comm) / (longer + exposed),
                kind + ": " + why + "; " + sizes);
    }

    /** All GEMMs of a chunked schedule on one device, ns. */
    private double pieces(OverlapProblem problem, Schedule.Kind kind, int chunks, double m) {
        int ranks = problem.ranks();
        double n = problem.n();
        double k = problem.k();
        ElementType type = problem.elementType();
        return switch (kind) {
            case UNIFORM_FUSED_2D ->
                problem.pattern().gathers()
                        ? chunks * facts.gemmNanos(1, m, n, k / chunks, type)
                        : chunks * facts.gemmNanos(1, m, n / chunks, k, type);
            case UNIFORM_FUSED_1D -> chunks * facts.gemmNanos(1, m / chunks, n, k, type);
            case HETERO_UNFUSED_1D -> {
                double remote = (double) chunks * (ranks - 1);
                yield facts.gemmNanos(1, m / ranks, n, k, type)
                        + remote * facts.pieceNanos(UNFUSED_STREAMS, m / ranks / chunks, n, k, type);
            }
            default ->
                facts.gemmNanos(1, m / ranks, n, k, type)
                        + chunks * facts.gemmNanos(1, m * (ranks - 1) / ranks / chunks, n, k, type);
        };
    }

    private static int chunks(OverlapProblem problem) {
        for (int chunks : new int[] {problem.ranks(), 4, 2}) {
            if (chunks <= problem.ranks() && CandidateSpace.chunkBytes(problem, chunks) >= GOOD_CHUNK) {
                return chunks;
            }
        }
        return CandidateSpace.chunkBytes(problem, 2) >= SMALLEST_CHUNK ? 2 : 1;
    }

    /** Serial by direct copies where there are copy engines: no collective beats one copy for each pair side by side. */
    private Verdict serial(Schedule second, String reason) {
        Schedule serial =
                facts.copyEngines() ? Schedule.serial().withEngine(TransferEngine.COPY_ENGINE) : Schedule.serial();
        return new Verdict(serial, second, 1, reason);
    }

    private Verdict weigh(Schedule choice, Schedule second, double gain, String reason) {
        if (gain < 1 + NOISE) {
            return serial(
                    choice,
                    String.format(
                            Locale.ROOT,
                            "serial: %s would gain %.1f %%, below the noise of %.0f %%; %s",
                            choice,
                            100 * (gain - 1),
                            100 * NOISE,
                            reason));
        }
        return new Verdict(choice, second, gain, reason);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.scheduler.HeuristicSelector;
import io.weft.scheduler.ModelSelector;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.DoubleStream;

/**
 * How good the rules are: the share of problems in which they choose the kind that the exhaustive search finds best on the model (hits), and the time lost against that best (regret). Told apart for well-known tensor-parallel shapes, for the
 * sixteen GEMMs of the FiCCO paper with N over the ranks, and for 500 random ones that no rule was written with: their seed was drawn when the rules were finished. The exhaustive search loses nothing by construction: regret is what the
 * rules leave on the table.
 *
 * <p>A row of each problem is printed as it comes, in the form of CSV; lines that begin with {@code #} sum up.
 */
public final class SelectorAccuracy {
    /** N over all ranks and K of gate/up and QKV of well-known models, in thousands of tokens 1 to 32. */
    private static final long[][] SEEN = {
        {10240, 8192},
        {57344, 8192},
        {11008, 4096},
        {14336, 4096},
        {28672, 8192},
        {53248, 16384},
        {29568, 8192},
        {20480, 5120}
    };

    private static final long[] SEEN_ROWS = {1024, 4096, 8192, 32768};

    /** M, N, K of g1 to g16 (ROCm/iris, benchmark/ops/sweep_bench.py). */
    static final long[][] PAPER = {
        {16384, 16384, 131072}, {131072, 16384, 16384}, {53248, 16384, 131072}, {16384, 53248, 16384},
        {8192, 8192, 262144}, {262144, 8192, 8192}, {28672, 8192, 262144}, {262144, 28672, 8192},
        {196608, 18432, 16384}, {196608, 106496, 16384}, {1048576, 10240, 8192}, {1048576, 57344, 8192},
        {1607680, 57344, 8192}, {147456, 28672, 4096}, {327680, 28672, 4096}, {229376, 28672, 4096}
    };

    /** Not the seed of the shapes that were looked at while the rules were written, which was 20261129. */
    private static final long SEED = 20261130;

    private static final int RANDOM = 500;
    /** A loss that nobody would notice: as much as one large GEMM varies from run to run. */
    private static final double SMALL = 0.02;

    private SelectorAccuracy() {}

    /** Platforms to look at, such as {@code sim:mesh-8}. */
    public static void main(String[] platforms) {
        System.out.println("platform,set,problem,best,chosen,lost_percent,search_ms,rules_ms");
        for (String uri : platforms) {
            try (Platform platform = Accelerators.discover().open(uri)) {
                int ranks = platform.devices().size();
                report(platform, "paper", paper(ranks));
                report(platform, "random", random(ranks));
                report(platform, "models", seen(ranks));
            }
        }
    }

    private static List<OverlapProblem> seen(int ranks) {
        List<OverlapProblem> problems = new ArrayList<>();
        for (Pattern pattern : Pattern.values()) {
            for (long[] shape : SEEN) {
                for (long rows : SEEN_ROWS) {
                    long split = shape[0] / ranks;
                    problems.add(
                            pattern.gathers()
                                    ? OverlapProblem.of(pattern, rows, split, shape[1], ElementType.BF16, ranks)
                                    : OverlapProblem.of(pattern, rows, shape[1], split, ElementType.BF16, ranks));
                }
            }
        }
        return problems;
    }

    private static List<OverlapProblem> paper(int ranks) {
        List<OverlapProblem> problems = new ArrayList<>();
        for (long[] shape : PAPER) {
            problems.add(OverlapProblem.of(
                    Pattern.ALL_GATHER_GEMM, shape[0], shape[1] / ranks, shape[2], ElementType.BF16, ranks));
        }
        return problems;
    }

    /** Rows of 512 to 256 Ki, hidden sizes of 1 to 16 Ki, all patterns; the same for everybody. */
    private static List<OverlapProblem> random(int ranks) {
        Random random = new Random(SEED);
        List<OverlapProblem> problems = new ArrayList<>();
        List<Pattern> patterns = List.of(Pattern.values());
        for (int i = 0; i < RANDOM; i++) {
            Pattern pattern = patterns.get(i % patterns.size());
            long rows = (long) (512 * Math.pow(512, random.nextDouble())) / ranks * ranks;
            long hidden = 64L * (16 + random.nextInt(240));
            long split = 16L * (4 + random.nextInt((int) (hidden * 4 / ranks / 16)));
            problems.add(
                    pattern.gathers()
                            ? OverlapProblem.of(pattern, rows, split, hidden, ElementType.BF16, ranks)
                            : OverlapProblem.of(pattern, rows, hidden, split, ElementType.BF16, ranks));
        }
        return problems;
    }

    /**
     * One problem.
     *
     * @param hit whether the rules chose the kind of the best
     * @param lost time of their choice over the best, less 1
     * @param searchMillis what the exhaustive search took
     * @param rulesMillis what the rules took, without the figures that a selection adds
     */
    private record Row(OverlapProblem problem, boolean hit, double lost, double searchMillis, double rulesMillis) {}

    private static Row row(
            Platform platform, String what, ModelSelector model, HeuristicSelector rules, OverlapProblem problem) {
        long begin = System.nanoTime();
        Schedule best = model.select(problem).choice();
        long middle = System.nanoTime();
        Schedule chosen = rules.choose(problem);
        long end = System.nanoTime();
        double lost = chosen.equals(best)
                ? 0
                : model.metrics(problem, chosen).us()
                                / model.metrics(problem, best).us()
                        - 1;
        Row row = new Row(problem, chosen.kind() == best.kind(), lost, (middle - begin) / 1e6, (end - middle) / 1e6);
        System.out.printf(
                Locale.ROOT,
                "%s,%s,\"%s\",\"%s\",\"%s\",%.2f,%.1f,%.1f%n",
                platform.uri(),
                what,
                problem,
                best,
                chosen,
                100 * lost,
                row.searchMillis(),
                row.rulesMillis());
        return row;
    }

    private static void report(Platform platform, String what, List<OverlapProblem> problems) {
        ModelSelector model = new ModelSelector(platform);
        HeuristicSelector rules = new HeuristicSelector(platform);
        List<Row> rows = new ArrayList<>();
        for (OverlapProblem problem : problems) {
            try {
                rows.add(row(platform, what, model, rules, problem));
            } catch (AcceleratorException refusal) {
                if (refusal.code() != ErrorCode.OUT_OF_MEMORY) {
                    throw refusal;
                }
                System.out.println("# left out, " + problem + ": " + refusal.getMessage());
            }
        }
        Row worst = rows.stream().max(Comparator.comparingDouble(Row::lost)).orElseThrow();
        System.out.printf(
                Locale.ROOT,
                "# %s %s: %d problems, kind hit %.0f %%, mean regret %.1f %% (%.1f %% where the kind is missed), %.0f %% within %.0f %%, worst %.1f %% (%s); median %.1f ms a search, %.1f ms by rules%n",
                platform.uri(),
                what,
                rows.size(),
                100.0 * rows.stream().filter(Row::hit).count() / rows.size(),
                100 * rows.stream().mapToDouble(Row::lost).average().orElse(0),
                100
                        * rows.stream()
                                .filter(row -> !row.hit())
                                .mapToDouble(Row::lost)
                                .average()
                                .orElse(0),
                100.0 * rows.stream().filter(row -> row.lost() <= SMALL).count() / rows.size(),
                100 * SMALL,
                100 * worst.lost(),
                worst.problem(),
                median(rows.stream().mapToDouble(Row::searchMillis)),
                median(rows.stream().mapToDouble(Row::rulesMillis)));
    }

    private static double median(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        return sorted[sorted.length / 2];
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.scheduler;

import io.weft.api.Accelerators;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.scheduler.HeuristicSelector;
import io.weft.scheduler.ModelSelector;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * How good the rules are: the share of problems in which they choose the kind that the exhaustive search finds best on the model (hits), and the time lost against that best (regret, mean and worst). Printed apart for well-known tensor-parallel
 * shapes, for the sixteen GEMMs of the FiCCO paper with N over the ranks, and for 500 random ones; no rule was written with the latter two. The exhaustive search loses nothing by construction: regret is what the rules leave on the table.
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

    private static final long SEED = 20261129;
    private static final int RANDOM = 500;

    private SelectorAccuracy() {}

    /** Platforms to look at, such as {@code sim:mesh-8}. */
    public static void main(String[] platforms) {
        for (String uri : platforms) {
            try (Platform platform = Accelerators.discover().open(uri)) {
                int ranks = platform.devices().size();
                report(platform, "models", seen(ranks));
                report(platform, "paper", paper(ranks));
                report(platform, "random", random(ranks));
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

    private static void report(Platform platform, String what, List<OverlapProblem> problems) {
        ModelSelector model = new ModelSelector(platform);
        HeuristicSelector rules = new HeuristicSelector(platform);
        int hits = 0;
        double regret = 0;
        double worst = 0;
        OverlapProblem worstProblem = problems.getFirst();
        for (OverlapProblem problem : problems) {
            Schedule best = model.select(problem).choice();
            Schedule chosen = rules.select(problem).choice();
            double lost = model.metrics(problem, chosen).us()
                            / model.metrics(problem, best).us()
                    - 1;
            hits += chosen.kind() == best.kind() ? 1 : 0;
            regret += lost;
            if (lost > worst) {
                worst = lost;
                worstProblem = problem;
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%s %s: %d problems, kind hit %.0f %%, mean regret %.1f %%, worst %.1f %% (%s)%n",
                platform.uri(),
                what,
                problems.size(),
                100.0 * hits / problems.size(),
                100 * regret / problems.size(),
                100 * worst,
                worstProblem);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * The times of one thing that was run again and again, microseconds. Things to be compared are run in turn, one run each and round after round, so that clocks, temperature and power limits that drift touch all of them alike. Immutable.
 *
 * @param us the counted runs, in their order
 * @param issueUs host time of the calls of each
 */
public record Repetitions(List<Double> us, List<Double> issueUs) {
    /** Rounds before anything counts: clocks rise and caches of libraries fill in the first few. */
    public static final int WARM_UP = 3;

    private static final double NANOS_PER_MICRO = 1e3;

    public Repetitions {
        us = List.copyOf(us);
        issueUs = List.copyOf(issueUs);
        if (us.isEmpty() || us.size() != issueUs.size()) {
            throw new IllegalArgumentException("repetitions need at least one time, and as many issue times");
        }
    }

    /**
     * Runs all in turn.
     *
     * @param runs what one run of each is
     * @param rounds counted rounds, 1 or more
     * @param progress called after each run
     */
    public static List<Repetitions> inTurn(
            List<? extends Supplier<GraphTimer.Sample>> runs, int warmUp, int rounds, Runnable progress) {
        return inTurn(runs, warmUp, rounds, progress, round -> {});
    }

    /**
     * Runs all in turn, and something else after them in each round.
     *
     * @param runs what one run of each is
     * @param rounds counted rounds, 1 or more
     * @param progress called after each run
     * @param after called at the end of each round with its number; counted ones begin at 0
     */
    public static List<Repetitions> inTurn(
            List<? extends Supplier<GraphTimer.Sample>> runs,
            int warmUp,
            int rounds,
            Runnable progress,
            IntConsumer after) {
        double[][] us = new double[runs.size()][rounds];
        double[][] issue = new double[runs.size()][rounds];
        for (int round = -warmUp; round < rounds; round++) {
            for (int i = 0; i < us.length; i++) {
                GraphTimer.Sample sample = runs.get(i).get();
                if (round >= 0) {
                    us[i][round] = sample.nanos() / NANOS_PER_MICRO;
                    issue[i][round] = sample.issueNanos() / NANOS_PER_MICRO;
                }
                progress.run();
            }
            after.accept(round);
        }
        return java.util.stream.IntStream.range(0, us.length)
                .mapToObj(i -> new Repetitions(
                        Arrays.stream(us[i]).boxed().toList(),
                        Arrays.stream(issue[i]).boxed().toList()))
                .toList();
    }

    /** Middle time, us. */
    public double median() {
        return quantile(us, 0.5);
    }

    /** Middle host time of the calls, us. */
    public double issueMedian() {
        return quantile(issueUs, 0.5);
    }

    /** Shortest time, us. */
    public double least() {
        return quantile(us, 0);
    }

    /** Longest time, us. */
    public double most() {
        return quantile(us, 1);
    }

    /** Distance between the quarters over the median: how much the middle half of the runs varies. */
    public double spread() {
        double median = median();
        return median > 0 ? (quantile(us, 0.75) - quantile(us, 0.25)) / median : 0;
    }

    private static double quantile(List<Double> values, double share) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        double at = share * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }
}

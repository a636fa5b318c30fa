// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.calibrate;

import io.weft.sim.machine.Machine;
import io.weft.sim.model.GraphEstimator;
import io.weft.spi.ModelFitter.Measurement;
import io.weft.spi.PerformanceModel;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Fits some numbers of a machine to some measurements: the sum of the squared logarithms of predicted over measured time, softened for outliers, is made small.
 *
 * <p>Times are sums, largest and smallest of terms that are linear in the numbers (latencies) or in their reciprocals (bandwidths, efficiencies). So damped Gauss-Newton steps with differences find latencies and bandwidths, which go together, in a
 * few steps. Which tile the model takes, and which of two roofs binds, changes with the numbers; a scan over each number in turn, then a golden section, gets out of where the steps end. Both are repeated until nothing gains. No random
 * numbers, so the same measurements give the same machine.
 */
final class StageFit {
    private static final int ROUNDS = 8;
    private static final int STEPS = 12;
    private static final int DAMPINGS = 8;
    private static final double ENOUGH = 1e-13;

    /** Factors at which a scan looks, around the present value. */
    private static final double[] SCAN = {0.5, 0.65, 0.78, 0.85, 0.9, 0.94, 0.97, 1.03, 1.06, 1.1, 1.16, 1.27, 1.5, 2};

    private static final int SECTIONS = 24;
    private static final int[] NEIGHBOURS = {1, -1, 4, -4};

    /** Errors beyond this count less than by their square. */
    private static final double SOFT = 0.03;

    private static final double LEAST_WEIGHT = 0.2;
    private static final double FULL_WEIGHT_NANOS = 1e5;
    private static final double GOLDEN = 0.6180339887498949;

    private final List<Measurement> measurements;

    StageFit(List<Measurement> measurements) {
        this.measurements = measurements;
    }

    /** What the machine predicts for each measurement, ns; at the pace of those that took turns with it, where there are some. */
    static double[] predict(Machine machine, List<Measurement> measurements) {
        GraphEstimator estimator = new GraphEstimator(machine);
        IdentityHashMap<List<Measurement>, Double> paces = new IdentityHashMap<>();
        double[] nanos = new double[measurements.size()];
        for (int i = 0; i < nanos.length; i++) {
            Measurement measurement = measurements.get(i);
            nanos[i] = nanos(estimator, measurement)
                    * paces.computeIfAbsent(measurement.beside(), beside -> pace(estimator, beside));
        }
        return nanos;
    }

    private static double nanos(GraphEstimator estimator, Measurement measurement) {
        return estimator
                .estimate(measurement.graph(), PerformanceModel.Issue.DEVICE_GRAPH, PerformanceModel.Detail.SUMMARY)
                .makespanNanos();
    }

    /** The middle of measured over predicted time. */
    private static double pace(GraphEstimator estimator, List<Measurement> beside) {
        double[] ratios = beside.stream()
                .mapToDouble(other -> other.nanos() / Math.max(1, nanos(estimator, other)))
                .sorted()
                .toArray();
        int half = ratios.length / 2;
        return ratios.length == 0 ? 1 : ratios.length % 2 == 1 ? ratios[half] : (ratios[half - 1] + ratios[half]) / 2;
    }

    private double[] residuals(Machine machine) {
        double[] residuals = predict(machine, measurements);
        for (int i = 0; i < residuals.length; i++) {
            double measured = Math.max(measurements.get(i).nanos(), 1);
            residuals[i] = weight(measured) * soft(Math.log(Math.max(residuals[i], 1) / measured));
        }
        return residuals;
    }

    /** Short times are mostly launch and noise. */
    private static double weight(double nanos) {
        return Math.sqrt(Math.min(1, LEAST_WEIGHT + nanos / FULL_WEIGHT_NANOS));
    }

    /** Grows like its argument while that is small and like its root beyond, so that one time which no model explains does not bend all others (a pseudo-Huber loss, once squared). */
    private static double soft(double error) {
        double scaled = error / SOFT;
        return Math.copySign(SOFT * Math.sqrt(2 * (Math.sqrt(1 + scaled * scaled) - 1)), error);
    }

    private static double sum(double[] residuals) {
        double sum = 0;
        for (double residual : residuals) {
            sum += residual * residual;
        }
        return sum;
    }

    private double cost(Machine machine) {
        return sum(residuals(machine));
    }

    /** Whether any measurement depends on a number where it stands. */
    boolean sees(Machine machine, FreeNumber number) {
        double[] here = residuals(machine);
        double value = number.value(machine);
        double step = Math.max(Math.abs(value), number.scale()) * 0.1;
        for (double other : new double[] {value + step, value - step}) {
            double[] there = residuals(number.with(machine, other));
            for (int i = 0; i < here.length; i++) {
                if (Math.abs(there[i] - here[i]) > 1e-6) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether the measurements decide a number where it stands: predictions change whichever way it moves. Otherwise they say no more than that it is not larger, or not smaller. */
    boolean decides(Machine machine, FreeNumber number) {
        double[] here = residuals(machine);
        double value = number.value(machine);
        double step = Math.max(Math.abs(value), number.scale()) * 0.1;
        boolean moves = false;
        for (double other : new double[] {value + step, value - step}) {
            Machine moved = number.with(machine, other);
            if (number.value(moved) == value) {
                continue; // at its bound
            }
            moves = true;
            double[] there = residuals(moved);
            boolean changes = false;
            for (int i = 0; i < here.length; i++) {
                changes |= Math.abs(there[i] - here[i]) > 1e-6;
            }
            if (!changes) {
                return false;
            }
        }
        return moves;
    }

    Machine fit(Machine start, List<FreeNumber> numbers) {
        Machine best = start;
        double cost = cost(best);
        for (int round = 0; round < ROUNDS && cost > ENOUGH; round++) {
            double before = cost;
            best = steps(best, numbers);
            for (FreeNumber number : numbers) {
                best = scan(best, number);
            }
            for (FreeNumber number : numbers) {
                best = number.smooth() ? best : beside(best, number, numbers);
            }
            cost = cost(best);
            if (cost > before * (1 - 1e-4)) {
                break;
            }
        }
        return best;
    }

    // Gauss-Newton.

    private Machine steps(Machine start, List<FreeNumber> all) {
        List<FreeNumber> numbers = all.stream().filter(FreeNumber::smooth).toList();
        Machine best = start;
        double damping = 1e-3;
        for (int step = 0; step < STEPS && !numbers.isEmpty(); step++) {
            double[] residuals = residuals(best);
            double cost = sum(residuals);
            if (cost <= ENOUGH) {
                return best;
            }
            double[] scales = new double[numbers.size()];
            double[][] slopes = new double[numbers.size()][];
            Machine here = best;
            // Each is an evaluation of its own, so doing them side by side changes no figure.
            IntStream.range(0, scales.length).parallel().forEach(j -> {
                FreeNumber number = numbers.get(j);
                scales[j] = Math.max(Math.abs(number.value(here)), number.scale());
                slopes[j] = slope(here, number, residuals, scales[j]);
            });
            boolean gained = false;
            for (int attempt = 0; attempt < DAMPINGS && !gained; attempt++) {
                double[] change = solve(slopes, residuals, damping);
                Machine next = best;
                for (int j = 0; j < change.length; j++) {
                    FreeNumber number = numbers.get(j);
                    double limited = Math.clamp(change[j], -0.5, 1.0);
                    next = number.with(next, number.value(best) + limited * scales[j]);
                }
                double there = cost(next);
                if (there < cost) {
                    gained = cost - there > cost * 1e-6;
                    best = next;
                    damping = Math.max(damping * 0.2, 1e-9);
                    if (!gained) {
                        return best;
                    }
                } else {
                    damping *= 6;
                }
            }
            if (!gained) {
                return best;
            }
        }
        return best;
    }

    /** How residuals change with a number, per scale; 0 where the number stands at its bound and cannot move. */
    private double[] slope(Machine machine, FreeNumber number, double[] here, double scale) {
        double value = number.value(machine);
        double step = number.step(machine);
        if (value + step > number.high()) {
            step = -step;
        }
        Machine moved = number.with(machine, value + step);
        double actual = number.value(moved) - value;
        double[] slope = new double[here.length];
        if (actual != 0) {
            double[] there = residuals(moved);
            for (int i = 0; i < slope.length; i++) {
                slope[i] = (there[i] - here[i]) / actual * scale;
            }
        }
        return slope;
    }

    /** The damped normal equations by Gaussian elimination; they are small and positive definite. */
    private static double[] solve(double[][] slopes, double[] residuals, double damping) {
        int n = slopes.length;
        double[][] a = new double[n][n + 1];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                a[i][j] = dot(slopes[i], slopes[j]);
            }
            a[i][n] = -dot(slopes[i], residuals);
            a[i][i] = a[i][i] * (1 + damping) + 1e-12;
        }
        for (int column = 0; column < n; column++) {
            int pivot = column;
            for (int row = column + 1; row < n; row++) {
                pivot = Math.abs(a[row][column]) > Math.abs(a[pivot][column]) ? row : pivot;
            }
            double[] swapped = a[column];
            a[column] = a[pivot];
            a[pivot] = swapped;
            for (int row = column + 1; row < n; row++) {
                double factor = a[row][column] / a[column][column];
                for (int k = column; k <= n; k++) {
                    a[row][k] -= factor * a[column][k];
                }
            }
        }
        double[] x = new double[n];
        for (int row = n - 1; row >= 0; row--) {
            double value = a[row][n];
            for (int k = row + 1; k < n; k++) {
                value -= a[row][k] * x[k];
            }
            x[row] = value / a[row][row];
        }
        return x;
    }

    private static double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    /** Tries the whole numbers next to one that is rounded, each with all others fitted anew: together they may be better where none is alone. */
    private Machine beside(Machine start, FreeNumber number, List<FreeNumber> numbers) {
        Machine best = start;
        double cost = cost(best);
        boolean gained = true;
        for (int round = 0; round < STEPS && gained && cost > ENOUGH; round++) {
            gained = false;
            for (int step : NEIGHBOURS) {
                Machine other = steps(number.with(best, number.value(best) + step), numbers);
                double there = cost(other);
                if (there < cost * (1 - 1e-3)) {
                    best = other;
                    cost = there;
                    gained = true;
                }
            }
        }
        return best;
    }

    // One number at a time.

    private Machine scan(Machine start, FreeNumber number) {
        double value = number.value(start);
        double base = Math.max(Math.abs(value), number.scale());
        List<Double> points = new ArrayList<>();
        if (value <= 0) {
            points.add(0.0);
        }
        for (double factor : SCAN) {
            points.add(base * factor);
            if (factor == 0.97) {
                points.add(value);
            }
        }
        points.sort(null);
        int best = 0;
        double least = Double.POSITIVE_INFINITY;
        double[] costs = IntStream.range(0, points.size())
                .parallel()
                .mapToDouble(i -> cost(number.with(start, points.get(i))))
                .toArray();
        for (int i = 0; i < costs.length; i++) {
            if (costs[i] < least) {
                least = costs[i];
                best = i;
            }
        }
        double low = points.get(Math.max(0, best - 1));
        double high = points.get(Math.min(points.size() - 1, best + 1));
        double found = section(start, number, low, high);
        Machine refined = number.with(start, found);
        Machine coarse = number.with(start, points.get(best));
        Machine better = cost(refined) < least ? refined : coarse;
        return cost(better) < cost(start) * (1 - 1e-9) ? better : start;
    }

    private double section(Machine start, FreeNumber number, double from, double to) {
        double low = from;
        double high = to;
        double left = high - GOLDEN * (high - low);
        double right = low + GOLDEN * (high - low);
        double leftCost = cost(number.with(start, left));
        double rightCost = cost(number.with(start, right));
        for (int i = 0; i < SECTIONS && high - low > 1e-5 * high; i++) {
            if (leftCost < rightCost) {
                high = right;
                right = left;
                rightCost = leftCost;
                left = high - GOLDEN * (high - low);
                leftCost = cost(number.with(start, left));
            } else {
                low = left;
                left = right;
                leftCost = rightCost;
                right = low + GOLDEN * (high - low);
                rightCost = cost(number.with(start, right));
            }
        }
        return leftCost < rightCost ? left : right;
    }
}

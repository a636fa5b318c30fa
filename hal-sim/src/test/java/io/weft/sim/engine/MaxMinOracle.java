// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Weighted max-min fair shares by the textbook: raise all levels together, fix the flows of the first resource that
 * fills up (or the first flow that meets its cap), start over with the rest. Slow, obvious, and shares no code with the
 * engine.
 */
final class MaxMinOracle {
    /** A flow: its weight, cap and consumption of each resource per unit of work (0 where unused). */
    static final class Flow {
        private final double weight;
        private final double cap;
        private final double[] amounts;

        Flow(double weight, double cap, double[] amounts) {
            this.weight = weight;
            this.cap = cap;
            this.amounts = amounts;
        }

        Flow weighing(double other) {
            return new Flow(other, cap, amounts);
        }

        double weight() {
            return weight;
        }

        double cap() {
            return cap;
        }

        double amount(int resource) {
            return amounts[resource];
        }
    }

    private MaxMinOracle() {}

    static double[] rates(double[] capacity, List<Flow> flows) {
        double[] rate = new double[flows.size()];
        double[] left = capacity.clone();
        List<Integer> rising = new ArrayList<>();
        for (int f = 0; f < rate.length; f++) {
            rising.add(f);
        }
        while (!rising.isEmpty()) {
            double level = Double.POSITIVE_INFINITY;
            int full = -1;
            for (int r = 0; r < left.length; r++) {
                double draw = 0;
                for (int f : rising) {
                    draw += flows.get(f).amount(r) * flows.get(f).weight();
                }
                if (draw > 0 && left[r] / draw < level) {
                    level = left[r] / draw;
                    full = r;
                }
            }
            int capped = -1;
            for (int f : rising) {
                double at = flows.get(f).cap() / flows.get(f).weight();
                if (at < level) {
                    level = at;
                    capped = f;
                }
            }
            List<Integer> fixed = new ArrayList<>();
            if (capped >= 0) {
                fixed.add(capped);
            } else {
                for (int f : rising) {
                    if (flows.get(f).amount(full) > 0) {
                        fixed.add(f);
                    }
                }
            }
            for (int f : fixed) {
                rate[f] = level * flows.get(f).weight();
                for (int r = 0; r < left.length; r++) {
                    left[r] = Math.max(0, left[r] - flows.get(f).amount(r) * rate[f]);
                }
            }
            if (capped < 0) {
                left[full] = 0;
            }
            rising.removeAll(fixed);
        }
        return rate;
    }

    /** A flow that starts at a time (s) with an amount of work. */
    record Job(double start, double work, Flow flow) {}

    /** From a time (s) on, a resource has another capacity. */
    record Change(double time, int resource, double capacity) {}

    /** End times (s) of jobs, by solving anew at every start, end and change. */
    static double[] ends(double[] capacity, List<Job> jobs, List<Change> changes) {
        double[] now = capacity.clone();
        double[] end = new double[jobs.size()];
        double[] remaining = new double[jobs.size()];
        boolean[] done = new boolean[jobs.size()];
        for (int j = 0; j < end.length; j++) {
            remaining[j] = jobs.get(j).work();
        }
        List<Change> ahead = new ArrayList<>(changes);
        double time = 0;
        while (true) {
            List<Integer> running = new ArrayList<>();
            List<Flow> flows = new ArrayList<>();
            double next = Double.POSITIVE_INFINITY;
            for (int j = 0; j < end.length; j++) {
                if (!done[j] && jobs.get(j).start() <= time) {
                    running.add(j);
                    flows.add(jobs.get(j).flow());
                } else if (!done[j]) {
                    next = Math.min(next, jobs.get(j).start());
                }
            }
            for (Change change : ahead) {
                next = Math.min(next, change.time());
            }
            double[] rate = rates(now, flows);
            int first = -1;
            for (int i = 0; i < rate.length; i++) {
                double at = time + remaining[running.get(i)] / rate[i];
                if (at < next) {
                    next = at;
                    first = running.get(i);
                }
            }
            if (next == Double.POSITIVE_INFINITY) {
                if (!running.isEmpty()) {
                    throw new IllegalStateException("the oracle stalls: " + Arrays.toString(rate));
                }
                return end;
            }
            for (int i = 0; i < rate.length; i++) {
                int j = running.get(i);
                remaining[j] = Math.max(0, remaining[j] - rate[i] * (next - time));
                // Whoever would end within rounding of this instant ends at it.
                if (j == first || remaining[j] <= 1e-13 * jobs.get(j).work()) {
                    done[j] = true;
                    end[j] = next;
                }
            }
            time = next;
            for (Change change : List.copyOf(ahead)) {
                if (change.time() <= time) {
                    now[change.resource()] = change.capacity();
                    ahead.remove(change);
                }
            }
        }
    }
}

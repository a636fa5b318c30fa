// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.simgrid;

import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.Engine;
import io.weft.sim.engine.VirtualTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * Flows over shared links that start one after another; max-min fairness says when each ends.
 *
 * @param name seed and number of flows, by which the same problem is made again
 * @param capacities bytes/s of each link
 * @param flows the flows
 */
public record FluidProblem(String name, List<Double> capacities, List<Flow> flows) {
    /** Flows of the problems that are compared with SimGrid: 2 to 1000. */
    static final int[] SIZES = {2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 1000};

    private static final int SEEDS_BELOW_100_FLOWS = 5;

    /** Flows over about the same number of links as flows up to here, then ever more flows for each link. */
    private static final int MOST_LINKS = 64;

    /**
     * A flow.
     *
     * @param startNanos when it begins, ns
     * @param bytes what it carries
     * @param links the links that it crosses, each once
     */
    public record Flow(long startNanos, long bytes, List<Integer> links) {}

    public FluidProblem {
        capacities = List.copyOf(capacities);
        flows = List.copyOf(flows);
    }

    /** The problems that are compared: every size, the small ones with several seeds. */
    static List<FluidProblem> all() {
        List<FluidProblem> problems = new ArrayList<>();
        for (int size : SIZES) {
            int seeds = size < 100 ? SEEDS_BELOW_100_FLOWS : 1;
            for (int seed = 1; seed <= seeds; seed++) {
                problems.add(random(seed, size));
            }
        }
        return problems;
    }

    /** A random problem: links of 5 to 100 GB/s, flows of 64 KiB to 16 MiB over one to four of them, starts within the time that all would take one after another. */
    static FluidProblem random(long seed, int size) {
        SplittableRandom random = new SplittableRandom(seed * 1_000_003 + size);
        int links = Math.min(MOST_LINKS, Math.max(2, size));
        List<Double> capacities = new ArrayList<>();
        for (int l = 0; l < links; l++) {
            capacities.add(Math.rint(5e9 * Math.pow(20, random.nextDouble())));
        }
        List<Integer> order = new ArrayList<>();
        for (int l = 0; l < links; l++) {
            order.add(l);
        }
        Random shuffle = new Random(random.nextLong());
        List<Flow> flows = new ArrayList<>();
        for (int f = 0; f < size; f++) {
            Collections.shuffle(order, shuffle);
            int crossed = 1 + random.nextInt(Math.min(4, links));
            long bytes = (long) (65536 * Math.pow(256, random.nextDouble()));
            long start = f == 0 ? 0 : random.nextLong(1 + size * 20_000L);
            flows.add(new Flow(
                    start, bytes, order.subList(0, crossed).stream().sorted().toList()));
        }
        return new FluidProblem("seed=" + seed + ",flows=" + size, capacities, flows);
    }

    /** The text that {@code fluid.cpp} reads. */
    String text() {
        StringBuilder text = new StringBuilder("problem ").append(name).append('\n');
        for (double capacity : capacities) {
            text.append(String.format(Locale.ROOT, "link %.0f%n", capacity));
        }
        for (Flow flow : flows) {
            text.append(String.format(Locale.ROOT, "flow %.9f %d", flow.startNanos() / 1e9, flow.bytes()));
            flow.links().forEach(link -> text.append(' ').append(link));
            text.append('\n');
        }
        return text.toString();
    }

    /** When each flow ends on our engine, s. */
    double[] finishTimes() {
        Engine engine = new Engine();
        for (int l = 0; l < capacities.size(); l++) {
            engine.addResource("link " + l, capacities.get(l));
        }
        double[] finish = new double[flows.size()];
        Arrays.fill(finish, Double.NaN);
        engine.handler((kind, id) -> finish[id] = engine.nowNs() / 1e9);
        ActivitySpec spec = new ActivitySpec();
        for (int f = 0; f < flows.size(); f++) {
            Flow flow = flows.get(f);
            spec.clear().work((double) flow.bytes()).delayPs(VirtualTime.fromNs((double) flow.startNanos()));
            flow.links().forEach(spec::use);
            engine.start(spec, 0, f);
        }
        engine.runUntilIdle();
        return finish;
    }
}

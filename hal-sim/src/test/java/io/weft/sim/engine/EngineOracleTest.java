// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Whole runs against the textbook, and what must hold in any run. */
final class EngineOracleTest {
    private static final int JOB = 0;
    private static final int CHANGE = 1;

    /** A random problem: flows over shared resources, staggered, with capacities that change meanwhile. */
    private record Problem(List<Double> capacity, List<MaxMinOracle.Job> jobs, List<MaxMinOracle.Change> changes) {
        static Problem random(long seed) {
            SplittableRandom random = new SplittableRandom(seed);
            int resources = 1 + random.nextInt(15);
            List<Double> capacity = new ArrayList<>();
            for (int r = 0; r < resources; r++) {
                capacity.add(Math.pow(10, 3 * random.nextDouble()));
            }
            List<MaxMinOracle.Job> jobs = new ArrayList<>();
            int count = 1 + random.nextInt(60);
            for (int j = 0; j < count; j++) {
                double[] amounts = new double[resources];
                int uses = 1 + random.nextInt(Math.min(5, resources));
                for (int u = 0; u < uses; u++) {
                    amounts[random.nextInt(resources)] += 0.1 + 2 * random.nextDouble();
                }
                double cap = random.nextInt(3) == 0 ? 1 + 100 * random.nextDouble() : 1e300;
                double weight = random.nextBoolean() ? 1 : 0.2 + 4 * random.nextDouble();
                double start = VirtualTime.toSeconds(random.nextLong(3 * VirtualTime.PS_PER_S));
                jobs.add(new MaxMinOracle.Job(
                        start, 1 + 1000 * random.nextDouble(), new MaxMinOracle.Flow(weight, cap, amounts)));
            }
            List<MaxMinOracle.Change> changes = new ArrayList<>();
            for (int c = random.nextInt(4); c > 0; c--) {
                changes.add(new MaxMinOracle.Change(
                        VirtualTime.toSeconds(random.nextLong(4 * VirtualTime.PS_PER_S)),
                        random.nextInt(resources),
                        Math.pow(10, 3 * random.nextDouble())));
            }
            return new Problem(capacity, jobs, changes);
        }

        double[] capacities() {
            return capacity.stream().mapToDouble(Double::doubleValue).toArray();
        }

        void addResources(Engine engine) {
            for (int r = 0; r < capacity.size(); r++) {
                engine.addResource("r" + r, capacity.get(r));
            }
        }

        /** Runs the problem on an engine that has its resources; end times in ps by job. */
        long[] run(Engine engine) {
            long[] end = new long[jobs.size()];
            engine.handler((kind, id) -> {
                if (kind == JOB) {
                    end[id] = engine.nowPs();
                } else {
                    engine.capacity(changes.get(id).resource(), changes.get(id).capacity());
                }
            });
            for (int c = 0; c < changes.size(); c++) {
                engine.at(VirtualTime.fromSeconds(changes.get(c).time()), CHANGE, c);
            }
            ActivitySpec spec = new ActivitySpec();
            for (int j = 0; j < end.length; j++) {
                MaxMinOracle.Job job = jobs.get(j);
                spec.clear()
                        .work(job.work())
                        .weight(job.flow().weight())
                        .rateCap(job.flow().cap())
                        .delayPs(VirtualTime.fromSeconds(job.start()));
                for (int r = 0; r < capacity.size(); r++) {
                    spec.use(r, job.flow().amount(r));
                }
                engine.start(spec, JOB, j);
            }
            engine.runUntilIdle();
            return end;
        }
    }

    @Test
    void endTimesEqualTheTextbooks() {
        for (long seed = 1; seed <= 60; seed++) {
            Problem problem = Problem.random(seed);
            double[] expected = MaxMinOracle.ends(problem.capacities(), problem.jobs(), problem.changes());
            Engine engine = new Engine();
            engine.checking(true);
            problem.addResources(engine);
            long[] end = problem.run(engine);
            for (int j = 0; j < end.length; j++) {
                assertEquals(
                        expected[j],
                        VirtualTime.toSeconds(end[j]),
                        1e-9 * expected[j],
                        "seed " + seed + ", job " + j + " of " + end.length);
            }
        }
    }

    @Test
    void whatWentThroughAResourceIsWhatWasAskedForAndNeverMoreThanItCanCarry() {
        for (long seed = 1; seed <= 60; seed++) {
            Problem problem = Problem.random(seed);
            Engine engine = new Engine();
            problem.addResources(engine);
            problem.run(engine);
            for (int r = 0; r < problem.capacity().size(); r++) {
                double asked = 0;
                for (MaxMinOracle.Job job : problem.jobs()) {
                    asked += job.work() * job.flow().amount(r);
                }
                double most = problem.capacity().get(r);
                for (MaxMinOracle.Change change : problem.changes()) {
                    most = change.resource() == r ? Math.max(most, change.capacity()) : most;
                }
                String at = "seed " + seed + ", resource " + r;
                ResourceUsage usage = engine.resourceUsage(r);
                assertEquals(asked, usage.units(), 1e-12 * asked, at);
                assertTrue(usage.peak() <= most * (1 + 1e-9), at);
                assertTrue(usage.units() <= usage.peak() * VirtualTime.toSeconds(usage.busyPs()) * (1 + 1e-9), at);
                assertTrue(usage.busyPs() <= engine.nowPs(), at);
            }
        }
    }

    @Test
    void theSameProblemGivesTheSameBitsOnANewEngineAndOnOneUsedBefore() {
        Engine used = new Engine();
        for (long seed = 1; seed <= 40; seed++) {
            Problem problem = Problem.random(seed);
            Engine fresh = new Engine();
            problem.addResources(fresh);
            long[] first = problem.run(fresh);
            used.clear();
            problem.addResources(used);
            assertTrue(Arrays.equals(first, problem.run(used)), "seed " + seed);
            for (int r = 0; r < problem.capacity().size(); r++) {
                assertEquals(fresh.resourceUsage(r), used.resourceUsage(r), "seed " + seed);
            }
            if (problem.changes().isEmpty()) {
                used.reset();
                assertTrue(Arrays.equals(first, problem.run(used)), "seed " + seed + " after a reset");
            }
        }
    }

    @Test
    void timeNeverGoesBackAndEqualActivitiesEndTogether() {
        // 64 equal flows over one switch in both directions, three rounds started by their own ends.
        Engine engine = new Engine();
        int hosts = 8;
        int[] up = new int[hosts];
        int[] down = new int[hosts];
        for (int h = 0; h < hosts; h++) {
            up[h] = engine.addResource("up " + h, 50e9);
            down[h] = engine.addResource("down " + h, 50e9);
        }
        ActivitySpec spec = new ActivitySpec();
        long[] last = {0, 0};
        List<Long> instants = new ArrayList<>();
        engine.handler((round, id) -> {
            assertTrue(engine.nowPs() >= last[0]);
            if (engine.nowPs() > last[0]) {
                instants.add(engine.nowPs());
            }
            last[0] = engine.nowPs();
            last[1]++;
            if (round < 2) {
                engine.start(spec.clear().work(1e6 / 3).use(up[id / hosts]).use(down[id % hosts]), round + 1, id);
            }
        });
        for (int id = 0; id < hosts * hosts; id++) {
            engine.start(spec.clear().work(1e6 / 3).use(up[id / hosts]).use(down[id % hosts]), 0, id);
        }
        engine.runUntilIdle();
        assertEquals(192, last[1]);
        assertEquals(3, instants.size(), "each round is one instant");
        assertEquals(4, engine.network().solves(), "and one solve, as is the start");
    }
}

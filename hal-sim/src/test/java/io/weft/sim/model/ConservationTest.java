// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.CollectiveKind;
import io.weft.api.Figures;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.sim.machine.Machine;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConservationTest {
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void bytesOverLinksFlopsMemoryTrafficCapacitiesAndTimeOfRandomGraphsOnRandomMachinesAreRight(long seed) {
        check(seed);
    }

    private static void check(long seed) {
        RandomWork work = new RandomWork(seed);
        Machine machine = work.machine();
        CommandGraph graph = work.graph(machine, 120);
        GraphEstimator estimator = new GraphEstimator(machine, true);
        for (Issue issue : Issue.values()) {
            String at = "seed " + seed + ", " + issue;
            Timeline timeline = estimator.estimate(graph, issue, Detail.INTERVALS);
            List<String> violations = Conservation.violations(machine, timeline);
            assertTrue(violations.isEmpty(), () -> at + ": " + violations);
            assertEquals(List.of(), twoAtOnce(timeline), at);
            // Once more, watched: every sharing is checked as it is made, and every use is heard of.
            Carried carried = new Carried(machine, graph);
            EstimateRun run = new EstimateRun(machine, true, carried);
            Timeline watched = run.estimate(graph, issue, Detail.SUMMARY);
            assertEquals(List.of(), carried.violations(run), at);
            assertEquals(timeline.makespanNanos(), watched.makespanNanos(), 0, at);
        }
    }

    /** Copy engines and hardware queues that serve two commands at once. */
    private static List<String> twoAtOnce(Timeline timeline) {
        List<String> violations = new ArrayList<>();
        Map<Integer, Timeline.Interval> last = new HashMap<>();
        timeline.intervals().stream()
                .sorted(Comparator.comparingDouble(Timeline.Interval::startNanos)
                        .thenComparingDouble(Timeline.Interval::endNanos))
                .forEach(interval -> {
                    Timeline.Resource resource = timeline.resources().get(interval.resource());
                    if (resource.kind() == Timeline.ResourceKind.COPY_ENGINE
                            || resource.kind() == Timeline.ResourceKind.HARDWARE_QUEUE) {
                        Timeline.Interval before = last.put(interval.resource(), interval);
                        if (before != null && before.endNanos() > interval.startNanos() + 0.002) {
                            violations.add(resource.name() + ": " + before + " and " + interval);
                        }
                    }
                });
        return violations;
    }

    @Test
    void anAllGatherOnAMeshPutsEachShardOnEachLinkOnce() {
        GraphKit kit = GraphKit.on("mesh-8");
        long shard = 1 << 24;
        kit.collective(CollectiveKind.ALL_GATHER, shard, 0, 0);
        for (Timeline.Resource resource : kit.run().resources()) {
            if (resource.kind() == Timeline.ResourceKind.LINK) {
                assertEquals((double) shard, resource.units(), 1e-6 * shard, resource.name());
            }
        }
    }

    @Test
    void anAllReduceMovesTwiceWhatAnAllGatherMoves() {
        for (String machine : List.of("mesh-8", "switch-8", "ring-4", "node-2x8")) {
            GraphKit gather = GraphKit.on(machine);
            int ranks = gather.machine.deviceCount();
            gather.collective(CollectiveKind.ALL_GATHER, 1 << 26, 0, 0);
            GraphKit reduce = GraphKit.on(machine);
            reduce.collective(CollectiveKind.ALL_REDUCE, (1L << 26) * ranks, 0, 0);
            assertEquals(2 * linkBytes(gather.run()), linkBytes(reduce.run()), 1, machine);
        }
    }

    private static double linkBytes(Timeline timeline) {
        return timeline.resources().stream()
                .filter(resource -> resource.kind() == Timeline.ResourceKind.LINK)
                .mapToDouble(Timeline.Resource::units)
                .sum();
    }

    @Test
    void aForgedTimelineIsFoundOut() {
        GraphKit kit = GraphKit.on("mesh-8");
        int copy = kit.copy(0, 1, 1 << 24, 0);
        int gemm = kit.gemm(1, 4096, 4096, 4096, 0, copy);
        Timeline good = kit.run();
        assertTrue(Conservation.violations(kit.machine, good).isEmpty());
        double[] starts = {good.startNanos(copy), good.startNanos(copy)};
        double[] ends = {good.endNanos(copy), good.startNanos(copy) + 1000};
        List<Timeline.Resource> halved = good.resources().stream()
                .map(r -> new Timeline.Resource(
                        r.kind(), r.device(), r.peer(), r.name(), r.capacity(), r.busyNanos(), r.units() / 2))
                .toList();
        Timeline forged =
                new Timeline(good.graph(), Figures.MODEL, starts, ends, good.makespanNanos(), halved, List.of());
        List<String> violations = Conservation.violations(kit.machine, forged);
        assertFalse(violations.isEmpty());
        String all = violations.toString();
        assertTrue(all.contains("node " + gemm) && all.contains("depends on"), all);
        assertTrue(all.contains("faster than its device's peak"), all);
        assertTrue(all.contains("0 > 1 carried"), all);
    }
}

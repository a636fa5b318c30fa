// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineCatalog;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GraphEstimatorTest {
    @Test
    void theSameGraphGivesTheSameBitsOnEveryRunAndThread() throws Exception {
        RandomWork work = new RandomWork(42);
        Machine machine = work.machine();
        CommandGraph graph = work.graph(machine, 200);
        double[] expected = times(new GraphEstimator(machine).estimate(graph, Issue.STREAMS, Detail.SUMMARY));
        GraphEstimator shared = new GraphEstimator(machine);
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<double[]>> results = new ArrayList<>();
            Callable<double[]> one = () -> times(shared.estimate(graph, Issue.STREAMS, Detail.SUMMARY));
            for (int i = 0; i < 16; i++) {
                results.add(threads.submit(one));
            }
            for (Future<double[]> result : results) {
                assertArrayEquals(expected, result.get());
            }
        }
    }

    private static double[] times(Timeline timeline) {
        double[] times = new double[2 * timeline.graph().size()];
        for (int node = 0; node < timeline.graph().size(); node++) {
            times[2 * node] = timeline.startNanos(node);
            times[2 * node + 1] = timeline.endNanos(node);
        }
        return times;
    }

    @Test
    void aNodeAloneTakesWhatItTakesInAGraphOfItsOwn() {
        GraphKit all = GraphKit.on("mesh-8");
        all.copy(0, 1, 1 << 25, 0);
        all.copy(0, 0, 1 << 25, 0);
        all.copy(2, 5, 1 << 16, 1, CopyMethod.KERNEL);
        all.gemm(1, 5000, 3000, 2000, 0);
        all.gemm(1, 100, 100, 100, 0);
        int first = all.collective(CollectiveKind.ALL_REDUCE, 1 << 24, 2, 0);
        CommandGraph graph = all.graph();
        GraphEstimator estimator = new GraphEstimator(all.machine);
        for (int node = 0; node < first; node++) {
            CommandGraph.Builder single = CommandGraph.builder(8);
            for (Slot slot : graph.slots()) {
                single.slot(slot.device(), slot.name(), slot.bytes(), slot.role());
            }
            single.add(graph.device(node), 0, graph.priority(node), graph.command(node), "alone");
            Timeline timeline = estimator.estimate(single.build(), Issue.DEVICE_GRAPH, Detail.SUMMARY);
            assertEquals(timeline.durationNanos(0), estimator.aloneNanos(graph, node), 1e-9);
        }
        GraphKit collective = GraphKit.on("mesh-8");
        collective.collective(CollectiveKind.ALL_REDUCE, 1 << 24, 2, 0);
        assertEquals(collective.run().durationNanos(3), estimator.aloneNanos(graph, first + 3), 1e-9);
    }

    @Test
    void byStreamsEachCallCostsHostTimeOnItsDevicesThread() {
        GraphKit kit = GraphKit.on("mesh-8");
        int first = kit.copy(0, 1, 1000, 1);
        int second = kit.copy(0, 2, 1000, 2);
        int other = kit.copy(3, 2, 1000, 2);
        int waiting = kit.copy(0, 3, 1000, 3, first);
        Timeline timeline = kit.run(Issue.STREAMS);
        assertEquals(5000, timeline.startNanos(first), 1e-9);
        assertEquals(5000 + 600 + 5000, timeline.startNanos(second), 1e-9); // an event is recorded after the first
        assertEquals(5000, timeline.startNanos(other), 1e-9);
        assertEquals(5000 + 600 + 5000 + 600 + 5000, timeline.startNanos(waiting), 1e-9);
        double host = timeline.resources().stream()
                .filter(r -> r.kind() == Timeline.ResourceKind.HOST && r.device() == 0)
                .mapToDouble(Timeline.Resource::busyNanos)
                .sum();
        assertEquals(16_200, host, 1e-9);
    }

    @Test
    void aGraphForMoreDevicesThanThereAreIsRefused() {
        CommandGraph graph = CommandGraph.builder(9).build();
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> estimate(graph));
        assertTrue(refused.getMessage().contains("needs 9 devices and mesh-8 has 8"), refused.getMessage());
    }

    @Test
    void aGraphThatNeedsMoreMemoryThanThereIsIsRefused() {
        CommandGraph.Builder builder = CommandGraph.builder(8);
        builder.slot(3, "huge", 200L << 30, Slot.Role.INPUT);
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> estimate(builder.build()));
        assertEquals(ErrorCode.OUT_OF_MEMORY, refused.code());
        assertTrue(refused.getMessage().contains("device 3")
                && refused.getMessage().contains("slot huge"));
    }

    @Test
    void aCollectiveWithoutAllItsPartsIsRefused() {
        GraphKit kit = GraphKit.on("mesh-8");
        kit.builder.add(0, 0, Priority.HIGH, kit.part(CollectiveKind.ALL_GATHER, 0, 8, 1024, 5), "part");
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> estimate(kit.graph()));
        assertTrue(refused.getMessage().contains("collective 5 (ALL_GATHER) lacks 7 of its 8 parts"));
    }

    @Test
    void aGraphThatLocksItselfUpIsReportedAndDoesNotHang() {
        GraphKit kit = GraphKit.on("mesh-8");
        Command.Collective[] first = {
            kit.part(CollectiveKind.ALL_GATHER, 0, 2, 1024, 0), kit.part(CollectiveKind.ALL_GATHER, 1, 2, 1024, 0)
        };
        Command.Collective[] second = {
            kit.part(CollectiveKind.ALL_GATHER, 0, 2, 1024, 1), kit.part(CollectiveKind.ALL_GATHER, 1, 2, 1024, 1)
        };
        kit.builder.add(0, 0, Priority.NORMAL, first[0], "a0");
        kit.builder.add(0, 4, Priority.NORMAL, second[0], "b0"); // lane 4 shares hardware queue 0
        kit.builder.add(1, 0, Priority.NORMAL, second[1], "b1");
        kit.builder.add(1, 4, Priority.NORMAL, first[1], "a1");
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> estimate(kit.graph()));
        assertEquals(ErrorCode.INVALID_STATE, refused.code());
        assertTrue(refused.getMessage().contains("can never finish on mesh-8"), refused.getMessage());
    }

    @ParameterizedTest
    @EnumSource(CollectiveKind.class)
    void everyCollectiveTakesTimeAndLongerForMoreBytes(CollectiveKind kind) {
        if (kind.pointToPoint()) {
            return; // below
        }
        double small = makespan(kind, 1 << 10);
        double large = makespan(kind, 1 << 26);
        assertTrue(small > 0);
        assertTrue(kind == CollectiveKind.BARRIER ? large == small : large > 2 * small, small + " " + large);
    }

    private static double makespan(CollectiveKind kind, long bytes) {
        GraphKit kit = GraphKit.on("mesh-8");
        kit.collective(kind, bytes, 0, 0);
        return kit.run().makespanNanos();
    }

    @Test
    void aSendAndItsReceiveTakeTheirLink() {
        GraphKit kit = GraphKit.on("mesh-8");
        long bytes = 1L << 30;
        kit.builder.add(0, 0, Priority.HIGH, kit.part(CollectiveKind.SEND, 0, 2, bytes, 0), "send");
        kit.builder.add(1, 0, Priority.HIGH, kit.part(CollectiveKind.RECEIVE, 1, 2, bytes, 0), "receive");
        double expected = bytes / (48e9 * 0.945) * 1e9;
        assertEquals(expected, kit.run().makespanNanos(), 0.01 * expected);
    }

    @Test
    void acrossServersTheNetworkDecides() {
        GraphKit kit = GraphKit.on("node-2x8");
        long shard = 1L << 28;
        kit.collective(CollectiveKind.ALL_GATHER, shard, 0, 0);
        // Inside a server each link carries two shards at 48 GB/s, each card one shard at 46 GB/s.
        double expected = 2 * shard / (48e9 * 0.945) * 1e9;
        assertEquals(expected, kit.run().makespanNanos(), 0.02 * expected);
    }

    private static Timeline estimate(CommandGraph graph) {
        return new GraphEstimator(MachineCatalog.open("mesh-8")).estimate(graph, Issue.DEVICE_GRAPH, Detail.SUMMARY);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.sim.engine.Engine;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.GemmModel;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineCatalog;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What users of other simulators have reported, as tests; each names the report. */
class UsersComplaintsTest {
    /** astra-sim issue 207: the same time whatever the topology. */
    @Test
    void theTopologyDecides() {
        List<Double> times = new ArrayList<>();
        for (String name : List.of("mesh-8", "switch-8", "node-2x8")) {
            GraphKit kit = GraphKit.on(name);
            kit.collective(CollectiveKind.ALL_GATHER, 64 << 20, 0, 0);
            times.add(kit.run().makespanNanos());
        }
        assertEquals(3, times.stream().distinct().count(), times::toString);
    }

    /** astra-sim issues 158 and 215: nothing to do, 0 cycles, no error. */
    @ParameterizedTest
    @EnumSource(Issue.class)
    void anEmptyWorkloadIsRefused(Issue issue) {
        GraphEstimator model = new GraphEstimator(MachineCatalog.open("mesh-8"));
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class,
                () -> model.estimate(CommandGraph.builder(8).build(), issue, Detail.SUMMARY));
        assertEquals(ErrorCode.INVALID_ARGUMENT, refusal.code());
        assertTrue(refusal.getMessage().contains("holds no command"), refusal::getMessage);
    }

    /** Frontier issue 7: nobody can tell how many events a second there are. */
    @Test
    void aModelCountsItsEvents() {
        GraphKit kit = GraphKit.on("mesh-8");
        kit.gemm(0, 4096, 4096, 4096, 0);
        kit.copy(0, 1, 1 << 24, 1);
        GraphEstimator model = new GraphEstimator(kit.machine);
        assertEquals(0, model.events());
        model.estimate(kit.graph(), Issue.DEVICE_GRAPH, Detail.SUMMARY);
        long once = model.events();
        assertTrue(once >= 4, "a product and a copy begin and end: " + once);
        model.estimate(kit.graph(), Issue.DEVICE_GRAPH, Detail.SUMMARY);
        assertEquals(2 * once, model.events());
    }

    /** astra-sim issue 224: nodes with a faulty attribute are skipped; here a collective that lacks a rank is refused. */
    @Test
    void nothingOfAWorkloadIsSkippedInSilence() {
        GraphKit kit = GraphKit.on("mesh-8");
        for (int rank = 0; rank < 7; rank++) {
            kit.builder.add(rank, 0, Priority.NORMAL, kit.part(CollectiveKind.ALL_REDUCE, rank, 8, 1024, 5), "part");
        }
        AcceleratorException refusal = assertThrows(AcceleratorException.class, kit::run);
        assertTrue(refusal.getMessage().contains("lacks 1 of its 8 parts"), refusal::getMessage);
    }

    /** astra-sim issue 73: no compute speed for each device. */
    @Test
    void everyDeviceMayDiffer() {
        Machine plain = MachineCatalog.open("ring-4");
        Machine.Builder builder = Machine.builder("uneven");
        for (int d = 0; d < plain.deviceCount(); d++) {
            builder.device(slower(plain.device(d), 1 + d));
        }
        plain.links().forEach(builder::link);
        plain.collectiveModels().forEach(builder::collective);
        GraphKit kit = GraphKit.on(builder.build());
        int[] gemm = new int[4];
        for (int d = 0; d < 4; d++) {
            gemm[d] = kit.gemm(d, 8192, 8192, 8192, 0);
        }
        Timeline timeline = kit.run();
        double one = timeline.durationNanos(gemm[0]);
        for (int d = 1; d < 4; d++) {
            assertEquals((1 + d) * one, timeline.durationNanos(gemm[d]), 0.01 * (1 + d) * one);
        }
    }

    private static DeviceModel slower(DeviceModel d, int times) {
        EnumMap<io.weft.api.ElementType, Double> peaks = new EnumMap<>(d.gemm().peakFlops());
        peaks.replaceAll((type, flops) -> flops / times);
        GemmModel gemm = new GemmModel(
                peaks,
                d.gemm().tiles(),
                d.gemm().prologueK(),
                d.gemm().maxSplitK(),
                d.gemm().concurrencyEfficiency());
        return new DeviceModel(
                d.name(),
                d.architecture(),
                d.node(),
                d.numaNode(),
                d.busId(),
                d.computeUnits(),
                d.clockGhz(),
                gemm,
                d.memory(),
                d.copyEngines(),
                d.kernels(),
                d.launch(),
                d.hostLink(),
                d.fp8(),
                d.extra());
    }

    /** astra-sim issue 74: an event at the present time trips an assertion. */
    @Test
    void eventsAtThePresentInstantComeInTheOrderInWhichTheyWereMade() {
        Engine engine = new Engine();
        List<Integer> order = new ArrayList<>();
        engine.handler((kind, id) -> {
            order.add(id);
            if (id < 10) {
                engine.after(0, 0, id + 10);
            }
        });
        for (int id = 0; id < 5; id++) {
            engine.at(1000, 0, id);
        }
        engine.runUntilIdle();
        assertEquals(List.of(0, 1, 2, 3, 4, 10, 11, 12, 13, 14), order);
        assertEquals(1, engine.nowNs(), 0);
    }

    /** mlcommons/chakra issue 215: kernels of one stream lose their order, so that collectives start too early. */
    @Test
    void aStreamKeepsItsOrder() {
        GraphKit kit = GraphKit.on("mesh-8");
        int gemm = kit.gemm(0, 8192, 8192, 8192, 0);
        int collective = kit.collective(CollectiveKind.ALL_REDUCE, 1 << 20, 0, 0);
        Timeline timeline = kit.run();
        assertTrue(timeline.startNanos(collective) >= timeline.endNanos(gemm));
    }

    /** simgrid issues 338 and 219: a change of bandwidth has no visible effect. */
    @Test
    void halfTheBandwidthIsTwiceTheTime() {
        String text = MachineCatalog.text("mesh-8");
        double whole = copy(text);
        double half = copy(text.replace("efficiency: 0.75 ", "efficiency: 0.375 "));
        assertEquals(2 * whole, half, 0.01 * half);
    }

    private static double copy(String text) {
        GraphKit kit = GraphKit.on(io.weft.sim.machine.MachineReader.read("mesh-8.yaml", text));
        int copy = kit.copy(0, 1, 480_000_000, 0);
        return kit.run().durationNanos(copy);
    }

    /** SimAI issue 208: 32 and 64 devices give the same result, since the workload decides. */
    @Test
    void moreDevicesThanTheMachineHasAreRefused() {
        GraphKit big = GraphKit.on("mesh-8");
        big.gemm(7, 64, 64, 64, 0);
        GraphEstimator small = new GraphEstimator(MachineCatalog.open("ring-4"));
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class, () -> small.estimate(big.graph(), Issue.DEVICE_GRAPH, Detail.SUMMARY));
        assertTrue(refusal.getMessage().contains("needs 8 devices and ring-4 has 4"), refusal::getMessage);
    }

    /** A command that does nothing is one, and not left out. */
    @Test
    void anEmptyCommandKeepsItsPlaceInItsLane() {
        GraphKit kit = GraphKit.on("mesh-8");
        int gemm = kit.gemm(0, 4096, 4096, 4096, 0);
        Command empty = new Command.Copy(kit.bytes(1, 0), kit.bytes(0, 0), io.weft.api.CopyMethod.ENGINE);
        int nothing = kit.builder.add(0, 0, Priority.NORMAL, empty, "nothing");
        Timeline timeline = kit.run();
        assertTrue(timeline.startNanos(nothing) >= timeline.endNanos(gemm));
    }
}

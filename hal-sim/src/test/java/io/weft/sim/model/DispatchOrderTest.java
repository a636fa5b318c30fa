// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Priority;
import io.weft.api.graph.Timeline;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Two H200 taught it: the blocks of a kernel that started earlier are handed out first, and a graph's launch takes longer the further it is spread. */
class DispatchOrderTest {
    private static final double DEVICE_NANOS = 4000;
    private static final double LANE_NANOS = 900;

    private static Machine machine(String kernels, String launch) {
        Path file = Path.of("src/main/resources/io/weft/sim/machines/mesh-8.yaml");
        try {
            String text = Files.readString(file)
                    .replace("      hardware_queues:", kernels + "      hardware_queues:")
                    .replace("      graph_ns:", launch + "      graph_ns:");
            return MachineReader.read(file.toString(), text);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Machine inOrder() {
        return machine("      earlier_weight: 1000\n", "");
    }

    @Test
    void whereTheDispatcherIsFairEqualKernelsEndTogether() {
        GraphKit kit = GraphKit.on(machine("", ""));
        kit.gemm(0, 4096, 4096, 4096, 0);
        kit.gemm(0, 4096, 4096, 4096, 1);
        Timeline both = kit.run();
        assertEquals(both.endNanos(0), both.endNanos(1), 1);
    }

    @Test
    void anEarlierKernelGetsTheDeviceAndBothTakeAboutAsLongAsBefore() {
        GraphKit alone = GraphKit.on(inOrder());
        alone.gemm(0, 4096, 4096, 4096, 0);
        double one = alone.run().durationNanos(0);
        GraphKit kit = GraphKit.on(inOrder());
        kit.gemm(0, 4096, 4096, 4096, 0);
        kit.gemm(0, 4096, 4096, 4096, 1);
        Timeline both = kit.run();
        GraphKit fair = GraphKit.on(machine("", ""));
        fair.gemm(0, 4096, 4096, 4096, 0);
        fair.gemm(0, 4096, 4096, 4096, 1);
        assertEquals(one, both.durationNanos(0), 0.1 * one);
        assertEquals(fair.run().makespanNanos(), both.makespanNanos(), 0.15 * one);
    }

    @Test
    void theOrderHoldsHoweverManyKernelsFollowEachOther() {
        GraphKit kit = GraphKit.on(inOrder());
        int kernels = 40;
        for (int i = 0; i < kernels; i++) {
            kit.gemm(0, 4096, 4096, 4096, i % 2);
        }
        Timeline all = kit.run();
        double step = all.durationNanos(0);
        for (int i = 1; i < kernels; i++) {
            double gap = all.endNanos(i) - all.endNanos(i - 1);
            int number = i;
            // A fair dispatcher ends them in pairs.
            assertTrue(
                    gap > 0.7 * step && gap < 1.2 * step,
                    () -> gap + " ns between the ends of " + (number - 1) + " and " + number + ", expected " + step);
        }
    }

    @Test
    void aLaterKernelOfHigherPriorityStillGoesFirst() {
        GraphKit kit = GraphKit.on(inOrder());
        int early = kit.gemm(0, 8192, 8192, 4096, 0);
        int urgent = kit.gemm(0, 2048, 2048, 2048, 1, Priority.HIGH);
        Timeline both = kit.run();
        assertTrue(both.endNanos(urgent) < both.endNanos(early) / 2);
    }

    @Test
    void aGraphsLaunchTakesLongerForEachDeviceAndLane() {
        String spread = "      graph_device_ns: " + DEVICE_NANOS + "\n      graph_lane_ns: " + LANE_NANOS + "\n";
        GraphKit one = GraphKit.on(machine("", spread));
        one.gemm(0, 256, 256, 256, 0);
        assertEquals(one.graphLatency(), one.run().startNanos(0), 1e-3);
        GraphKit three = GraphKit.on(machine("", spread));
        three.gemm(0, 256, 256, 256, 0);
        three.gemm(4, 256, 256, 256, 3);
        three.copy(4, 2, 1 << 20, 0);
        assertEquals(
                three.graphLatency() + DEVICE_NANOS + LANE_NANOS, three.run().startNanos(0), 1e-3);
    }
}

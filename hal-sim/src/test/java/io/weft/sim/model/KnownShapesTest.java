// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.Priority;
import io.weft.api.graph.Timeline;
import io.weft.spi.PerformanceModel.Issue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shapes that a reader can check by hand, and shapes that others have published. All on mesh-8, whose numbers stand in its document. */
class KnownShapesTest {
    private static final long MB = 1_000_000;
    private static final double LINK = 48e9;
    private static final double SETUP = 300;
    private static final double HOP = 500;

    @Test
    void oneCopyTakesSetupAndHopAndBytesOverBandwidth() {
        GraphKit kit = GraphKit.on("mesh-8");
        int copy = kit.copy(0, 1, 48 * MB, 0);
        Timeline timeline = kit.run();
        assertEquals(SETUP + HOP + 1e6, timeline.durationNanos(copy), 1);
        assertEquals(kit.graphLatency(), timeline.startNanos(copy), 1e-9);
        assertEquals(kit.graphLatency() + SETUP + HOP + 1e6, timeline.makespanNanos(), 1);
    }

    @Test
    void twoCopiesToOnePeerQueueAtItsEngine() {
        GraphKit kit = GraphKit.on("mesh-8");
        int first = kit.copy(0, 1, 48 * MB, 0);
        int second = kit.copy(0, 1, 48 * MB, 1);
        Timeline timeline = kit.run();
        assertEquals(timeline.endNanos(first) - HOP, timeline.startNanos(second), 1);
        assertEquals(kit.graphLatency() + 2 * (SETUP + 1e6) + HOP, timeline.endNanos(second), 1);
    }

    @Test
    void copiesToSevenPeersAtOnceTakeAsLongAsOne() {
        GraphKit kit = GraphKit.on("mesh-8");
        for (int peer = 1; peer < 8; peer++) {
            kit.copy(0, peer, 48 * MB, peer);
        }
        Timeline timeline = kit.run();
        assertEquals(kit.graphLatency() + SETUP + HOP + 1e6, timeline.makespanNanos(), 1);
    }

    @Test
    void copiesOfOneLaneKeepTheirOrderThoughTheirEnginesAreFree() {
        GraphKit kit = GraphKit.on("mesh-8");
        int first = kit.copy(0, 1, 48 * MB, 0);
        int second = kit.copy(0, 2, 48 * MB, 0);
        Timeline timeline = kit.run();
        assertEquals(timeline.endNanos(first), timeline.startNanos(second), 1);
    }

    /** AMD-DMA-Latte's all-gather by copies, issued by the host: one engine for each peer against one for all. */
    @ParameterizedTest
    @CsvSource({"4, 0.61", "16, 0.27", "128, 0.15"})
    void oneEngineForAllPeersIsSlowerAsPublished(long totalMegabytes, double ratio) {
        long bytes = (totalMegabytes << 20) / 8;
        double perPeer = allGatherByCopies("mesh-8", false, bytes);
        double shared = allGatherByCopies("mesh-8", true, bytes);
        assertEquals(ratio, perPeer / shared, 0.15 * ratio);
    }

    private static double allGatherByCopies(String name, boolean oneEngine, long bytes) {
        String text = io.weft.sim.machine.MachineCatalog.text(name);
        if (oneEngine) {
            text = text.replace("map: per-peer", "map: [2, 2, 2, 2, 2, 2, 2, 2]");
        }
        GraphKit kit = GraphKit.on(io.weft.sim.machine.MachineReader.read("test", text));
        for (int device = 0; device < 8; device++) {
            for (int peer = 0; peer < 8; peer++) {
                if (peer != device) {
                    kit.copy(device, peer, bytes, peer);
                }
            }
        }
        return kit.run(Issue.STREAMS).makespanNanos();
    }

    /** AMD-DMA-Latte: the share of a copy's time that is not the copy. */
    @ParameterizedTest
    @CsvSource({"1, 0.21", "2, 0.11", "4, 0.07", "8, 0.03", "16, 0.02"})
    void theOverheadShareOfACopyIsAsPublished(long megabytes, double share) {
        GraphKit kit = GraphKit.on("mesh-8");
        long bytes = megabytes << 20;
        kit.copy(0, 1, bytes, 0);
        double total = kit.run(Issue.STREAMS).makespanNanos();
        assertEquals(share, 1 - bytes / LINK * 1e9 / total, 0.015);
    }

    @Test
    void aFifthStreamWaitsWhereThereAreFourHardwareQueues() {
        GraphKit kit = GraphKit.on("mesh-8");
        int[] gemm = new int[5];
        for (int lane = 0; lane < 5; lane++) {
            gemm[lane] = kit.gemm(0, 512, 512, 4096, lane); // few tiles: four fit beside one another
        }
        Timeline timeline = kit.run();
        for (int lane = 1; lane < 4; lane++) {
            assertEquals(timeline.startNanos(gemm[0]), timeline.startNanos(gemm[lane]), 1e-9);
        }
        assertEquals(timeline.endNanos(gemm[0]), timeline.startNanos(gemm[4]), 1e-9);
    }

    @Test
    void aKernelThatWaitsHoldsUpTheOneBehindItInItsHardwareQueue() {
        GraphKit kit = GraphKit.on("mesh-8");
        int copy = kit.copy(1, 0, 48 * MB, 0);
        int waiting = kit.gemm(0, 256, 256, 1024, 0, copy);
        int behind = kit.gemm(0, 256, 256, 1024, 4); // lane 4 shares queue 0
        int beside = kit.gemm(0, 256, 256, 1024, 1);
        Timeline timeline = kit.run();
        assertTrue(timeline.startNanos(waiting) > timeline.endNanos(copy));
        assertEquals(timeline.endNanos(waiting), timeline.startNanos(behind), 1e-9);
        assertEquals(kit.graphLatency(), timeline.startNanos(beside), 1e-9);
    }

    @Test
    void oneTileMoreThanAFullWaveCostsAWholeWave() {
        // 304 units: 16 x 19 tiles of 256 x 256 are one wave, 17 x 19 are two.
        GraphKit kit = GraphKit.on(io.weft.sim.machine.MachineReader.read("test", onlyLargeTiles()));
        int full = kit.gemm(0, 16 * 256, 19 * 256, 8192, 0);
        int more = kit.gemm(1, 17 * 256, 19 * 256, 8192, 0);
        int oneRow = kit.gemm(2, 16 * 256 + 1, 19 * 256, 8192, 0);
        Timeline timeline = kit.run();
        double start = kit.machine.device(0).kernels().startNanos();
        double wave = timeline.durationNanos(full) - start;
        assertEquals(2 * wave, timeline.durationNanos(more) - start, 1e-6 * wave);
        assertEquals(2 * wave, timeline.durationNanos(oneRow) - start, 1e-6 * wave);
        double byHand = 2.0 * 256 * 256 * (8192 + 256) / (1307.4e12 / 304 * 0.55) * 1e9;
        assertEquals(byHand, wave, 1);
    }

    private static String onlyLargeTiles() {
        String text = io.weft.sim.machine.MachineCatalog.text("mesh-8");
        return text.replaceAll("(?m)^        - \\{rows: (?!256, columns: 256).*\\n", "");
    }

    @Test
    void aLargeGemmReachesHalfOfThePeak() {
        GraphKit kit = GraphKit.on("mesh-8");
        int gemm = kit.gemm(0, 16384, 8192, 8192, 0);
        double tflops = 2.0 * 16384 * 8192 * 8192 / kit.run().durationNanos(gemm) / 1e3;
        assertTrue(tflops > 600 && tflops < 720, "TFLOP/s: " + tflops);
    }

    @Test
    void anH200LikeGemmTakesWhatTheRealOneTook() {
        GraphKit kit = GraphKit.on("switch-8");
        int gemm = kit.gemm(0, 16384, 8192, 8192, 0);
        assertEquals(2799e3, kit.run().durationNanos(gemm), 0.05 * 2799e3);
    }

    @Test
    void anEngineDrivenAllGatherLeavesAGemmAloneAndAKernelDrivenOneDoesNot() {
        double alone = gemmBeside("nothing");
        double engines = gemmBeside("engines");
        double kernels = gemmBeside("collective");
        assertTrue(engines < 1.03 * alone, "beside engines: " + engines / alone);
        assertTrue(kernels > 1.10 * alone && kernels < 1.6 * alone, "beside a collective: " + kernels / alone);
    }

    private static double gemmBeside(String what) {
        GraphKit kit = GraphKit.on("mesh-8");
        long shard = 512 * MB;
        if (what.equals("engines")) {
            for (int peer = 1; peer < 8; peer++) {
                for (int device = 0; device < 8; device++) {
                    kit.copy(device, (device + peer) % 8, shard, 1 + peer);
                }
            }
        } else if (what.equals("collective")) {
            kit.collective(CollectiveKind.ALL_GATHER, shard, 1, 0);
        }
        int gemm = kit.gemm(0, 16384, 8192, 8192, 0);
        return kit.run().durationNanos(gemm);
    }

    @Test
    void twoGemmsThatFillTheDeviceShareItByPriority() {
        GraphKit kit = GraphKit.on("mesh-8");
        int high = kit.gemm(0, 16384, 8192, 8192, 0, Priority.HIGH);
        int normal = kit.gemm(0, 16384, 8192, 8192, 1, Priority.NORMAL);
        GraphKit single = GraphKit.on("mesh-8");
        int one = single.gemm(0, 16384, 8192, 8192, 0);
        double alone = single.run().durationNanos(one);
        Timeline timeline = kit.run();
        // 2048 tiles in 7 waves hold 292.6 of 304 units, of which two at once get 95 %; weights are 16 against 4.
        double share = 0.95 * 304 / (2048.0 / 7) / 1.25;
        assertEquals(alone / share, timeline.durationNanos(high), 0.005 * alone);
        assertEquals(alone / share + 0.75 * alone, timeline.durationNanos(normal), 0.005 * alone);
    }

    @Test
    void smallPeerCopiesGoByKernelAndLargeOnesByEngineWhenTheMethodIsLeftOpen() {
        GraphKit kit = GraphKit.on("mesh-8");
        int small = kit.copy(0, 1, 1 << 20, 0, CopyMethod.AUTO);
        int large = kit.copy(0, 2, (1 << 20) + 1, 1, CopyMethod.AUTO);
        Timeline timeline = kit.run();
        double kernelStart = kit.machine.device(0).kernels().startNanos();
        assertEquals(kernelStart + HOP + (1 << 20) / LINK * 1e9, timeline.durationNanos(small), 1);
        assertEquals(SETUP + HOP + ((1 << 20) + 1) / LINK * 1e9, timeline.durationNanos(large), 1);
    }

    /** All-reduce of 8 MI300X by RCCL, eager, one process for each device; 25 %. */
    @ParameterizedTest
    @CsvSource({
        "1024, 13.11",
        "65536, 13.77",
        "262144, 16.87",
        "1048576, 27.42",
        "4194304, 51.72",
        "16777216, 148.8",
        "67108864, 429.1",
        "1073741824, 5970.6",
        "17179869184, 94254"
    })
    void anAllReduceTakesWhatThePublishedTableSays(long bytes, double microseconds) {
        GraphKit kit = GraphKit.on("mesh-8");
        kit.collective(CollectiveKind.ALL_REDUCE, bytes, 0, 0);
        assertEquals(microseconds * 1e3, kit.run(Issue.STREAMS).makespanNanos(), 0.25 * microseconds * 1e3);
    }

    @Test
    void aCollectiveStartsWhenItsLastPartIsThereAndEndsForAllAtOnce() {
        GraphKit kit = GraphKit.on("mesh-8");
        int gemm = kit.gemm(3, 8192, 8192, 8192, 0);
        int first = kit.collective(CollectiveKind.ALL_GATHER, 8 * MB, 0, 0);
        Timeline timeline = kit.run();
        for (int rank = 0; rank < 8; rank++) {
            assertEquals(timeline.endNanos(first), timeline.endNanos(first + rank), 0);
        }
        assertEquals(kit.graphLatency(), timeline.startNanos(first), 1e-9);
        assertTrue(timeline.startNanos(first + 3) >= timeline.endNanos(gemm));
        assertTrue(timeline.endNanos(first) > timeline.endNanos(gemm) + 8 * MB / LINK * 1e9);
    }

    @Test
    void onASwitchOnePeerGetsTheWholePortAndSevenShareIt() {
        GraphKit one = GraphKit.on("switch-8");
        int copy = one.copy(0, 1, 378 * MB, 0);
        assertEquals(1e6, one.run().durationNanos(copy) - 2500 - 800, 1);
        GraphKit seven = GraphKit.on("switch-8");
        for (int peer = 1; peer < 8; peer++) {
            seven.copy(0, peer, 54 * MB, peer);
        }
        assertEquals(seven.graphLatency() + 2500 + 800 + 1e6, seven.run().makespanNanos(), 1);
    }
}

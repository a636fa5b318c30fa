// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.api.Figures;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.spi.PerformanceModel;
import java.util.List;
import org.junit.jupiter.api.Test;

class OverlapMetricsTest {
    private static final PerformanceModel.Issue ISSUE = PerformanceModel.Issue.DEVICE_GRAPH;
    /** Two ranks, 128 rows each of 64 by 64: 4 tile rows; whole GEMM 4 x 4096 ns and a set-up of 1000 ns. */
    private static final OverlapProblem PROBLEM =
            OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 256, 64, 64, ElementType.FP32, 2);

    private static final LaneModel MODEL = new LaneModel(1, 4, 1000);
    private static final double GEMM = 1000 + 4 * 4096;
    /** The share of a GEMM with 64 times the rows. */
    private static final double STEADY = 1000.0 / 64 + 4 * 4096;

    /** A shard is 128 x 64 x 4 bytes = 32768, 8192 ns as a copy and half as long again as a collective. */
    private static final double COMM = 1000 + 1.5 * 8192;

    private static OverlapMetrics metrics(String schedule) {
        LoweredSchedule lowered = Lowering.lower(PROBLEM, Schedule.parse(schedule));
        Timeline timeline = MODEL.estimate(lowered.graph(), ISSUE, PerformanceModel.Detail.SUMMARY);
        return OverlapMetrics.of(lowered, timeline, MODEL, ISSUE);
    }

    @Test
    void serialIsGemmPlusCommunicationAndGainsNothing() {
        OverlapMetrics serial = metrics("serial");
        assertEquals((GEMM + COMM) / 1e3, serial.us(), 1e-9);
        assertEquals(GEMM / 1e3, serial.gemmUs(), 1e-9);
        assertEquals(COMM / 1e3, serial.commUs(), 1e-9);
        assertEquals((GEMM + COMM) / STEADY, serial.idealSpeedup(), 1e-9);
        assertEquals(1, serial.speedup(), 1e-9);
        assertEquals(0, serial.shareOfIdeal());
        assertEquals(COMM / (GEMM + COMM), serial.exposedCommShare(), 1e-9);
        assertEquals(0, serial.dilGemm(), 1e-9);
        assertEquals(0, serial.dilComm(), 1e-9);
        assertEquals(0, serial.cilGemm(), 1e-9);
        assertEquals(0, serial.cilComm(), 1e-9);
    }

    @Test
    void piecesAloneOverTheWholeAloneIsTheDecompositionLoss() {
        OverlapMetrics hetero = metrics("hetero-unfused-1d/chunks=2");
        // The own shard of two tile rows and two remote chunks of one each, every one with its set-up.
        assertEquals((GEMM + 2 * 1000) / GEMM - 1, hetero.dilGemm(), 1e-9);
        // Two chunks instead of one copy: one more set-up.
        assertEquals((8192 + 2000) / (8192.0 + 1000) - 1, hetero.dilComm(), 1e-9);
        // 9192 ns of own GEMM cover the first chunk (5096) and all but 1000 of the second (10192), behind which runs
        // the first chunk's GEMM.
        double us = (9192 + 5096 + 5096) / 1e3;
        assertEquals(us, hetero.us(), 1e-9);
        double speedup = (GEMM + COMM) / 1e3 / us;
        assertEquals(speedup, hetero.speedup(), 1e-9);
        assertEquals((speedup - 1) / (hetero.idealSpeedup() - 1), hetero.shareOfIdeal(), 1e-9);
        assertEquals(0, hetero.exposedCommShare(), 1e-9);
    }

    @Test
    void whatRunsLongerThanAloneIsTheContentionLoss() {
        LoweredSchedule lowered = Lowering.lower(PROBLEM, Schedule.parse("cover-merge/cover=1"));
        CommandGraph graph = lowered.graph();
        double[] starts = new double[graph.size()];
        double[] ends = new double[graph.size()];
        for (int node = 0; node < graph.size(); node++) {
            boolean gemm = graph.command(node) instanceof Command.Gemm;
            boolean second = gemm && graph.dependencyCount(node) > 0;
            double alone = MODEL.aloneNanos(graph, node);
            starts[node] = second ? 20000 : 0;
            ends[node] = starts[node] + alone * (gemm ? 1.25 : 1.5);
        }
        Timeline timeline = new Timeline(
                graph,
                Figures.MEASURED,
                starts,
                ends,
                40000,
                List.of(
                        new Timeline.Resource(Timeline.ResourceKind.COPY_ENGINE, 0, -1, "engine", 1, 10000, 0),
                        new Timeline.Resource(Timeline.ResourceKind.COPY_ENGINE, 0, -1, "engine", 1, 0, 0),
                        new Timeline.Resource(Timeline.ResourceKind.LINK, 0, 1, "link", 4e9, 9000, 32768)),
                List.of());
        OverlapMetrics metrics = OverlapMetrics.of(lowered, timeline, MODEL, ISSUE);
        assertEquals(0.25, metrics.cilGemm(), 1e-9);
        assertEquals(0.5, metrics.cilComm(), 1e-9);
        assertEquals(0.125, metrics.copyEngineUse(), 1e-9);
        assertEquals(32768 / (4e9 * 40e-6), metrics.linkUse(), 1e-9);
        double busy = 2 * 9192 * 1.25;
        assertEquals((40000 - busy) / 40000, metrics.exposedCommShare(), 1e-9);
    }

    @Test
    void nothingIsDividedByZero() {
        OverlapProblem alone = OverlapProblem.of(Pattern.GEMM_REDUCE_SCATTER, 1, 1, 1, ElementType.FP32, 1);
        LoweredSchedule lowered = Lowering.lower(alone, Schedule.serial());
        LaneModel free = new LaneModel(0, 1, 0);
        OverlapMetrics metrics = OverlapMetrics.of(
                lowered, free.estimate(lowered.graph(), ISSUE, PerformanceModel.Detail.SUMMARY), free, ISSUE);
        for (double value : new double[] {
            metrics.speedup(),
            metrics.idealSpeedup(),
            metrics.shareOfIdeal(),
            metrics.exposedCommShare(),
            metrics.dilGemm(),
            metrics.dilComm(),
            metrics.cilGemm(),
            metrics.cilComm(),
            metrics.copyEngineUse()
        }) {
            assertTrue(Double.isFinite(value), metrics::toString);
        }
    }
}

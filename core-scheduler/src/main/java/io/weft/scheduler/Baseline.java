// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.spi.PerformanceModel;

/**
 * What every schedule of a problem is measured against: the serial schedule, its GEMM alone, its communication alone, and the communication as one copy for each pair of ranks. Immutable.
 *
 * @param serialNanos makespan of the serial schedule with the backend's collective, ns
 * @param gemmNanos the whole GEMM alone on the most loaded device, ns
 * @param commNanos the whole collective alone, ns
 * @param gemmSumNanos the whole GEMMs of all devices alone, added up, ns
 * @param pairSumNanos one copy of the whole block for each pair of ranks, each alone, added up, ns; by copy engine or by kernel
 * @param kernelPairSumNanos the same by kernel
 */
record Baseline(
        double serialNanos,
        double gemmNanos,
        double commNanos,
        double gemmSumNanos,
        double pairSumNanos,
        double kernelPairSumNanos) {
    static Baseline of(OverlapProblem problem, PerformanceModel model, PerformanceModel.Issue issue) {
        CommandGraph serial = Lowering.lower(problem, Schedule.serial()).graph();
        Timeline timeline = model.estimate(serial, issue, PerformanceModel.Detail.SUMMARY);
        AloneTimes alone = new AloneTimes(model, serial);
        double gemm = 0;
        double gemmSum = 0;
        double comm = 0;
        int lastKey = -1;
        for (int node = 0; node < serial.size(); node++) {
            if (serial.command(node) instanceof Command.Gemm) {
                double nanos = alone.nanos(node);
                gemm = Math.max(gemm, nanos);
                gemmSum += nanos;
            } else if (serial.command(node) instanceof Command.Collective part && part.key() != lastKey) {
                // Several only where shards are uneven; the vendor libraries run those one after the other, too.
                lastKey = part.key();
                comm += model.aloneNanos(serial, node);
            }
        }
        boolean alonePossible = problem.ranks() > 1;
        return new Baseline(
                timeline.makespanNanos(),
                gemm,
                comm,
                gemmSum,
                alonePossible ? pairs(problem, TransferEngine.COPY_ENGINE, model) : 0,
                alonePossible ? pairs(problem, TransferEngine.KERNEL, model) : 0);
    }

    private static double pairs(OverlapProblem problem, TransferEngine engine, PerformanceModel model) {
        CommandGraph graph =
                Lowering.lower(problem, Schedule.serial().withEngine(engine)).graph();
        AloneTimes alone = new AloneTimes(model, graph);
        double sum = 0;
        for (int node = 0; node < graph.size(); node++) {
            if (Traffic.isTransfer(graph.command(node))) {
                sum += alone.nanos(node);
            }
        }
        return sum;
    }

    double pairSumNanos(TransferEngine engine) {
        return engine == TransferEngine.KERNEL ? kernelPairSumNanos : pairSumNanos;
    }

    /** Serial over the longer of GEMM and communication: what perfect overlap would give. */
    double idealSpeedup() {
        double longer = Math.max(gemmNanos, commNanos);
        return longer > 0 ? Math.max(1, serialNanos / longer) : 1;
    }
}

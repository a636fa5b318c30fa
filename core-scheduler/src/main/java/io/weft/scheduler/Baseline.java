// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
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
 * @param gemmFloorNanos the least time for the operations of the GEMM: the whole alone, or its share of one with many times its rows, in which no wave of tiles is half empty, ns
 * @param commFloorNanos the least time for the bytes of the communication: those of the busiest link at its full rate, in the form that loads it least, ns
 */
record Baseline(
        double serialNanos,
        double gemmNanos,
        double commNanos,
        double gemmSumNanos,
        double pairSumNanos,
        double kernelPairSumNanos,
        double gemmFloorNanos,
        double commFloorNanos) {
    /** Rows of an endless GEMM, in rows of the real one: enough that its last wave no longer counts. */
    private static final int MANY = 64;

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
        double gemmFloor = Math.min(gemm, steadyGemm(problem, model));
        if (problem.ranks() == 1) {
            return new Baseline(timeline.makespanNanos(), gemm, comm, gemmSum, 0, 0, gemmFloor, 0);
        }
        CommandGraph engines = direct(problem, TransferEngine.COPY_ENGINE);
        CommandGraph kernels = direct(problem, TransferEngine.KERNEL);
        double busiest = Math.min(
                busiestLink(timeline), busiestLink(model.estimate(kernels, issue, PerformanceModel.Detail.SUMMARY)));
        return new Baseline(
                timeline.makespanNanos(),
                gemm,
                comm,
                gemmSum,
                pairs(engines, model),
                pairs(kernels, model),
                gemmFloor,
                Double.isFinite(busiest) ? Math.min(comm, busiest) : comm);
    }

    private static double steadyGemm(OverlapProblem problem, PerformanceModel model) {
        long rows = problem.largestRows() * MANY;
        return gemmNanos(model, rows, problem.n(), problem.k(), problem.elementType(), problem.outputType()) / MANY;
    }

    /** One GEMM alone on the first device, ns. */
    static double gemmNanos(
            PerformanceModel model, long rows, long columns, long depth, ElementType type, ElementType output) {
        CommandGraph.Builder builder = CommandGraph.builder(1);
        Command.Gemm gemm = gemm(builder, rows, columns, depth, type, output);
        int node = builder.add(0, 0, Priority.NORMAL, gemm, "gemm");
        return model.aloneNanos(builder.build(), node);
    }

    /** A GEMM of the same shape on the first device, in slots of its own. */
    static Command.Gemm gemm(CommandGraph.Builder builder, Command.Gemm like) {
        return gemm(
                builder, like.m(), like.n(), like.k(), like.a().type(), like.c().type());
    }

    private static Command.Gemm gemm(
            CommandGraph.Builder builder, long rows, long columns, long depth, ElementType type, ElementType output) {
        return Command.Gemm.of(
                matrix(builder, rows, columns, output),
                matrix(builder, rows, depth, type),
                matrix(builder, depth, columns, type));
    }

    private static BufferView matrix(CommandGraph.Builder builder, long rows, long columns, ElementType type) {
        Slot slot = builder.slot(0, "operand", rows * columns * type.bytes(), Slot.Role.INPUT);
        return BufferView.matrix(slot, 0, rows, columns, type);
    }

    /** Time that the bytes of the busiest link take at its full rate, ns; infinite where the model tells of no link. */
    private static double busiestLink(Timeline timeline) {
        double longest = 0;
        for (Timeline.Resource resource : timeline.resources()) {
            if (resource.kind() == Timeline.ResourceKind.LINK && resource.capacity() > 0) {
                longest = Math.max(longest, resource.units() / resource.capacity() * 1e9);
            }
        }
        return longest > 0 ? longest : Double.POSITIVE_INFINITY;
    }

    private static CommandGraph direct(OverlapProblem problem, TransferEngine engine) {
        return Lowering.lower(problem, Schedule.serial().withEngine(engine)).graph();
    }

    private static double pairs(CommandGraph graph, PerformanceModel model) {
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

    /**
     * What perfect overlap would give: serial over the longer of the two floors, behind which the other would hide. No schedule can be faster, since it has to do the same operations and to move the same bytes; the GEMM or the collective
     * as the library runs them whole is no such bound, as pieces may fill waves that the whole leaves half empty, and copies may be faster than the collective.
     */
    double idealSpeedup() {
        double longer = Math.max(gemmFloorNanos, commFloorNanos);
        return longer > 0 ? Math.max(1, serialNanos / longer) : 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.sim;

import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.sim.machine.MachineCatalog;
import io.weft.sim.model.GraphEstimator;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One estimate of an overlap schedule of 904 nodes on eight devices: the own shard first, then one GEMM for each of 56 chunks that arrive, which is the finest
 * schedule there is. The graph is made by hand here, so that the figure does not depend on the scheduler.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class EstimateBenchmark {
    private static final int P = 8;

    /** How the graph reaches the devices. */
    @Param({"DEVICE_GRAPH", "STREAMS"})
    public Issue issue;

    /** The machine. */
    @Param({"mesh-8", "switch-8"})
    public String machine;

    private CommandGraph graph;
    private GraphEstimator estimator;

    /** Builds the graph and the estimator. */
    @Setup
    public void setUp() {
        graph = chunkedAllGatherGemm(16384, 2048, 8192);
        estimator = new GraphEstimator(MachineCatalog.open(machine));
    }

    /** One estimate. */
    @Benchmark
    public Timeline estimate() {
        return estimator.estimate(graph, issue, Detail.SUMMARY);
    }

    /** The graph: A[m, k] sharded by rows over the devices, chunks pushed by their owners, one GEMM for each chunk on one of four lanes. */
    static CommandGraph chunkedAllGatherGemm(long m, long n, long k) {
        CommandGraph.Builder graph = CommandGraph.builder(P);
        long shard = m / P;
        long chunk = shard / P;
        Slot[] a = new Slot[P];
        Slot[] b = new Slot[P];
        Slot[] c = new Slot[P];
        for (int d = 0; d < P; d++) {
            a[d] = graph.slot(d, "A", m * k * 2, Slot.Role.COMMUNICATION);
            b[d] = graph.slot(d, "B", k * n * 2, Slot.Role.INPUT);
            c[d] = graph.slot(d, "C", m * n * 2, Slot.Role.OUTPUT);
        }
        for (int d = 0; d < P; d++) {
            gemm(graph, a[d], b[d], c[d], d, d * shard, shard, n, k, 0, -1);
        }
        for (int step = 0; step < P; step++) {
            for (int owner = 0; owner < P; owner++) {
                for (int hop = 1; hop < P; hop++) {
                    int to = (owner + hop) % P;
                    long row = owner * shard + step * chunk;
                    Command copy = new Command.Copy(
                            BufferView.matrix(a[to], row * k * 2, chunk, k, ElementType.BF16),
                            BufferView.matrix(a[owner], row * k * 2, chunk, k, ElementType.BF16),
                            CopyMethod.ENGINE);
                    int node = graph.add(owner, 3 + hop, Priority.HIGH, copy, "copy");
                    gemm(graph, a[to], b[to], c[to], to, row, chunk, n, k, (step * (P - 1) + hop) % 4, node);
                }
            }
        }
        return graph.build();
    }

    private static void gemm(
            CommandGraph.Builder graph,
            Slot a,
            Slot b,
            Slot c,
            int device,
            long row,
            long rows,
            long n,
            long k,
            int lane,
            int after) {
        Command gemm = Command.Gemm.of(
                BufferView.matrix(c, row * n * 2, rows, n, ElementType.BF16),
                BufferView.matrix(a, row * k * 2, rows, k, ElementType.BF16),
                BufferView.matrix(b, 0, k, n, ElementType.BF16));
        graph.add(device, lane, Priority.NORMAL, gemm, "gemm", after);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.scheduler;

import io.weft.api.ElementType;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.Lowering;
import io.weft.scheduler.ModelSelector;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.Selection;
import io.weft.sim.machine.MachineCatalog;
import io.weft.sim.model.GraphEstimator;
import io.weft.spi.PerformanceModel;
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

/** Planning on eight devices: lowering the finest schedule (904 nodes and more), estimating it, and weighing every candidate of a problem that was not seen before. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 1)
public class SelectionBenchmark {
    private static final Schedule FINEST = Schedule.parse("hetero-unfused-1d/chunks=8,streams=4");

    /** The pattern. */
    @Param({"ALL_GATHER_GEMM", "GEMM_REDUCE_SCATTER"})
    public Pattern pattern;

    private OverlapProblem problem;
    private PerformanceModel model;

    /** Opens the machine. */
    @Setup
    public void setUp() {
        problem = OverlapProblem.of(pattern, 8192, 7168, 8192, ElementType.BF16, 8);
        model = new GraphEstimator(MachineCatalog.open("mesh-8"));
    }

    /** Lowering alone. */
    @Benchmark
    public LoweredSchedule lower() {
        return Lowering.lower(problem, FINEST);
    }

    /** Lowering and estimating. */
    @Benchmark
    public double lowerAndEstimate() {
        return model.estimate(
                        Lowering.lower(problem, FINEST).graph(),
                        PerformanceModel.Issue.DEVICE_GRAPH,
                        PerformanceModel.Detail.SUMMARY)
                .makespanNanos();
    }

    /** Every candidate, the choice, its metrics and the reason; nothing is kept from before. */
    @Benchmark
    public Selection selectAll() {
        return new ModelSelector(model, PerformanceModel.Issue.DEVICE_GRAPH, true).select(problem);
    }
}

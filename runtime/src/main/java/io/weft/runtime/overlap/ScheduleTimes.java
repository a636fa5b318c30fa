// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.api.AcceleratorException;
import io.weft.api.Figures;
import io.weft.scheduler.Lowering;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Reduction;
import io.weft.scheduler.Schedule;
import io.weft.spi.ModelFitter;
import io.weft.spi.ModelFitter.Probe;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Times of schedules for a fit, out of what {@code weft bench overlap --json FILE} wrote: for numbers that no micro-benchmark of a calibration has decided yet. Stateless.
 *
 * <p>Only schedules that tell such numbers take part: those that add to arrived parts ({@link Probe#GEMM_ACCUMULATE}), and those that cut along K or N and so round sums or add into columns ({@link Probe#REDUCE}). The others of the same problem stand beside them.
 */
public final class ScheduleTimes {
    private static final double NANOS_PER_MICRO = 1e3;

    private ScheduleTimes() {}

    /**
     * Reads the times of some shapes.
     *
     * @param figures what the times must be, a model's or measured: both in one fit would make a machine that nobody has
     * @throws AcceleratorException BAD_DOCUMENT for a file that is none; INVALID_ARGUMENT when it has no such schedule of these shapes
     */
    public static List<ModelFitter.Measurement> read(Path results, List<ShapesFile.Shape> shapes, Figures figures) {
        JsonFields root = Predictions.read(results);
        if (!root.text("figures").equals(figures.label())) {
            throw AcceleratorException.invalid(
                    "calibrate",
                    results + " holds figures that are " + root.text("figures") + "; accepted are such that are "
                            + figures.label() + ", as the other times of the fit are");
        }
        List<ModelFitter.Measurement> measurements = new ArrayList<>();
        for (JsonFields result : root.objects("results")) {
            if (!result.isNull("refusal")) {
                continue;
            }
            OverlapProblem problem = Predictions.problem(result);
            if (shapes.stream().noneMatch(shape -> shape.isOf(problem))) {
                continue;
            }
            List<ModelFitter.Measurement> plain = new ArrayList<>();
            List<ModelFitter.Measurement> telling = new ArrayList<>();
            for (JsonFields timed : result.objects("schedules")) {
                Schedule schedule = Predictions.schedule(timed);
                if (!timed.isNull("us")) {
                    boolean slabs = schedule.kind() == Schedule.Kind.UNIFORM_FUSED_2D;
                    boolean adds = schedule.reduction() == Reduction.ACCUMULATE;
                    (slabs || adds ? telling : plain)
                            .add(new ModelFitter.Measurement(
                                    slabs ? Probe.REDUCE : Probe.GEMM_ACCUMULATE,
                                    problem.pattern() + " " + problem.m() + "x" + problem.n() + "x" + problem.k() + " "
                                            + schedule,
                                    Lowering.lower(problem, schedule).graph(),
                                    timed.number("us") * NANOS_PER_MICRO));
                }
            }
            // One list for all, so that its pace is found once.
            List<ModelFitter.Measurement> beside = List.copyOf(plain);
            for (ModelFitter.Measurement each : telling) {
                measurements.add(
                        new ModelFitter.Measurement(each.probe(), each.name(), each.graph(), each.nanos(), beside));
            }
        }
        if (measurements.isEmpty()) {
            throw AcceleratorException.invalid(
                    "calibrate",
                    results
                            + " has no schedule of the shapes to fit that reduces by accumulation or cuts in two dimensions");
        }
        return measurements;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.runtime.json.JsonReader;
import io.weft.scheduler.AloneGraphs;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.Lowering;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.TransferEngine;
import io.weft.spi.PerformanceModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Holds a model's predictions against the times of a {@code weft bench overlap} that were written as JSON. Stateless. */
public final class Predictions {
    private static final String SUBJECT = "results";
    private static final double NANOS_PER_MICRO = 1e3;

    private Predictions() {}

    /**
     * Predicts everything that was measured.
     *
     * @param results the file
     * @param platform a platform with a performance model
     * @throws AcceleratorException BAD_DOCUMENT for a file that is none; UNSUPPORTED without a model; INVALID_ARGUMENT when the model has too few devices
     */
    public static PredictionReport compare(Path results, Platform platform) {
        return compare(results, platform, List.of());
    }

    /**
     * Predicts what was measured, some shapes left out: those that a model was fitted to say nothing about how well it predicts.
     *
     * @param except shapes that do not count
     */
    public static PredictionReport compare(Path results, Platform platform, List<ShapesFile.Shape> except) {
        PerformanceModel model = platform.extension(PerformanceModel.class)
                .orElseThrow(() -> AcceleratorException.unsupported(
                        "predict", Capability.PERFORMANCE_MODEL, platform.uri().toString()));
        JsonFields root = read(results);
        List<PredictionReport.Problem> problems = new ArrayList<>();
        Set<String> leftOut = new LinkedHashSet<>();
        for (JsonFields result : root.objects("results")) {
            if (result.isNull("refusal")) {
                OverlapProblem problem = problem(result);
                Optional<ShapesFile.Shape> left =
                        except.stream().filter(shape -> shape.isOf(problem)).findFirst();
                if (left.isPresent()) {
                    leftOut.add(left.get().text());
                } else {
                    problems.add(problem(problem, result, model));
                }
            }
        }
        if (problems.isEmpty()) {
            throw AcceleratorException.invalid(
                    "predict",
                    "no problem of " + results + " is left; accepted are shapes to leave out that are not all of them");
        }
        return new PredictionReport(
                root.text("platform") + ", " + root.text("date"),
                root.text("figures"),
                platform.uri().toString(),
                List.copyOf(leftOut),
                problems);
    }

    /** Results of an overlap benchmark. */
    static JsonFields read(Path results) {
        JsonFields root = new JsonFields(SUBJECT, results.toString(), JsonReader.read(SUBJECT, results));
        if (root.isNull("kind") || !root.text("kind").equals(OverlapBenchReport.KIND)) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT,
                    SUBJECT,
                    results + " is no overlap benchmark; accepted is what 'weft bench overlap --json FILE' writes");
        }
        return root;
    }

    static OverlapProblem problem(JsonFields result) {
        try {
            return OverlapProblem.of(
                            Pattern.parse(result.text("pattern")),
                            result.whole("m"),
                            result.whole("n"),
                            result.whole("k"),
                            ElementType.parse(result.text("elementType")),
                            Math.toIntExact(result.whole("ranks")))
                    .withInPlace(!result.isNull("inPlace") && result.flag("inPlace"));
        } catch (ArithmeticException | AcceleratorException wrong) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT,
                    SUBJECT,
                    result.at("pattern") + ": "
                            + (wrong instanceof AcceleratorException refusal ? refusal.detail() : "too many ranks"),
                    wrong);
        }
    }

    private static PredictionReport.Problem problem(OverlapProblem problem, JsonFields result, PerformanceModel model) {
        List<PredictionReport.Line> lines = new ArrayList<>();
        alone(lines, result, "gemmUs", PredictionReport.GEMM_ALONE, AloneGraphs.gemm(problem), model);
        if (problem.ranks() > 1) {
            alone(
                    lines,
                    result,
                    "collectiveUs",
                    PredictionReport.COLLECTIVE_ALONE,
                    AloneGraphs.communication(problem, TransferEngine.COLLECTIVE),
                    model);
            alone(
                    lines,
                    result,
                    "copiesUs",
                    PredictionReport.COPIES_ALONE,
                    AloneGraphs.communication(problem, TransferEngine.COPY_ENGINE),
                    model);
        }
        Schedule choice = null;
        Schedule best = null;
        double least = Double.POSITIVE_INFINITY;
        double fastest = Double.POSITIVE_INFINITY;
        double chosen = 0;
        for (JsonFields timed : result.objects("schedules")) {
            if (timed.isNull("us")) {
                continue;
            }
            Schedule schedule = schedule(timed);
            double measured = timed.number("us");
            double predicted = predict(Lowering.lower(problem, schedule), model);
            lines.add(new PredictionReport.Line(schedule.toString(), measured, predicted));
            if (predicted < least) {
                least = predicted;
                choice = schedule;
                chosen = measured;
            }
            if (measured < fastest) {
                fastest = measured;
                best = schedule;
            }
        }
        if (best == null) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT, SUBJECT, result.at("schedules") + ": no schedule has a time");
        }
        return new PredictionReport.Problem(problem, lines, choice, best, chosen / fastest - 1);
    }

    static Schedule schedule(JsonFields timed) {
        try {
            return Schedule.parse(timed.text("schedule"));
        } catch (AcceleratorException unknown) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT, SUBJECT, timed.at("schedule") + ": " + unknown.detail(), unknown);
        }
    }

    private static void alone(
            List<PredictionReport.Line> lines,
            JsonFields result,
            String member,
            String what,
            LoweredSchedule graph,
            PerformanceModel model) {
        if (!result.isNull(member)) {
            lines.add(new PredictionReport.Line(what, result.number(member), predict(graph, model)));
        }
    }

    private static double predict(LoweredSchedule lowered, PerformanceModel model) {
        return model.estimate(lowered.graph(), PerformanceModel.Issue.DEVICE_GRAPH, PerformanceModel.Detail.SUMMARY)
                        .makespanNanos()
                / NANOS_PER_MICRO;
    }
}

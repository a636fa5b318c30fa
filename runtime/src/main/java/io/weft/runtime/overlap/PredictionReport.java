// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.runtime.json.JsonWriter;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Schedule;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Predicted beside measured times. Times are microseconds.
 *
 * @param measured what was measured: platform and date
 * @param figures {@code measured}, or {@code model} when the results are a model's own
 * @param model URI of the model that predicts
 * @param leftOut shapes of the results that do not count, as the model was fitted to them
 * @param problems one for each other problem of the results
 */
public record PredictionReport(
        String measured, String figures, String model, List<String> leftOut, List<Problem> problems) {
    /** What a line is about when it is not a schedule. */
    public static final String GEMM_ALONE = "GEMM alone";

    /** The backend's collective. */
    public static final String COLLECTIVE_ALONE = "collective alone";

    /** One copy for each pair of ranks. */
    public static final String COPIES_ALONE = "copies alone";

    /**
     * One problem.
     *
     * @param problem which
     * @param lines every time that was measured
     * @param choice the fastest schedule by prediction, among those measured
     * @param best the fastest measured
     * @param regret measured time of the choice over that of the best, minus 1
     */
    public record Problem(OverlapProblem problem, List<Line> lines, Schedule choice, Schedule best, double regret) {
        public Problem {
            lines = List.copyOf(lines);
        }
    }

    /**
     * One time.
     *
     * @param what the schedule's text form, or one of the names above
     * @param measuredUs measured
     * @param predictedUs predicted
     */
    public record Line(String what, double measuredUs, double predictedUs) {
        /** Predicted over measured, minus 1. */
        public double error() {
            return predictedUs / measuredUs - 1;
        }

        /** Whether it is a schedule. */
        public boolean isSchedule() {
            return !what.endsWith("alone");
        }
    }

    /**
     * Sizes of errors.
     *
     * @param count lines
     * @param median middle of their sizes, a share
     * @param worst largest of them
     */
    public record Errors(int count, double median, double worst) {
        static Errors of(List<Line> lines) {
            double[] sizes = lines.stream()
                    .mapToDouble(line -> Math.abs(line.error()))
                    .sorted()
                    .toArray();
            return sizes.length == 0
                    ? new Errors(0, 0, 0)
                    : new Errors(sizes.length, sizes[sizes.length / 2], sizes[sizes.length - 1]);
        }
    }

    public PredictionReport {
        leftOut = List.copyOf(leftOut);
        problems = List.copyOf(problems);
    }

    private Errors errors(Predicate<Line> wanted) {
        return Errors.of(problems.stream()
                .flatMap(problem -> problem.lines().stream())
                .filter(wanted)
                .toList());
    }

    /** Errors over all schedules of all problems. */
    public Errors errors() {
        return errors(Line::isSchedule);
    }

    /** Errors by kind of schedule, and of what runs alone. */
    public Map<String, Errors> errorsByKind() {
        Map<String, Errors> kinds = new TreeMap<>();
        problems.forEach(problem -> problem.lines()
                .forEach(line -> kinds.computeIfAbsent(
                        kind(line), kind -> errors(other -> kind(other).equals(kind)))));
        return kinds;
    }

    private static String kind(Line line) {
        return line.isSchedule() ? Schedule.parse(line.what()).kind().label() : line.what();
    }

    /** Mean and largest regret over all problems, as shares. */
    public double meanRegret() {
        return problems.stream().mapToDouble(Problem::regret).average().orElse(0);
    }

    /** Largest regret, a share. */
    public double worstRegret() {
        return problems.stream().mapToDouble(Problem::regret).max().orElse(0);
    }

    /** Share of the problems in which the choice is the best measured one. */
    public double hitRate() {
        return problems.stream()
                .mapToDouble(problem -> problem.choice().equals(problem.best()) ? 1 : 0)
                .average()
                .orElse(0);
    }

    /** The whole report as Markdown. */
    public String markdown() {
        StringBuilder text = new StringBuilder();
        text.append("# Predicted and measured\n\n");
        text.append("Model: `")
                .append(model)
                .append("`. Times held against it: ")
                .append(measured);
        text.append(figures.equals("measured") ? "" : " (themselves a model's: predicted, not measured)");
        text.append(". Errors are predicted over measured time minus 1.");
        if (!leftOut.isEmpty()) {
            text.append(" Left out, because the model was fitted to some of their times: ")
                    .append(String.join("; ", leftOut))
                    .append('.');
        }
        text.append("\n\n");
        Errors all = errors();
        text.append(String.format(
                Locale.ROOT,
                "%d schedules of %d problems: median error %.1f %%, worst %.1f %%. The model's choice among them is the best measured one in %.0f %% of the problems; regret %.2f %% in the mean, %.2f %% at worst.\n\n",
                all.count(),
                problems.size(),
                100 * all.median(),
                100 * all.worst(),
                100 * hitRate(),
                100 * meanRegret(),
                100 * worstRegret()));
        text.append("| what | times | median error | worst error |\n|---|---:|---:|---:|\n");
        errorsByKind()
                .forEach((kind, errors) -> text.append(String.format(
                        Locale.ROOT,
                        "| %s | %d | %.1f %% | %.1f %% |\n",
                        kind,
                        errors.count(),
                        100 * errors.median(),
                        100 * errors.worst())));
        text.append(
                "\n| pattern | M, N, K | model's choice | best measured | regret | median error | worst error | of |\n");
        text.append("|---|---|---|---|---:|---:|---:|---|\n");
        for (Problem each : problems) {
            Errors errors = Errors.of(schedules(each));
            String worst = schedules(each).stream()
                    .max(Comparator.comparingDouble(line -> Math.abs(line.error())))
                    .map(Line::what)
                    .orElse("");
            text.append(String.format(
                    Locale.ROOT,
                    "| %s | %d, %d, %d | %s | %s | %.2f %% | %.1f %% | %.1f %% | %s |\n",
                    each.problem().pattern(),
                    each.problem().m(),
                    each.problem().n(),
                    each.problem().k(),
                    each.choice(),
                    each.best(),
                    100 * each.regret(),
                    100 * errors.median(),
                    100 * errors.worst(),
                    worst));
        }
        text.append(
                "\n| pattern | M, N, K | what | measured us | predicted us | error |\n|---|---|---|---:|---:|---:|\n");
        for (Problem each : problems) {
            for (Line line : each.lines()) {
                text.append(String.format(
                        Locale.ROOT,
                        "| %s | %d, %d, %d | %s | %.1f | %.1f | %+.1f %% |\n",
                        each.problem().pattern(),
                        each.problem().m(),
                        each.problem().n(),
                        each.problem().k(),
                        line.what(),
                        line.measuredUs(),
                        line.predictedUs(),
                        100 * line.error()));
            }
        }
        return text.toString();
    }

    private static List<Line> schedules(Problem problem) {
        return problem.lines().stream().filter(Line::isSchedule).toList();
    }

    /** The report as JSON. */
    public String json() {
        return JsonWriter.text(json -> json.object(() -> {
            json.member("model", model);
            json.member("results", measured);
            json.member("figures", figures);
            json.member("leftOut", String.join("; ", leftOut));
            Errors all = errors();
            json.member("schedules", all.count());
            json.member("medianError", all.median());
            json.member("worstError", all.worst());
            json.member("hitRate", hitRate());
            json.member("meanRegret", meanRegret());
            json.member("worstRegret", worstRegret());
            json.array(
                    "problems",
                    problems,
                    each -> json.object(() -> {
                        OverlapProblem problem = each.problem();
                        json.member("pattern", problem.pattern().label());
                        json.member("m", problem.m());
                        json.member("n", problem.n());
                        json.member("k", problem.k());
                        json.member("choice", each.choice().toString());
                        json.member("best", each.best().toString());
                        json.member("regret", each.regret());
                        json.array(
                                "times",
                                each.lines(),
                                line -> json.object(() -> {
                                    json.member("what", line.what());
                                    json.member("measuredUs", line.measuredUs());
                                    json.member("predictedUs", line.predictedUs());
                                    json.member("error", line.error());
                                }));
                    }));
        }));
    }

    /** Errors of one problem's schedules. */
    public static Errors errors(Problem problem) {
        return Errors.of(schedules(problem));
    }
}

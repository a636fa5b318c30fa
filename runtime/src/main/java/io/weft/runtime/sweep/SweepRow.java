// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sweep;

import io.weft.runtime.plan.PlanReport;
import io.weft.scheduler.OverlapMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One point's outcome as it is written, so that a row that was read is the row that was written.
 *
 * @param cells one for each of {@link #COLUMNS}; figures are empty where {@code note} says why there are none
 */
public record SweepRow(List<String> cells) {
    /** The columns. Times are microseconds, shares lie between 0 and 1. */
    public static final List<String> COLUMNS = List.of(
            "platform",
            "model",
            "tokens",
            "tp",
            "ep",
            "dtype",
            "devices",
            "layers",
            "serial_us",
            "us",
            "speedup",
            "ideal_speedup",
            "exposed_share",
            "choices",
            "figures",
            "note",
            "settings");

    /** Columns that tell a point, in their order. */
    private static final int COORDINATES = 6;

    private static final Set<String> NUMBERS = Set.of(
            "tokens", "tp", "ep", "devices", "layers", "serial_us", "us", "speedup", "ideal_speedup", "exposed_share");

    public SweepRow {
        cells = List.copyOf(cells);
        if (cells.size() != COLUMNS.size()) {
            throw new IllegalArgumentException(cells.size() + " cells for " + COLUMNS.size() + " columns");
        }
    }

    /** A planned point. */
    static SweepRow of(SweepRequest.Point point, PlanReport report, String settings) {
        double exposed = 0;
        double ideal = 0;
        for (PlanReport.ProblemReport part : report.problems()) {
            OverlapMetrics metrics = part.metrics();
            exposed += part.total() * metrics.us() * metrics.exposedCommShare();
            ideal += part.total() * metrics.serialUs() / metrics.idealSpeedup();
        }
        List<String> cells = coordinates(point);
        cells.add(Integer.toString(report.platform().devices()));
        cells.add(Integer.toString(report.model().layers()));
        cells.add(figure("%.3f", report.total().serialUs()));
        cells.add(figure("%.3f", report.total().us()));
        cells.add(figure("%.4f", report.total().speedup()));
        cells.add(figure("%.4f", ideal > 0 ? report.total().serialUs() / ideal : 1));
        cells.add(figure(
                "%.4f", report.total().us() > 0 ? exposed / report.total().us() : 0));
        cells.add(report.problems().stream()
                .map(part -> part.name() + ":" + part.choice())
                .collect(Collectors.joining("; ")));
        cells.add(report.figures());
        cells.add("");
        cells.add(settings);
        return new SweepRow(cells);
    }

    /** A point that cannot be planned. */
    static SweepRow refused(SweepRequest.Point point, String why, String settings) {
        List<String> cells = coordinates(point);
        while (cells.size() < COLUMNS.size()) {
            cells.add("");
        }
        cells.set(COLUMNS.indexOf("note"), why.replaceAll("\\p{Cntrl}+", " "));
        cells.set(COLUMNS.indexOf("settings"), settings);
        return new SweepRow(cells);
    }

    private static List<String> coordinates(SweepRequest.Point point) {
        return new ArrayList<>(List.of(
                point.platform(),
                point.model(),
                Long.toString(point.tokens()),
                Integer.toString(point.tensorParallel()),
                Integer.toString(point.expertParallel()),
                point.elementType().label()));
    }

    private static String figure(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /** What tells a point, the same for a point and its row. */
    static List<String> key(SweepRequest.Point point) {
        return List.copyOf(coordinates(point));
    }

    List<String> key() {
        return cells.subList(0, COORDINATES);
    }

    /** The cell of a column. */
    public String cell(String column) {
        return cells.get(COLUMNS.indexOf(column));
    }

    /** Whether the point could be planned. */
    public boolean isPlanned() {
        return !cell("figures").isEmpty();
    }

    static boolean isNumber(String column) {
        return NUMBERS.contains(column);
    }
}

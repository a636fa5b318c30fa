// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.Platform;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.memory.PoolStatistics;
import io.weft.memory.PoolUse;
import io.weft.runtime.memory.DeviceUse;
import io.weft.runtime.plan.Plan;
import io.weft.runtime.plan.PlanReport;
import io.weft.runtime.plan.PlanReport.Candidate;
import io.weft.runtime.plan.PlanReport.ProblemReport;
import io.weft.scheduler.OverlapMetrics;
import io.weft.scheduler.OverlapProblem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A plan as one page that needs nothing else: the table, each problem's timeline and candidates, and the machine. No script, no network,
 * everything that comes from a file or a name is escaped.
 */
public final class HtmlReport {
    /** Devices whose lanes are drawn at once; they mostly look alike, so the others unfold on a click. */
    private static final int OPEN_DEVICES = 2;

    /** Devices whose lanes are drawn at all. */
    private static final int MOST_DEVICES = 8;

    /** Candidates whose bars are drawn. */
    private static final int MOST_BARS = 24;

    private static final int PLOT_WIDTH = 1320;
    private static final int LABEL_WIDTH = 130;
    private static final int ROW_HEIGHT = 12;

    private final Plan plan;
    private final PlanReport report;
    private final Platform platform;
    private final StringBuilder page = new StringBuilder(1 << 16);

    private HtmlReport(Plan plan, Platform platform) {
        this.plan = plan;
        this.report = plan.report();
        this.platform = platform;
    }

    /**
     * The page of a plan.
     *
     * @param plan a plan; one that kept its timelines also gets them drawn
     * @param platform the platform that it was made on, still open
     */
    public static String of(Plan plan, Platform platform) {
        return new HtmlReport(plan, platform).write();
    }

    private String write() {
        String title = report.model().name() + " on " + report.platform().uri();
        page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>Weft: ");
        text(title)
                .append("</title>\n<style>")
                .append(Style.PALETTE)
                .append(Style.PAGE)
                .append(Style.TOPOLOGY);
        page.append("</style>\n</head>\n<body>\n<h1>");
        text(title).append("</h1>\n");
        summary();
        table();
        for (int i = 0; i < report.problems().size(); i++) {
            problem(i);
        }
        report.memory().ifPresent(this::memory);
        page.append("<h2>Machine: ");
        text(report.platform().machine()).append("</h2>\n<figure>");
        if (platform.topology().devices() <= MachineDrawing.MOST_IN_A_DRAWING) {
            page.append(MachineDrawing.svg(MachineDrawing.describe(platform), false));
        } else {
            page.append("<p>").append(platform.topology().devices()).append(" devices, too many to draw</p>");
        }
        page.append("</figure>\n</body>\n</html>\n");
        return page.toString();
    }

    private void summary() {
        PlanReport.ModelInfo model = report.model();
        page.append("<p><span class=\"label\">");
        text(report.figures()).append("</span> ");
        text(
                report.figures().equals("model")
                        ? "Every time on this page is predicted by a model of the machine; nothing was measured."
                        : "Every time on this page was measured on the machine.");
        page.append("</p>\n<p>");
        text(model.tokens() + " tokens, " + model.layers() + " layers, tensor parallel " + model.tp()
                + ", expert parallel " + model.ep() + ", " + model.elementType() + ". One pass: ");
        text(micros(report.total().us()) + " with overlap, "
                + micros(report.total().serialUs()) + " without: "
                + times(report.total().speedup()) + ".");
        page.append("</p>\n");
        for (String note : report.notes()) {
            page.append("<p class=\"faint\">");
            text(note).append("</p>\n");
        }
    }

    private void table() {
        page.append("<div class=\"scroll\"><table>\n<tr>");
        for (String head : List.of("part", "pattern", "schedule")) {
            page.append("<th class=\"l\">").append(head).append("</th>");
        }
        for (String head : List.of(
                "M",
                "N",
                "K",
                "per layer",
                "serial us",
                "us",
                "speedup",
                "ideal",
                "of ideal",
                "exposed",
                "DIL gemm",
                "CIL gemm",
                "DIL comm",
                "CIL comm")) {
            page.append("<th>").append(head).append("</th>");
        }
        page.append("</tr>\n");
        for (ProblemReport each : report.problems()) {
            OverlapProblem problem = each.problem();
            OverlapMetrics metrics = each.metrics();
            page.append("<tr>");
            for (String cell : List.of(
                    each.name(), problem.pattern().label(), each.choice().toString())) {
                page.append("<td class=\"l\">");
                text(cell).append("</td>");
            }
            for (String cell : List.of(
                    Long.toString(problem.m()),
                    Long.toString(problem.n()),
                    Long.toString(problem.k()),
                    each.layers() == each.modelLayers()
                            ? Integer.toString(each.perLayer())
                            : each.perLayer() + " in " + each.layers() + " of " + each.modelLayers(),
                    Markup.figure(metrics.serialUs()),
                    Markup.figure(metrics.us()),
                    times(metrics.speedup()),
                    times(metrics.idealSpeedup()),
                    percent(metrics.shareOfIdeal()),
                    percent(metrics.exposedCommShare()),
                    percent(metrics.dilGemm()),
                    percent(metrics.cilGemm()),
                    percent(metrics.dilComm()),
                    percent(metrics.cilComm()))) {
                page.append("<td>");
                text(cell).append("</td>");
            }
            page.append("</tr>\n");
        }
        sum("layer" + (isUniform() ? "" : " (mean)"), report.layer());
        sum("model", report.total());
        page.append(
                "</table></div>\n<p class=\"faint\">M counts the rows over all ranks; N and K are what one device ");
        page.append(
                "multiplies. Ideal is serial over the longer of GEMM and communication alone. Exposed is the share of time ");
        page.append(
                "in which a device computes nothing. DIL is what cutting into pieces costs, CIL what running beside each ");
        page.append("other costs, both as a ratio minus one.</p>\n");
    }

    private void memory(DeviceUse use) {
        page.append("<h2>Memory</h2>\n<p>");
        text(
                "What one pass does to the pools of the first device: the weights of every layer, operands and results while"
                        + " they are needed, and workspace.");
        page.append("</p>\n<div class=\"scroll\"><table>\n<tr><th class=\"l\">pool</th>");
        for (String head : List.of("most out, MB", "most held, MB", "fragmentation", "allocations", "device calls")) {
            page.append("<th>").append(head).append("</th>");
        }
        page.append("</tr>\n");
        for (PoolUse pool : use.pools()) {
            PoolStatistics now = pool.statistics();
            page.append("<tr><td class=\"l\">");
            text(pool.pool()).append("</td>");
            for (String cell : List.of(
                    Markup.figure(now.peakAllocatedBytes() / 1e6),
                    Markup.figure(now.peakReservedBytes() / 1e6),
                    String.format(Locale.ROOT, "%.2f %%", 100 * now.fragmentation()),
                    Long.toString(now.allocations()),
                    Long.toString(now.deviceAllocations() + now.deviceFrees()))) {
                page.append("<td>");
                text(cell).append("</td>");
            }
            page.append("</tr>\n");
        }
        page.append("</table></div>\n");
    }

    private boolean isUniform() {
        return report.problems().stream().allMatch(each -> each.layers() == each.modelLayers());
    }

    private void sum(String name, PlanReport.Times times) {
        page.append("<tr class=\"sum\"><td class=\"l\">");
        text(name).append("</td><td></td><td></td><td></td><td></td><td></td><td></td><td>");
        text(Markup.figure(times.serialUs())).append("</td><td>");
        text(Markup.figure(times.us())).append("</td><td>");
        text(times(times.speedup()))
                .append("</td>")
                .append("<td></td>".repeat(7))
                .append("</tr>\n");
    }

    private void problem(int index) {
        ProblemReport each = report.problems().get(index);
        page.append("<h2>");
        text(each.name() + ": " + each.problem()).append("</h2>\n<p>");
        text(each.choice() + ": " + each.reason()).append("</p>\n");
        if (!each.note().isEmpty()) {
            page.append("<p class=\"faint\">");
            text(each.note()).append("</p>\n");
        }
        if (index < plan.timelines().size()) {
            timeline(plan.timelines().get(index));
        }
        candidates(each);
    }

    private record Bar(double start, double end, CommandKind kind, String label) {}

    private void timeline(Timeline timeline) {
        int devices = timeline.graph().deviceCount();
        page.append("<h3>Timeline (");
        text(timeline.figures().label()).append(" figures)</h3>\n<p class=\"key\">");
        for (CommandKind kind : CommandKind.values()) {
            if (has(timeline, kind)) {
                page.append("<b style=\"background:var(--").append(kind.label()).append(")\"></b>");
                page.append(kind.label());
            }
        }
        page.append("</p>\n");
        plot(timeline, 0, Math.min(devices, OPEN_DEVICES));
        if (devices > OPEN_DEVICES) {
            int drawn = Math.min(devices, MOST_DEVICES);
            page.append("<details><summary>devices ")
                    .append(OPEN_DEVICES)
                    .append(" to ")
                    .append(drawn - 1);
            page.append(drawn < devices ? " of " + devices : "").append("</summary>\n");
            plot(timeline, OPEN_DEVICES, drawn);
            page.append("</details>\n");
        }
    }

    private static boolean has(Timeline timeline, CommandKind kind) {
        CommandGraph graph = timeline.graph();
        for (int node = 0; node < graph.size(); node++) {
            if (CommandKind.of(graph.command(node)) == kind) {
                return true;
            }
        }
        return false;
    }

    private void plot(Timeline timeline, int firstDevice, int endDevice) {
        CommandGraph graph = timeline.graph();
        TreeMap<String, List<Bar>> rows = new TreeMap<>();
        TreeMap<String, String> names = new TreeMap<>();
        for (int node = 0; node < graph.size(); node++) {
            if (graph.device(node) >= firstDevice && graph.device(node) < endDevice) {
                String key = String.format(Locale.ROOT, "%06d 0 %06d", graph.device(node), graph.lane(node));
                names.putIfAbsent(key, "device " + graph.device(node) + " lane " + graph.lane(node));
                add(rows, key, timeline, node, timeline.startNanos(node), timeline.endNanos(node));
            }
        }
        for (Timeline.Interval interval : timeline.intervals()) {
            Timeline.Resource resource = timeline.resources().get(interval.resource());
            if (resource.kind() == Timeline.ResourceKind.COPY_ENGINE
                    && resource.device() >= firstDevice
                    && resource.device() < endDevice) {
                String key = String.format(Locale.ROOT, "%06d 1 %06d", resource.device(), interval.resource());
                names.putIfAbsent(key, "device " + resource.device() + " " + ResourceName.of(resource));
                add(rows, key, timeline, interval.node(), interval.startNanos(), interval.endNanos());
            }
        }
        int height = rows.size() * ROW_HEIGHT + 28;
        page.append("<figure><svg class=\"plot\" viewBox=\"0 0 ")
                .append(PLOT_WIDTH)
                .append(' ')
                .append(height);
        page.append("\" role=\"img\"><title>Timeline</title>\n");
        double width = PLOT_WIDTH - LABEL_WIDTH - 10.0;
        double scale = timeline.makespanNanos() > 0 ? width / timeline.makespanNanos() : 0;
        grid(timeline.makespanNanos(), scale, height);
        int y = 4;
        for (var row : rows.entrySet()) {
            page.append("<text class=\"name\" x=\"0\" y=\"")
                    .append(y + ROW_HEIGHT - 3)
                    .append("\">");
            text(names.get(row.getKey())).append("</text>\n");
            for (Bar bar : row.getValue()) {
                page.append("<rect class=\"").append(bar.kind().label()).append("\" x=\"");
                page.append(Markup.coordinate(LABEL_WIDTH + bar.start() * scale))
                        .append("\" y=\"")
                        .append(y);
                page.append("\" width=\"").append(Markup.coordinate(Math.max(0.4, (bar.end() - bar.start()) * scale)));
                page.append("\" height=\"").append(ROW_HEIGHT - 1).append("\"><title>");
                text(bar.label() + ": " + Markup.figure(bar.start() / 1e3) + " to " + Markup.figure(bar.end() / 1e3)
                                + " us")
                        .append("</title></rect>\n");
            }
            y += ROW_HEIGHT;
        }
        page.append("</svg></figure>\n");
    }

    private static void add(
            Map<String, List<Bar>> rows, String key, Timeline timeline, int node, double start, double end) {
        CommandGraph graph = timeline.graph();
        rows.computeIfAbsent(key, k -> new ArrayList<>())
                .add(new Bar(start, end, CommandKind.of(graph.command(node)), graph.label(node)));
    }

    private void grid(double makespan, double scale, int height) {
        int lines = 5;
        for (int i = 0; i <= lines; i++) {
            double nanos = makespan * i / lines;
            String x = Markup.coordinate(LABEL_WIDTH + nanos * scale);
            page.append("<line class=\"grid\" x1=\"")
                    .append(x)
                    .append("\" y1=\"0\" x2=\"")
                    .append(x);
            page.append("\" y2=\"").append(height - 18).append("\"/><text text-anchor=\"");
            page.append(i == 0 ? "start" : i == lines ? "end" : "middle")
                    .append("\" x=\"")
                    .append(x);
            page.append("\" y=\"").append(height - 5).append("\">");
            text(Markup.figure(nanos / 1e3) + " us").append("</text>\n");
        }
    }

    private void candidates(ProblemReport each) {
        List<Candidate> bars = each.candidates().stream().limit(MOST_BARS).toList();
        double longest = bars.stream().mapToDouble(Candidate::us).max().orElse(1);
        double ideal = each.metrics().serialUs() / each.metrics().idealSpeedup();
        longest = Math.max(longest, ideal);
        int label = 330;
        int height = bars.size() * 17 + 22;
        double scale = longest > 0 ? (PLOT_WIDTH - label - 150) / longest : 0;
        page.append("<h3>Candidates</h3>\n<figure><svg class=\"plot\" viewBox=\"0 0 ")
                .append(PLOT_WIDTH)
                .append(' ');
        page.append(height).append("\" role=\"img\"><title>Candidates</title>\n");
        int y = 2;
        for (Candidate bar : bars) {
            boolean chosen = bar.schedule().equals(each.choice());
            page.append("<text class=\"name\" x=\"0\" y=\"").append(y + 11).append("\">");
            text(bar.schedule() + (chosen ? " (chosen)" : "")).append("</text><rect class=\"");
            page.append(chosen ? "chosen" : "other")
                    .append("\" x=\"")
                    .append(label)
                    .append("\" y=\"")
                    .append(y);
            page.append("\" width=\"").append(Markup.coordinate(Math.max(0.4, bar.us() * scale)));
            page.append("\" height=\"13\"/><text x=\"").append(Markup.coordinate(label + 6 + bar.us() * scale));
            page.append("\" y=\"").append(y + 11).append("\">");
            text(Markup.figure(bar.us()) + " us, " + times(bar.speedup())).append("</text>\n");
            y += 17;
        }
        String x = Markup.coordinate(label + ideal * scale);
        page.append("<line class=\"grid\" x1=\"")
                .append(x)
                .append("\" y1=\"0\" x2=\"")
                .append(x);
        page.append("\" y2=\"")
                .append(y)
                .append("\" stroke-width=\"2\"/><text x=\"")
                .append(x)
                .append("\" y=\"");
        page.append(y + 13).append("\" text-anchor=\"middle\">");
        text("ideal " + Markup.figure(ideal) + " us").append("</text>\n</svg></figure>\n");
        if (each.candidates().size() > bars.size()) {
            page.append("<p class=\"faint\">");
            text("the fastest " + bars.size() + " of " + each.candidates().size())
                    .append("</p>\n");
        }
    }

    private static String times(double ratio) {
        return String.format(Locale.ROOT, "%.2fx", ratio);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    private static String micros(double us) {
        return us >= 10_000 ? Markup.figure(us / 1e3) + " ms" : Markup.figure(us) + " us";
    }

    private StringBuilder text(String text) {
        return page.append(Markup.escape(text));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.memory.replay.ReplayCurve;
import io.weft.memory.replay.ReplayPiece;
import io.weft.memory.replay.ReplayReport;
import io.weft.memory.replay.Trace;
import io.weft.runtime.replay.ReplayOutcome;
import java.util.List;
import java.util.Locale;

/**
 * A replay as one page that needs nothing else: the figures of each pool, bytes out and held over the trace, and each pool's memory when the most is out. No
 * script, no network, everything that comes from a file is escaped.
 */
public final class ReplayPage {
    private static final int WIDTH = 1320;
    private static final int LEFT = 74;
    private static final int RIGHT = 12;
    private static final int CURVE_HEIGHT = 300;
    private static final int HOVERS = 120;
    private static final int TICKS = 5;

    private static final int ROW_HEIGHT = 14;
    private static final int MOST_ROWS = 32;
    /** Segments whose edges are drawn; more would be a grey field. */
    private static final int MOST_EDGES = 400;

    private final ReplayOutcome outcome;
    private final StringBuilder page = new StringBuilder(1 << 16);

    private ReplayPage(ReplayOutcome outcome) {
        this.outcome = outcome;
    }

    /**
     * The page of a replay.
     *
     * @param outcome a replay that kept its curves
     */
    public static String of(ReplayOutcome outcome) {
        return new ReplayPage(outcome).write();
    }

    private String write() {
        Trace trace = outcome.trace();
        page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>Weft: ");
        text("replay of " + trace.name())
                .append("</title>\n<style>")
                .append(Style.PALETTE)
                .append(Style.PAGE)
                .append(Style.MEMORY)
                .append("</style>\n</head>\n<body>\n<h1>");
        text("Replay of " + trace.name()).append("</h1>\n<p><span class=\"label\">measured</span> ");
        text(outcome.on()
                .map(platform -> "Times are measured on " + platform.uri()
                        + ", with what its device's allocator takes; bytes and calls are counted. What device rounds"
                        + " sizes to is not told.")
                .orElse("Times are measured on one machine's host; bytes and calls are counted. caching and bestfit are"
                        + " models of other allocators."));
        page.append("</p>\n<p>");
        text(String.format(
                Locale.ROOT,
                "%s%s. %,d events: %,d allocations, %,d frees, %d %s%s. At most %s are out at one time%s.",
                trace.format(),
                trace.device().isEmpty() ? "" : ", device " + trace.device(),
                trace.count() - trace.eventsBefore(),
                trace.allocations(),
                trace.frees(),
                trace.streamCount(),
                trace.streamCount() == 1 ? "stream" : "streams",
                trace.liveBeforeBytes() == 0 ? "" : "; " + bytes(trace.liveBeforeBytes()) + " are live before",
                bytes(trace.peakLiveBytes()),
                recorded(trace)));
        page.append("</p>\n");
        for (String note : trace.notes()) {
            page.append("<p class=\"faint\">");
            text(note).append("</p>\n");
        }
        table();
        if (!outcome.curves().isEmpty()) {
            curves();
            outcome.curves().forEach(this::memory);
        }
        return page.append("</body>\n</html>\n").toString();
    }

    private String recorded(Trace trace) {
        return trace.recordedReservedPeak() <= 0
                ? ""
                : "; the recorded allocator held " + bytes(trace.recordedReservedPeak()) + " ("
                        + percent(outcome.reports().getFirst().recordedFragmentation()) + " fragmentation)";
    }

    private void table() {
        page.append("<div class=\"scroll\"><table>\n<tr><th class=\"l\">pool</th>");
        for (String head : List.of(
                "cold, ns an event",
                "median",
                "p99",
                "peak allocated",
                "peak reserved",
                "fragmentation",
                "first pass's",
                "device calls",
                "in later passes",
                "out-of-memory retries",
                "refused",
                "planned")) {
            page.append("<th>").append(head).append("</th>");
        }
        page.append("</tr>\n");
        for (ReplayReport report : outcome.reports()) {
            page.append("<tr><td class=\"l\">");
            text(report.target()).append("</td>");
            for (String cell : List.of(
                    Markup.figure(report.coldNanos()),
                    Markup.figure(report.medianNanos()),
                    Markup.figure(report.p99Nanos()),
                    bytes(report.peakAllocatedBytes()),
                    bytes(report.peakReservedBytes()),
                    percent(report.fragmentation()),
                    percent(report.fragmentationFirstPass()),
                    Long.toString(report.deviceCalls()),
                    Long.toString(report.deviceCallsWarm()),
                    Long.toString(report.retries()),
                    Long.toString(report.refusals()),
                    percent(report.plannedShare()))) {
                page.append("<td>");
                text(cell).append("</td>");
            }
            page.append("</tr>\n");
        }
        page.append(
                "</table></div>\n<p class=\"faint\">Fragmentation is 1 - peak allocated / peak reserved. Planned is the ");
        page.append("share of the last pass's allocations that a learned layout served.</p>\n");
    }

    // Over time.

    private void curves() {
        ReplayCurve first = outcome.curves().getFirst();
        int samples = first.live().length;
        long most = outcome.trace().peakLiveBytes();
        for (ReplayCurve curve : outcome.curves()) {
            for (long held : curve.reserved()) {
                most = Math.max(most, held);
            }
        }
        page.append("<h2>Bytes over ")
                .append(first.timed() ? "time" : "the trace")
                .append("</h2>\n<p class=\"key\">");
        page.append("<b style=\"background:var(--gemm)\"></b>out");
        for (ReplayCurve curve : outcome.curves()) {
            page.append("<b style=\"background:").append(color(curve.target())).append("\"></b>");
            text("held by " + curve.target());
        }
        page.append("</p>\n<figure><svg class=\"plot\" viewBox=\"0 0 ")
                .append(WIDTH)
                .append(' ');
        page.append(CURVE_HEIGHT + 24).append("\" role=\"img\"><title>Bytes over the trace</title>\n");
        axes(first, most);
        page.append("<path class=\"area\" d=\"")
                .append(path(first.live(), most, true))
                .append("\"/>\n");
        for (ReplayCurve curve : outcome.curves()) {
            page.append("<path class=\"line ").append(curve.target()).append("\" d=\"");
            page.append(path(curve.reserved(), most, false)).append("\"/>\n");
        }
        int hovers = Math.min(HOVERS, samples);
        for (int i = 0; i < hovers; i++) {
            hover(i, hovers, samples, first);
        }
        page.append("</svg></figure>\n");
    }

    private void axes(ReplayCurve curve, long most) {
        double step = step((double) most, unit((double) most, 1024));
        for (double value = 0; value <= most; value += step) {
            String y = Markup.coordinate(y(value, most));
            page.append("<line class=\"grid\" x1=\"")
                    .append(LEFT)
                    .append("\" x2=\"")
                    .append(WIDTH - RIGHT);
            page.append("\" y1=\"").append(y).append("\" y2=\"").append(y).append("\"/><text text-anchor=\"end\" x=\"");
            page.append(LEFT - 6)
                    .append("\" y=\"")
                    .append(Markup.coordinate(y(value, most) + 4))
                    .append("\">");
            text(bytes((long) value)).append("</text>\n");
        }
        double length = (double) curve.last() - curve.first();
        double stride = step(length, curve.timed() ? unit(length, 1000) : 1);
        for (double value = 0; length > 0 && value <= length; value += stride) {
            page.append("<text text-anchor=\"").append(value == 0 ? "start" : value > 0.97 * length ? "end" : "middle");
            page.append("\" x=\"").append(Markup.coordinate(x(value / length))).append("\" y=\"");
            page.append(CURVE_HEIGHT + 18).append("\">");
            text(position(curve, value / length)).append("</text>\n");
        }
    }

    /** The largest power of a base that is no more than a value. */
    private static double unit(double most, int base) {
        double unit = 1;
        while (unit * base <= most) {
            unit *= base;
        }
        return unit;
    }

    /** A round step that divides a length into about {@link #TICKS} parts. */
    private static double step(double length, double unit) {
        double rough = Math.max(1, length / unit / TICKS);
        double decade = Math.pow(10, Math.floor(Math.log10(rough)));
        double lead = rough / decade;
        return unit * decade * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
    }

    private static double x(double share) {
        return LEFT + share * (WIDTH - LEFT - RIGHT);
    }

    private static double y(double bytes, long most) {
        return CURVE_HEIGHT - (most == 0 ? 0 : bytes / most) * (CURVE_HEIGHT - 8);
    }

    /** Where in the trace a share of the width lies. */
    private static String position(ReplayCurve curve, double share) {
        double at = curve.first() + share * (curve.last() - curve.first());
        if (!curve.timed()) {
            return String.format(Locale.ROOT, "event %,d", (long) at);
        }
        double unit = unit((double) curve.last() - curve.first(), 1000);
        String name = unit >= 1e9 ? " s" : unit >= 1e6 ? " ms" : unit >= 1e3 ? " us" : " ns";
        return Markup.figure((at - curve.first()) / Math.min(unit, 1e9)) + name;
    }

    private static String path(long[] values, long most, boolean closed) {
        StringBuilder path = new StringBuilder();
        double before = Double.NaN;
        for (int i = 0; i < values.length; i++) {
            double at = y((double) values[i], most);
            if (at != before) { // steps need no points between
                path.append(i == 0 ? "M" : "H").append(Markup.coordinate(x((double) i / values.length)));
                path.append(i == 0 ? " " : "V").append(Markup.coordinate(at));
                before = at;
            }
        }
        path.append("H").append(Markup.coordinate(x(1)));
        if (closed) {
            path.append("V").append(CURVE_HEIGHT).append("H").append(LEFT).append("Z");
        }
        return path.toString();
    }

    private void hover(int index, int hovers, int samples, ReplayCurve first) {
        int from = index * samples / hovers;
        int to = (index + 1) * samples / hovers;
        StringBuilder label = new StringBuilder(
                position(first, (double) index / hovers) + " to " + position(first, (double) (index + 1) / hovers)
                        + ", at most: out " + bytes(most(first.live(), from, to)));
        for (ReplayCurve curve : outcome.curves()) {
            label.append(", ").append(curve.target()).append(" holds ").append(bytes(most(curve.reserved(), from, to)));
        }
        page.append("<rect class=\"hover\" x=\"").append(Markup.coordinate(x((double) index / hovers)));
        page.append("\" y=\"0\" width=\"")
                .append(Markup.coordinate(x((index + 1.0) / hovers) - x((double) index / hovers)));
        page.append("\" height=\"").append(CURVE_HEIGHT).append("\"><title>");
        text(label.toString()).append("</title></rect>\n");
    }

    private static long most(long[] values, int from, int to) {
        long most = 0;
        for (int i = from; i < to; i++) {
            most = Math.max(most, values[i]);
        }
        return most;
    }

    private static String color(String pool) {
        return switch (pool) {
            case "weft" -> "var(--good)";
            case "caching" -> "var(--copy)";
            default -> "var(--collective)";
        };
    }

    // At the peak.

    private void memory(ReplayCurve curve) {
        long held = 0;
        long free = 0;
        int segments = 0;
        for (ReplayPiece piece : curve.atPeak()) {
            held += piece.bytes();
            free += piece.use() == ReplayPiece.Use.FREE ? piece.bytes() : 0;
            segments = Math.max(segments, piece.segment() + 1);
        }
        if (curve.atPeak().isEmpty()) {
            // A device's own allocator tells nothing of it.
            return;
        }
        page.append("<h2>");
        text(curve.target() + ": memory when the most is out").append("</h2>\n<p>");
        text(bytes(held) + " held in " + segments + (segments == 1 ? " range" : " segments") + ", " + bytes(free)
                + " of them free (" + percent(held == 0 ? 0 : (double) free / held)
                + "), in address order from the left"
                + " to the right and down.");
        page.append("</p>\n<p class=\"key\">");
        key("out", "out");
        key("small", "small buffers");
        key("held", "set aside");
        key("free", "free");
        page.append("</p>\n");
        if (held > 0) {
            rows(curve.atPeak(), held, segments);
        }
    }

    private void key(String kind, String words) {
        String color = switch (kind) {
            case "out" -> "gemm";
            case "small" -> "reduce";
            case "held" -> "collective";
            default -> "rule";
        };
        page.append("<b style=\"background:var(--")
                .append(color)
                .append(")\"></b>")
                .append(words);
    }

    private void rows(List<ReplayPiece> pieces, long held, int segments) {
        int count = Math.clamp(pieces.size() / 4L, 1, MOST_ROWS);
        long rowBytes = (held + count - 1) / count;
        count = (int) ((held + rowBytes - 1) / rowBytes);
        page.append("<figure><svg class=\"plot\" viewBox=\"0 0 ").append(WIDTH).append(' ');
        page.append(count * (ROW_HEIGHT + 2)).append("\" role=\"img\"><title>Memory at the peak</title>\n");
        for (int row = 0; row < count; row++) {
            long length = Math.min(rowBytes, held - row * rowBytes);
            page.append("<text text-anchor=\"end\" x=\"").append(LEFT - 6).append("\" y=\"");
            page.append(row * (ROW_HEIGHT + 2) + 11).append("\">");
            text(bytes(row * rowBytes)).append("</text>");
            rect("free", row, 0, length, rowBytes, "");
        }
        long at = 0;
        int segment = -1;
        for (int i = 0; i < pieces.size(); ) {
            ReplayPiece piece = pieces.get(i);
            if (piece.segment() != segment) {
                segment = piece.segment();
                edge(at, rowBytes, segments);
            }
            // Neighbours of one kind too narrow to be told apart are drawn as one.
            long bytes = piece.bytes();
            int next = i + 1;
            while (next < pieces.size()
                    && pieces.get(next).use() == piece.use()
                    && pieces.get(next).segment() == segment
                    && (double) bytes / rowBytes * (WIDTH - LEFT - RIGHT) < 1) {
                bytes += pieces.get(next++).bytes();
            }
            if (piece.use() != ReplayPiece.Use.FREE) {
                String label = piece.use().name().toLowerCase(Locale.ROOT) + ": "
                        + (next - i > 1 ? (next - i) + " pieces, " : "") + bytes(bytes) + " at "
                        + String.format(Locale.ROOT, "0x%x", piece.start())
                        + (segments > 1 ? " in segment " + segment : "");
                across(piece.use().name().toLowerCase(Locale.ROOT), at, bytes, rowBytes, label);
            }
            at += bytes;
            i = next;
        }
        page.append("</svg></figure>\n");
    }

    private void edge(long at, long rowBytes, int segments) {
        if (segments < 2 || segments > MOST_EDGES) {
            return;
        }
        long row = at / rowBytes;
        String x = Markup.coordinate(x((double) (at % rowBytes) / rowBytes));
        page.append("<line class=\"edge\" x1=\"")
                .append(x)
                .append("\" x2=\"")
                .append(x)
                .append("\" y1=\"");
        page.append(row * (ROW_HEIGHT + 2))
                .append("\" y2=\"")
                .append(row * (ROW_HEIGHT + 2) + ROW_HEIGHT)
                .append("\"/>");
    }

    private void across(String kind, long at, long bytes, long rowBytes, String label) {
        long left = bytes;
        long from = at;
        while (left > 0) {
            long inRow = Math.min(left, rowBytes - from % rowBytes);
            rect(kind, (int) (from / rowBytes), from % rowBytes, inRow, rowBytes, label);
            from += inRow;
            left -= inRow;
        }
    }

    private void rect(String kind, int row, long from, long bytes, long rowBytes, String label) {
        double x = x((double) from / rowBytes);
        page.append("<rect class=\"")
                .append(kind)
                .append("\" x=\"")
                .append(Markup.coordinate(x))
                .append("\" y=\"");
        page.append(row * (ROW_HEIGHT + 2)).append("\" width=\"");
        page.append(Markup.coordinate(Math.max(0.3, x((double) (from + bytes) / rowBytes) - x)));
        page.append("\" height=\"").append(ROW_HEIGHT).append('"');
        if (label.isEmpty()) {
            page.append("/>\n");
            return;
        }
        page.append("><title>");
        text(label).append("</title></rect>\n");
    }

    private static String bytes(long bytes) {
        String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
        double value = (double) bytes;
        int unit = 0;
        while (value >= 1024 && unit < units.length - 1) {
            value /= 1024;
            unit++;
        }
        return unit == 0 ? bytes + " B" : String.format(Locale.ROOT, "%.2f %s", value, units[unit]);
    }

    private static String percent(double share) {
        return Double.isNaN(share) ? "-" : String.format(Locale.ROOT, "%.2f %%", 100 * share);
    }

    private StringBuilder text(String text) {
        return page.append(Markup.escape(text));
    }
}

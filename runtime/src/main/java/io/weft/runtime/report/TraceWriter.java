// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.Figures;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.runtime.json.JsonWriter;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes timelines in the Chrome trace event format, which Perfetto opens: one process for each device, in it one track for each lane, copy
 * engine and outgoing link. Sections follow one another in time, named on a process of their own. Events are streamed in a fixed order, so
 * equal timelines give equal bytes.
 */
public final class TraceWriter {
    /** Process of the section names. Devices follow as 1, 2, ... */
    private static final int SECTIONS = 0;

    /** First track of engines and links; lanes come before. A lane number is far below. */
    private static final int FIRST_RESOURCE_TRACK = 1000;

    /** Idle time between sections, so that the eye sees where one ends. */
    private static final double GAP_NANOS = 1000;

    private final JsonWriter json;

    private TraceWriter(JsonWriter json) {
        this.json = json;
    }

    /**
     * Writes a trace.
     *
     * @param out where to; left open
     * @param source what the figures belong to, such as the platform's URI
     */
    public static void write(OutputStream out, String source, Figures figures, List<TraceSection> sections) {
        try (JsonWriter json = JsonWriter.compact(out)) {
            new TraceWriter(json).write(source, figures, sections);
        }
    }

    private void write(String source, Figures figures, List<TraceSection> sections) {
        json.object(() -> {
            json.member("displayTimeUnit", "ns");
            json.object("otherData", () -> {
                json.member("producer", "weft");
                json.member("figures", figures.label());
                json.member("platform", source);
            });
            json.array("traceEvents", List.of(sections), all -> events(figures, all));
        });
    }

    private void events(Figures figures, List<TraceSection> sections) {
        process(SECTIONS, "schedules (" + figures.label() + " figures)");
        thread(SECTIONS, 0, "schedule");
        Map<String, Integer> tracks = nameTracks(sections);
        double from = 0;
        for (TraceSection section : sections) {
            Timeline timeline = section.timeline();
            span(SECTIONS, 0, section.name(), "schedule", from, from + timeline.makespanNanos(), () -> {});
            lanes(timeline, from);
            resources(timeline, from, tracks);
            from += timeline.makespanNanos() + GAP_NANOS;
        }
    }

    /** Names every process and track once and gives each resource's rows their numbers. */
    private Map<String, Integer> nameTracks(List<TraceSection> sections) {
        int devices = 0;
        Map<Integer, Integer> lanes = new TreeMap<>();
        Map<String, Integer> tracks = new TreeMap<>();
        Map<Integer, Map<String, String>> names = new TreeMap<>();
        for (TraceSection section : sections) {
            Timeline timeline = section.timeline();
            CommandGraph graph = timeline.graph();
            devices = Math.max(devices, graph.deviceCount());
            for (int node = 0; node < graph.size(); node++) {
                lanes.merge(graph.device(node), graph.lane(node), Math::max);
            }
            for (Row row : rows(timeline)) {
                Timeline.Resource resource =
                        timeline.resources().get(row.interval().resource());
                names.computeIfAbsent(resource.device(), device -> new TreeMap<>())
                        .putIfAbsent(row.key(), row.name());
            }
        }
        for (int device = 0; device < devices; device++) {
            process(device + 1, "device " + device);
            for (int lane = 0; lane <= lanes.getOrDefault(device, -1); lane++) {
                thread(device + 1, lane, "lane " + lane);
            }
        }
        names.forEach((device, rows) -> {
            int track = FIRST_RESOURCE_TRACK;
            for (Map.Entry<String, String> row : rows.entrySet()) {
                tracks.put(row.getKey(), track);
                thread(device + 1, track++, row.getValue());
            }
        });
        return tracks;
    }

    private void lanes(Timeline timeline, double from) {
        CommandGraph graph = timeline.graph();
        for (int node = 0; node < graph.size(); node++) {
            int current = node;
            span(
                    graph.device(node) + 1,
                    graph.lane(node),
                    graph.label(node),
                    CommandKind.of(graph.command(node)).label(),
                    from + timeline.startNanos(node),
                    from + timeline.endNanos(node),
                    () -> arguments(graph, current));
        }
    }

    private void arguments(CommandGraph graph, int node) {
        json.member("node", node);
        json.member("priority", graph.priority(node).name());
        json.array("dependsOn", List.of(graph.dependencies(node)), dependencies -> {
            for (int dependency : dependencies) {
                json.value(dependency);
            }
        });
    }

    private void resources(Timeline timeline, double from, Map<String, Integer> tracks) {
        CommandGraph graph = timeline.graph();
        for (Row row : rows(timeline)) {
            Timeline.Interval interval = row.interval();
            int device = timeline.resources().get(interval.resource()).device();
            span(
                    device + 1,
                    tracks.get(row.key()),
                    graph.label(interval.node()),
                    CommandKind.of(graph.command(interval.node())).label(),
                    from + interval.startNanos(),
                    from + interval.endNanos(),
                    () -> json.member("node", interval.node()));
        }
    }

    /** An interval and its track. Users of a link that share it at one time get rows of their own, because spans of one track must not overlap. */
    private record Row(Timeline.Interval interval, String key, String name) {}

    private static List<Row> rows(Timeline timeline) {
        List<Timeline.Interval> shown = new ArrayList<>();
        for (Timeline.Interval interval : timeline.intervals()) {
            Timeline.ResourceKind kind =
                    timeline.resources().get(interval.resource()).kind();
            if (kind == Timeline.ResourceKind.COPY_ENGINE || kind == Timeline.ResourceKind.LINK) {
                shown.add(interval);
            }
        }
        shown.sort(Comparator.comparingInt(Timeline.Interval::resource)
                .thenComparingDouble(Timeline.Interval::startNanos)
                .thenComparingDouble(Timeline.Interval::endNanos)
                .thenComparingInt(Timeline.Interval::node));
        List<Row> rows = new ArrayList<>();
        TrackRows free = new TrackRows();
        int resource = -1;
        for (Timeline.Interval interval : shown) {
            if (interval.resource() != resource) {
                resource = interval.resource();
                free = new TrackRows();
            }
            int row = free.place(interval.startNanos(), interval.endNanos());
            Timeline.Resource used = timeline.resources().get(resource);
            boolean link = used.kind() == Timeline.ResourceKind.LINK;
            String name = ResourceName.of(used);
            String key = String.format(
                    Locale.ROOT,
                    "%06d %d %05d %s %03d",
                    used.device(),
                    link ? 1 : 0,
                    Math.max(used.peer(), 0),
                    used.name(),
                    row);
            rows.add(new Row(interval, key, row == 0 ? name : name + " (" + (row + 1) + ")"));
        }
        return rows;
    }

    private void process(int process, String name) {
        json.object(() -> {
            json.member("ph", "M").member("pid", process).member("tid", 0).member("name", "process_name");
            json.object("args", () -> json.member("name", name));
        });
        json.object(() -> {
            json.member("ph", "M").member("pid", process).member("tid", 0).member("name", "process_sort_index");
            json.object("args", () -> json.member("sort_index", process));
        });
    }

    private void thread(int process, int track, String name) {
        json.object(() -> {
            json.member("ph", "M").member("pid", process).member("tid", track).member("name", "thread_name");
            json.object("args", () -> json.member("name", name));
        });
        json.object(() -> {
            json.member("ph", "M").member("pid", process).member("tid", track).member("name", "thread_sort_index");
            json.object("args", () -> json.member("sort_index", track));
        });
    }

    private void span(
            int process, int track, String name, String category, double start, double end, Runnable arguments) {
        json.object(() -> {
            json.member("ph", "X").member("pid", process).member("tid", track);
            json.member("name", name).member("cat", category);
            // Both ends are rounded alike, which keeps neighbours from overlapping.
            long first = Math.round(start);
            json.micros("ts", first).micros("dur", Math.round(end) - first);
            json.object("args", arguments);
        });
    }
}

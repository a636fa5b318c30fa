// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.replay;

import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.memory.replay.RecountedReplay;
import io.weft.memory.replay.ReplayCurve;
import io.weft.memory.replay.ReplayReport;
import io.weft.memory.replay.Trace;
import io.weft.runtime.json.JsonWriter;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What {@code weft pool replay} tells. Times are measured, on this machine's host or with what a device's memory takes; bytes and calls are counted.
 *
 * @param trace what was replayed
 * @param limit bytes that the device had
 * @param on the platform on whose first device's memory it was replayed; empty for memory that is mere numbers
 * @param reports one for each pool
 * @param curves one for each pool; empty unless asked for
 * @param recount our pool's event log counted anew; empty when our pool is not among the pools
 */
public record ReplayOutcome(
        Trace trace,
        long limit,
        Optional<Platform> on,
        List<ReplayReport> reports,
        List<ReplayCurve> curves,
        Optional<RecountedReplay> recount) {
    public ReplayOutcome {
        Objects.requireNonNull(trace);
        reports = List.copyOf(reports);
        curves = List.copyOf(curves);
    }

    /** Whether the first pool served every allocation, and our pool's figures are those that counting its log gives. */
    public boolean isGood() {
        return reports.getFirst().refusals() == 0
                && recount.map(RecountedReplay::isEqual).orElse(true);
    }

    /** The outcome as JSON. What is not known is null. */
    public String json() {
        return JsonWriter.text(json -> json.object(() -> {
            json.member("figures", Figures.MEASURED.label());
            json.member("on", on.map(platform -> platform.uri().toString()).orElse(null));
            json.object(
                    "trace",
                    () -> json.member("name", trace.name())
                            .member("format", trace.format())
                            .member("device", trace.device().isEmpty() ? null : trace.device())
                            .member("events", trace.count() - trace.eventsBefore())
                            .member("allocations", trace.allocations())
                            .member("frees", trace.frees())
                            .member("streams", trace.streamCount())
                            .member("liveBeforeEvents", trace.eventsBefore())
                            .member("liveBeforeBytes", trace.liveBeforeBytes())
                            .member("peakAllocatedBytes", trace.peakLiveBytes()));
            known(json, "limitBytes", limit != ReplayRequest.NO_LIMIT, limit);
            known(json, "recordedPeakReservedBytes", trace.recordedReservedPeak() > 0, trace.recordedReservedPeak());
            json.member("recordedFragmentation", reports.getFirst().recordedFragmentation());
            json.array("pools", reports, report -> report(json, report));
            recount.ifPresent(count -> recount(json, count));
            json.array("notes", trace.notes(), json::value);
        }));
    }

    private static void recount(JsonWriter json, RecountedReplay count) {
        json.object(
                "recount",
                () -> json.member("events", count.recount().events())
                        .member("peakAllocatedBytes", count.recount().peakAllocatedBytes())
                        .member("peakReservedBytes", count.recount().peakReservedBytes())
                        .member("fragmentation", count.recount().fragmentation())
                        .member("equal", count.isEqual()));
    }

    private static void known(JsonWriter json, String name, boolean known, long value) {
        if (known) {
            json.member(name, value);
        } else {
            json.member(name, null);
        }
    }

    private static void report(JsonWriter json, ReplayReport report) {
        json.object(() -> json.member("pool", report.target())
                .member("passes", report.passes())
                .member("coldNsPerEvent", report.coldNanos())
                .member("medianNsPerEvent", report.medianNanos())
                .member("p99Ns", report.p99Nanos())
                .member("peakAllocatedBytes", report.peakAllocatedBytes())
                .member("peakReservedBytes", report.peakReservedBytes())
                .member("fragmentation", report.fragmentation())
                .member("peakReservedBytesFirstPass", report.peakReservedFirstPass())
                .member("fragmentationFirstPass", report.fragmentationFirstPass())
                .member("deviceCalls", report.deviceCalls())
                .member("deviceCallsLaterPasses", report.deviceCallsWarm())
                .member("outOfMemoryRetries", report.retries())
                .member("refused", report.refusals())
                .member("plannedShare", report.plannedShare()));
    }
}

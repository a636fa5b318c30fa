// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import io.weft.runtime.json.JsonWriter;
import io.weft.runtime.json.MemoryJson;
import io.weft.runtime.memory.DeviceUse;
import io.weft.scheduler.OverlapMetrics;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Schedule;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What {@code weft plan} tells. Times are microseconds, losses are ratios minus 1, shares lie between 0 and 1.
 *
 * @param figures {@code model} or {@code measured}
 * @param platform where
 * @param model what
 * @param problems every GEMM that waits for communication or that communication waits for, in the order of a layer
 * @param layer one layer; where layers differ, the mean over all
 * @param total one pass through the model
 * @param memory what one pass does to the pools of the first device; empty when it was not asked for
 * @param notes what a reader should know about how the model was read, each one sentence
 */
public record PlanReport(
        String figures,
        PlatformInfo platform,
        ModelInfo model,
        List<ProblemReport> problems,
        Times layer,
        Times total,
        Optional<DeviceUse> memory,
        List<String> notes) {
    /**
     * The platform.
     *
     * @param uri by which it was opened
     * @param devices their number
     * @param machine its name
     */
    public record PlatformInfo(String uri, int devices, String machine) {}

    /**
     * The model and how it is spread.
     *
     * @param name its name
     * @param layers its layers
     * @param tokens tokens of one pass
     * @param tp tensor-parallel degree
     * @param ep expert-parallel degree
     * @param elementType label of activations' and weights' type
     */
    public record ModelInfo(String name, int layers, long tokens, int tp, int ep, String elementType) {}

    /**
     * Times with and without overlap.
     *
     * @param serialUs every problem one after the other, communication exposed
     * @param us with the chosen schedules
     * @param speedup the former over the latter; 1 when both are 0
     */
    public record Times(double serialUs, double us, double speedup) {
        static Times of(double serialUs, double us) {
            return new Times(serialUs, us, us > 0 ? serialUs / us : 1);
        }
    }

    /**
     * A schedule that was weighed.
     *
     * @param schedule which
     * @param us predicted time
     * @param speedup serial over it
     */
    public record Candidate(Schedule schedule, double us, double speedup) {}

    /**
     * One problem and its choice.
     *
     * @param name part of the layer, such as {@code qkv}
     * @param problem its sizes
     * @param perLayer times in one layer that has it
     * @param layers layers that have it
     * @param modelLayers layers of the whole model
     * @param choice the chosen schedule
     * @param metrics the choice's figures
     * @param reason why it won, one sentence
     * @param candidates what was weighed, fastest first
     * @param note how its sizes came about; empty when they are plain
     */
    public record ProblemReport(
            String name,
            OverlapProblem problem,
            int perLayer,
            int layers,
            int modelLayers,
            Schedule choice,
            OverlapMetrics metrics,
            String reason,
            List<Candidate> candidates,
            String note) {
        public ProblemReport {
            candidates = List.copyOf(candidates);
        }

        /** Times in a layer, mean over all layers: a whole number unless only some layers have it. */
        public double meanPerLayer() {
            return (double) perLayer * layers / modelLayers;
        }

        /** Times in one pass through the model. */
        public long total() {
            return (long) perLayer * layers;
        }
    }

    public PlanReport {
        problems = List.copyOf(problems);
        notes = List.copyOf(notes);
    }

    /**
     * The report as JSON. Its keys are a contract. {@code perLayer} is a mean over layers, so that problems times {@code perLayer} add up to
     * {@code layer}, and {@code layer} times the model's layers is {@code total}.
     */
    public String json() {
        return JsonWriter.text(json -> json.object(() -> {
            json.member("figures", figures);
            json.object(
                    "platform",
                    () -> json.member("uri", platform.uri())
                            .member("devices", platform.devices())
                            .member("machine", platform.machine()));
            json.object(
                    "model",
                    () -> json.member("name", model.name())
                            .member("layers", model.layers())
                            .member("tokens", model.tokens())
                            .member("tp", model.tp())
                            .member("ep", model.ep())
                            .member("elementType", model.elementType()));
            json.array("problems", problems, problem -> problem(json, problem));
            times(json, "layer", layer);
            times(json, "total", total);
            memory.ifPresent(use -> MemoryJson.write(json, List.of(use)));
        }));
    }

    private static void problem(JsonWriter json, ProblemReport report) {
        OverlapProblem problem = report.problem();
        OverlapMetrics metrics = report.metrics();
        json.object(() -> {
            json.member("name", report.name());
            json.member("pattern", problem.pattern().label());
            json.member("m", problem.m()).member("n", problem.n()).member("k", problem.k());
            json.member("elementType", problem.elementType().label());
            json.member("ranks", problem.ranks());
            json.member("perLayer", report.meanPerLayer());
            json.member("serialUs", metrics.serialUs());
            json.member("gemmUs", metrics.gemmUs());
            json.member("commUs", metrics.commUs());
            json.member("idealSpeedup", metrics.idealSpeedup());
            json.object("choice", () -> schedule(json, report.choice()));
            json.member("us", metrics.us());
            json.member("speedup", metrics.speedup());
            json.member("shareOfIdeal", metrics.shareOfIdeal());
            json.member("exposedCommShare", metrics.exposedCommShare());
            json.member("dilGemm", metrics.dilGemm());
            json.member("dilComm", metrics.dilComm());
            json.member("cilGemm", metrics.cilGemm());
            json.member("cilComm", metrics.cilComm());
            json.member("copyEngineUse", metrics.copyEngineUse());
            json.member("linkUse", metrics.linkUse());
            json.member("reason", report.reason());
            json.array(
                    "candidates",
                    report.candidates(),
                    candidate -> json.object(() -> {
                        schedule(json, candidate.schedule());
                        json.member("us", candidate.us());
                        json.member("speedup", candidate.speedup());
                    }));
        });
    }

    private static void schedule(JsonWriter json, Schedule schedule) {
        json.member("schedule", schedule.kind().label());
        json.member("chunks", schedule.chunks());
        json.member("streams", schedule.streams());
        json.member("engine", schedule.engine().label());
        if (schedule.kind() == Schedule.Kind.COVER_MERGE) {
            json.member("cover", schedule.cover()); // the one parameter that no other kind has
        }
    }

    private static void times(JsonWriter json, String name, Times times) {
        json.object(
                name,
                () -> json.member("serialUs", times.serialUs())
                        .member("us", times.us())
                        .member("speedup", times.speedup()));
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s on %s: %.3fx over serial (%s figures)",
                model.name(),
                platform.uri(),
                total.speedup(),
                figures);
    }
}

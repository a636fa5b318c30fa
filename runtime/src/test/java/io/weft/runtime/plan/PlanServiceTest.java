// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.memory.PoolStatistics;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.json.JsonValue;
import io.weft.runtime.json.JsonValue.ArrayValue;
import io.weft.runtime.json.JsonValue.NumberValue;
import io.weft.runtime.json.JsonValue.ObjectValue;
import io.weft.runtime.model.ModelConfigReader;
import io.weft.runtime.plan.PlanReport.Candidate;
import io.weft.runtime.plan.PlanReport.ProblemReport;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.settings.SettingsSources;
import io.weft.runtime.sketch.SketchPlatform;
import io.weft.scheduler.Deployment;
import io.weft.scheduler.Schedule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PlanServiceTest {
    @TempDir
    private Path folder;

    private static final Platform RING = SketchPlatform.ring(8, 50, "device");

    private EffectiveSettings settings(Map<String, String> commandLine) {
        return EffectiveSettings.load(new SettingsSources(
                folder.resolve("system"), false, folder.resolve("user"), folder, Map.of(), commandLine));
    }

    private static PlanRequest request(String model, int tp, int ep, String select) {
        return new PlanRequest(
                ModelConfigReader.read(model), new Deployment(4096, tp, ep, true, ElementType.BF16, 0), select, false);
    }

    private PlanReport report(PlanRequest request) {
        return new PlanService(EffectiveSettings.defaults())
                .plan(RING, request, Progress.NONE)
                .report();
    }

    @Test
    void llama70bHasTheFourProblemsThatAReaderChecksByHand() {
        PlanReport report = report(request("llama-3-70b", 8, 1, "model"));
        List<String> rows = report.problems().stream()
                .map(p -> p.name() + " " + p.problem().pattern() + " "
                        + p.problem().m() + " " + p.problem().n() + " "
                        + p.problem().k())
                .toList();
        assertEquals(
                List.of(
                        "qkv all-gather-gemm 4096 1280 8192",
                        "attention-output gemm-reduce-scatter 4096 8192 1024",
                        "gate-up all-gather-gemm 4096 7168 8192",
                        "down gemm-reduce-scatter 4096 8192 3584"),
                rows);
        // 2 x 4096 x 1280 x 8192 operations at 1 PFLOP/s.
        assertEquals(85.899, report.problems().getFirst().metrics().gemmUs(), 0.001);
    }

    @Test
    void sumsAreThoseOfTheParts() {
        PlanReport report = report(request("llama-3-70b", 8, 1, "model"));
        double serial = report.problems().stream()
                .mapToDouble(p -> p.metrics().serialUs())
                .sum();
        double us =
                report.problems().stream().mapToDouble(p -> p.metrics().us()).sum();
        assertEquals(serial, report.layer().serialUs(), serial * 1e-12);
        assertEquals(us, report.layer().us(), us * 1e-12);
        assertEquals(80 * serial, report.total().serialUs(), serial * 1e-9);
        assertEquals(serial / us, report.total().speedup(), 1e-9);
        assertTrue(report.total().speedup() > 1, "nothing was gained on a machine without losses");
    }

    @Test
    void layersThatDifferAreReportedByTheirMean() {
        PlanReport report = report(request("deepseek-v3", 8, 8, "heuristic"));
        double us = 0;
        for (ProblemReport problem : report.problems()) {
            us += problem.meanPerLayer() * problem.metrics().us();
        }
        ProblemReport dense = report.problems().stream()
                .filter(p -> p.name().equals("gate-up"))
                .findFirst()
                .orElseThrow();
        assertEquals(3.0 / 61, dense.meanPerLayer(), 1e-12);
        assertEquals(us, report.layer().us(), us * 1e-9);
        assertEquals(61 * us, report.total().us(), us * 1e-6);
        assertEquals(List.of("3 of 61 layers are dense"), report.notes());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2", "7"})
    void theReportDoesNotDependOnTheNumberOfThreads(String threads) {
        PlanReport one = report(request("mixtral-8x7b", 8, 4, "all"));
        PlanReport other = new PlanService(settings(Map.of("plan.threads", threads)))
                .plan(RING, request("mixtral-8x7b", 8, 4, "all"), Progress.NONE)
                .report();
        assertEquals(one.json(), other.json());
    }

    @Test
    void modelReportsTheBestOfEachKindAndAllReportsEveryCandidate() {
        List<Candidate> best = report(request("llama-3-8b", 8, 1, "model"))
                .problems()
                .getFirst()
                .candidates();
        List<Candidate> all =
                report(request("llama-3-8b", 8, 1, "all")).problems().getFirst().candidates();
        assertTrue(all.size() > best.size() && all.containsAll(best), () -> all + " and " + best);
        assertTrue(best.stream().anyMatch(c -> c.schedule().equals(Schedule.serial()) && c.speedup() == 1));
        assertTrue(best.size() <= Schedule.Kind.values().length + 1);
        for (int i = 1; i < all.size(); i++) {
            assertTrue(all.get(i - 1).us() <= all.get(i).us(), "not by time");
        }
    }

    @Test
    void theSettingsLimitChunksAndStreams() {
        PlanReport report = new PlanService(settings(Map.of("schedule.chunks", "3", "schedule.streams", "2")))
                .plan(RING, request("llama-3-8b", 8, 1, "all"), Progress.NONE)
                .report();
        for (ProblemReport problem : report.problems()) {
            for (Candidate candidate : problem.candidates()) {
                Schedule schedule = candidate.schedule();
                assertTrue(!schedule.kind().isChunked() || schedule.chunks() == 3, schedule.toString());
                assertTrue(schedule.kind() == Schedule.Kind.SERIAL || schedule.streams() == 2, schedule.toString());
            }
            assertTrue(problem.candidates().size() > 3, "limits left nothing to weigh");
        }
    }

    @Test
    void progressCountsEveryProblem() {
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        Progress progress = new Progress() {
            @Override
            public void begin(String what, int steps) {
                heard.add(what + " " + steps);
            }

            @Override
            public void step(String label) {
                heard.add(label);
            }

            @Override
            public void end() {
                heard.add("end");
            }
        };
        new PlanService(EffectiveSettings.defaults()).plan(RING, request("llama-2-7b", 2, 1, "heuristic"), progress);
        assertEquals("estimating 4", heard.getFirst());
        assertEquals("end", heard.getLast());
        assertEquals(6, heard.size());
        assertTrue(heard.containsAll(List.of("qkv", "attention-output", "gate-up", "down")), heard::toString);
    }

    @Test
    void memoryOfOnePassGoesThroughThePools() {
        PlanReport report = report(request("llama-3-8b", 8, 1, "model"));
        PoolStatistics compute =
                report.memory().orElseThrow().pools().getFirst().statistics();
        // bf16 weights of one eighth of the four products of 32 layers, which are there from the start.
        long weights = 32L * 2 * 4096 * (6144 + 4096 + 2 * 14336 + 14336) / 8;
        assertTrue(compute.peakAllocatedBytes() > weights, compute::toString);
        assertTrue(compute.peakAllocatedBytes() < 1.3 * weights, compute::toString);
        assertTrue(compute.fragmentation() >= 0 && compute.fragmentation() < 0.015, compute::toString);
        assertEquals(0, compute.liveBuffers());
        PlanRequest plain = request("llama-3-8b", 8, 1, "model");
        PlanRequest without = new PlanRequest(plain.model(), plain.deployment(), plain.select(), false, false);
        assertTrue(report(without).memory().isEmpty());
    }

    @Test
    void timelinesAreKeptOnlyWhenAskedFor() {
        PlanRequest plain = request("llama-2-7b", 2, 1, "model");
        PlanRequest drawn = new PlanRequest(plain.model(), plain.deployment(), plain.select(), true);
        PlanService service = new PlanService(EffectiveSettings.defaults());
        assertEquals(0, service.plan(RING, plain, Progress.NONE).timelines().size());
        Plan plan = service.plan(RING, drawn, Progress.NONE);
        assertEquals(4, plan.timelines().size());
        for (int i = 0; i < 4; i++) {
            assertEquals(
                    plan.report().problems().get(i).metrics().us(),
                    plan.timelines().get(i).makespanNanos() / 1e3,
                    1e-6);
        }
    }

    private static void assertRefused(String expected, Runnable work) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, work::run);
        assertEquals(ErrorCode.INVALID_ARGUMENT, refusal.code());
        assertEquals(expected, refusal.detail());
    }

    @Test
    void whatDoesNotFitIsRefusedWithWhatWouldBe() {
        assertRefused(
                "tensor parallel 16 needs 16 devices, and sketch:ring-8 has 8",
                () -> report(request("llama-3-70b", 16, 1, "model")));
        assertRefused(
                "nothing communicates at tensor parallel 1 and expert parallel 1; accepted are degrees of which one is above 1",
                () -> report(request("llama-3-70b", 1, 1, "model")));
        assertRefused(
                "'best' is not a way to choose; accepted are heuristic, model, all",
                () -> report(request("llama-3-70b", 8, 1, "best")));
        assertRefused(
                "sketch:ring-8 does not multiply int8; accepted are bf16",
                () -> report(new PlanRequest(
                        ModelConfigReader.read("llama-3-8b"),
                        Deployment.tensorParallel(4096, 8, ElementType.INT8),
                        "model",
                        false)));
    }

    private static List<String> keys(JsonValue object) {
        return List.copyOf(((ObjectValue) object).members().keySet());
    }

    @Test
    void jsonHasExactlyTheKeysOfTheContractInTheirOrder() {
        String text = report(request("llama-3-8b", 8, 1, "model")).json();
        assertFalse(text.contains("NaN") || text.contains("Infinity"), text);
        ObjectValue root = (ObjectValue) JsonReader.parse("plan", "plan.json", text);
        assertEquals(List.of("figures", "platform", "model", "problems", "layer", "total", "memory"), keys(root));
        assertEquals(List.of("uri", "devices", "machine"), keys(root.members().get("platform")));
        assertEquals(
                List.of("name", "layers", "tokens", "tp", "ep", "elementType"),
                keys(root.members().get("model")));
        assertEquals(List.of("serialUs", "us", "speedup"), keys(root.members().get("layer")));
        assertEquals(List.of("serialUs", "us", "speedup"), keys(root.members().get("total")));
        ObjectValue problem = (ObjectValue)
                ((ArrayValue) root.members().get("problems")).items().getFirst();
        assertEquals(
                List.of(
                        "name",
                        "pattern",
                        "m",
                        "n",
                        "k",
                        "elementType",
                        "ranks",
                        "perLayer",
                        "serialUs",
                        "gemmUs",
                        "commUs",
                        "idealSpeedup",
                        "choice",
                        "us",
                        "speedup",
                        "shareOfIdeal",
                        "exposedCommShare",
                        "dilGemm",
                        "dilComm",
                        "cilGemm",
                        "cilComm",
                        "copyEngineUse",
                        "linkUse",
                        "reason",
                        "candidates"),
                keys(problem));
        assertTrue(problem.members().get("idealSpeedup") instanceof NumberValue);
        ObjectValue candidate = (ObjectValue)
                ((ArrayValue) problem.members().get("candidates")).items().getFirst();
        assertTrue(
                keys(candidate).containsAll(List.of("schedule", "chunks", "streams", "engine", "us", "speedup")),
                keys(candidate)::toString);
    }
}

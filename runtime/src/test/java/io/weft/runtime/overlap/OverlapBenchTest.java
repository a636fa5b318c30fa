// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.settings.SettingsSources;
import io.weft.runtime.tuning.Selectors;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import io.weft.spi.ModelFitter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OverlapBenchTest {
    private static final Selectors SELECTORS = new Selectors(EffectiveSettings.defaults());

    @TempDir
    Path folder;

    private static OverlapBenchRequest request(List<Schedule> schedules, Pattern... patterns) {
        List<OverlapBenchRequest.Case> cases = new ArrayList<>();
        for (Pattern pattern : patterns) {
            cases.add(new OverlapBenchRequest.Case(
                    OverlapProblem.of(pattern, 64, 32, 48, ElementType.BF16, 2), pattern.label()));
        }
        return new OverlapBenchRequest(cases, schedules, "auto", 1, 3, true, 11);
    }

    @Test
    void everyProblemIsTimedCheckedAndWrittenAsItComes() {
        try (Platform platform = Accelerators.discover().open("sim:switch-8?devices=2")) {
            List<Integer> written = new ArrayList<>();
            OverlapBenchReport report = new OverlapBench(SELECTORS)
                    .run(
                            platform,
                            request(List.of(), Pattern.ALL_GATHER_GEMM, Pattern.GEMM_REDUCE_SCATTER),
                            Progress.NONE,
                            soFar -> written.add(soFar.results().size()));
            assertEquals(List.of(1, 2), written);
            assertEquals("model", report.figures());
            assertTrue(report.isGood(), report::toString);
            for (OverlapBenchReport.Result result : report.results()) {
                assertTrue(result.serialUs() > 0 && result.choiceUs() > 0);
                assertTrue(result.choiceUs() <= result.serialUs() * 1.0001, result::toString);
                assertTrue(result.gemm().orElseThrow().median() < result.serialUs());
                assertTrue(result.idealSpeedup() >= 1);
                assertTrue(result.schedules().stream()
                        .allMatch(timed -> timed.check().orElseThrow().verified()));
            }
            JsonFields json = new JsonFields(
                    "report", "r.json", JsonReader.parse("report", "r.json", report.json(PeerTimes.none())));
            assertEquals("weft overlap benchmark", json.text("kind"));
            assertEquals(2, json.objects("results").size());
            JsonFields first = json.objects("results").getFirst();
            assertEquals("all-gather-gemm", first.text("pattern"));
            assertEquals("serial", first.objects("schedules").getFirst().text("schedule"));
            assertTrue(report.geometricMean(Pattern.ALL_GATHER_GEMM, r -> 2) == 2);
        }
    }

    @Test
    void aPlatformThatHoldsNoDataIsTimedAndNotChecked() {
        try (Platform platform = Accelerators.discover().open("sim:switch-8?devices=2&mode=timing")) {
            OverlapBenchReport report = new OverlapBench(SELECTORS)
                    .run(
                            platform,
                            request(List.of(Schedule.parse("shard-p2p")), Pattern.ALL_GATHER_GEMM),
                            Progress.NONE,
                            soFar -> {});
            assertTrue(report.isGood());
            assertTrue(report.results().getFirst().schedules().stream()
                    .allMatch(timed -> timed.check().isEmpty()));
        }
    }

    @Test
    void measuredSelectionKeepsWhatItFoundWhereTheSettingSays() {
        Path file = folder.resolve("deep/tuning");
        Selectors selectors = new Selectors(EffectiveSettings.load(new SettingsSources(
                folder.resolve("none"),
                false,
                folder.resolve("none"),
                folder,
                Map.of(),
                Map.of("tuning.file", file.toString()))));
        OverlapBenchRequest measured = new OverlapBenchRequest(
                request(List.of(), Pattern.ALL_GATHER_GEMM).cases(), List.of(), "measured", 0, 1, false, 11);
        try (Platform platform = Accelerators.discover().open("sim:switch-8?devices=2&mode=timing")) {
            OverlapBenchReport.Result first = new OverlapBench(selectors)
                    .run(platform, measured, Progress.NONE, soFar -> {})
                    .results()
                    .getFirst();
            assertEquals("measured", first.selector());
            assertTrue(first.reason().contains("measured now"), first::reason);
            assertTrue(Files.isRegularFile(file));
            OverlapBenchReport.Result again = new OverlapBench(selectors)
                    .run(platform, measured, Progress.NONE, soFar -> {})
                    .results()
                    .getFirst();
            assertEquals(first.choice(), again.choice());
            assertTrue(again.reason().contains("kept from"), again::reason);
        }
    }

    @Test
    void aModelPredictsItsOwnTimesAndAnotherOneDoesNot() throws IOException {
        Path file = folder.resolve("results.json");
        OverlapBenchRequest timing = new OverlapBenchRequest(
                List.of(new OverlapBenchRequest.Case(
                        OverlapProblem.of(Pattern.GEMM_REDUCE_SCATTER, 4096, 4096, 8192, ElementType.BF16, 2), "")),
                List.of(),
                "auto",
                0,
                1,
                false,
                11);
        Accelerators accelerators = Accelerators.discover();
        try (Platform platform = accelerators.open("sim:switch-8?devices=2&mode=timing");
                Platform other = accelerators.open("sim:mesh-8?devices=2&mode=timing")) {
            OverlapBenchReport report = new OverlapBench(SELECTORS).run(platform, timing, Progress.NONE, soFar -> {});
            Files.writeString(file, report.json(PeerTimes.none()));
            PredictionReport own = Predictions.compare(file, platform);
            assertTrue(own.errors().worst() < 1e-6, own::json);
            assertEquals(0, own.worstRegret(), 1e-9);
            assertEquals(1, own.hitRate());
            assertTrue(own.errors().count() > 10);
            PredictionReport foreign = Predictions.compare(file, other);
            assertTrue(foreign.errors().median() > 0.01, foreign::json);
            assertTrue(foreign.markdown().contains("| gemm-reduce-scatter | 4096, 4096, 8192 |"), foreign::markdown);
            assertEquals("model", foreign.figures());

            List<ShapesFile.Shape> fitted = ShapesFile.parse("a test", "4096,4096,8192");
            assertThrows(AcceleratorException.class, () -> Predictions.compare(file, platform, fitted));
            PredictionReport whole =
                    Predictions.compare(file, platform, ShapesFile.parse("a test", "all-gather-gemm 4096,4096,8192"));
            assertEquals(own.errors(), whole.errors());
            assertEquals(List.of(), whole.leftOut(), "what the results do not hold was not left out");
            List<ModelFitter.Measurement> times = ScheduleTimes.read(file, fitted, Figures.MODEL);
            AcceleratorException mixed =
                    assertThrows(AcceleratorException.class, () -> ScheduleTimes.read(file, fitted, Figures.MEASURED));
            assertTrue(mixed.getMessage().contains("figures that are model"), mixed::getMessage);
            assertTrue(
                    times.stream()
                            .anyMatch(time -> time.probe() == ModelFitter.Probe.GEMM_ACCUMULATE
                                    && time.name().startsWith("gemm-reduce-scatter 4096x4096x8192 ")
                                    && time.name().contains("reduction=accumulate")),
                    times::toString);
            assertTrue(
                    times.stream()
                            .anyMatch(time -> time.probe() == ModelFitter.Probe.REDUCE
                                    && time.name().contains("uniform-fused-2d")),
                    times::toString);
            assertTrue(
                    times.stream()
                            .allMatch(time -> time.beside().size() + times.size()
                                    == own.errors().count()),
                    times::toString);
            List<ShapesFile.Shape> unknown = ShapesFile.parse("a test", "1,2,3");
            assertThrows(AcceleratorException.class, () -> ScheduleTimes.read(file, unknown, Figures.MODEL));

            Files.writeString(file, "{\"kind\": \"something else\"}");
            AcceleratorException refusal =
                    assertThrows(AcceleratorException.class, () -> Predictions.compare(file, platform));
            assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
            assertTrue(refusal.getMessage().contains("weft bench overlap --json"), refusal::getMessage);
        }
    }

    @Test
    void aPeersTimesAreFoundByShapeAndItsFaultsAreNamed() throws IOException {
        Path file = folder.resolve("peer.json");
        Files.writeString(file, """
                {"source": "a test", "results": [
                  {"pattern": "all-gather-gemm", "m": 64, "n": 32, "k": 48, "us": {"serial": 10.5, "async-tp": null}},
                  {"pattern": "all-gather-gemm", "m": 64, "n": 32, "k": 48, "us": {"fast": 9}}
                ]}
                """);
        PeerTimes peer = PeerTimes.read(file);
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 64, 32, 48, ElementType.BF16, 2);
        assertEquals(Map.of("serial", 10.5, "fast", 9.0), peer.of(problem));
        assertTrue(peer.of(problem.withM(65)).isEmpty());

        Files.writeString(file, "{\"results\": [{\"pattern\": \"all-gather\", \"m\": 1}]}");
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> PeerTimes.read(file));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertTrue(refusal.getMessage().contains("peer.json:1:"), refusal::getMessage);
        assertTrue(refusal.getMessage().contains("all-gather-gemm"), refusal::getMessage);
    }

    @Test
    void theShippedShapesAreTheEightAndTheLayersOfTwoModels() {
        List<ShapesFile.Shape> shapes = ShapesFile.shipped();
        assertEquals(
                8, shapes.stream().filter(shape -> shape.pattern().isEmpty()).count());
        assertEquals(8 + 6 * 4 + 6 * 2, shapes.size());
        assertTrue(shapes.stream().anyMatch(shape -> shape.m() == 32768 && shape.k() == 14784));
    }

    @Test
    void aLineThatIsNoShapeIsNamedWithItsPlace() {
        for (String bad : List.of("1,2", "1,2,x", "0,1,1", "gather 1,2,3", "all-gather-gemm", "1,2,3,4", "-1,2,3")) {
            AcceleratorException refusal =
                    assertThrows(AcceleratorException.class, () -> ShapesFile.parse("s.txt", "# fine\n" + bad));
            assertTrue(refusal.getMessage().contains("s.txt:2"), refusal::getMessage);
            assertTrue(!refusal.getMessage().contains("\n"));
        }
        assertThrows(AcceleratorException.class, () -> ShapesFile.parse("s.txt", "# nothing\n\n"));
        assertThrows(AcceleratorException.class, () -> ShapesFile.read(folder));
        assertThrows(AcceleratorException.class, () -> ShapesFile.read(folder.resolve("none")));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.calibrate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.tuning.Selectors;
import io.weft.spi.ModelFitter;
import io.weft.spi.ModelFitter.Probe;
import io.weft.spi.PerformanceModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CalibrationTest {
    private static final long SEED = 3;

    /** Keys that a fit may change; what it cannot see of them stays perturbed. */
    private static final Pattern FREE = Pattern.compile(
            "\\b(graph_ns|graph_device_ns|graph_lane_ns|earlier_weight|signal_ns|start_ns|setup_ns|latency_ns|base_ns|efficiency|bandwidth_gb_per_s_per_unit|prologue_k|concurrency_efficiency): ([0-9.]+)");

    @TempDir
    Path folder;

    private static CalibrationReport calibrate(Platform platform, Optional<ModelFitter.Document> start) {
        return new Calibration(new Selectors(EffectiveSettings.defaults()))
                .calibrate(
                        platform,
                        platform.extension(ModelFitter.class).orElseThrow(),
                        "fitted",
                        start,
                        ElementType.BF16,
                        1,
                        Progress.NONE);
    }

    private static String perturbed(String document) {
        SplittableRandom random = new SplittableRandom(SEED);
        return FREE.matcher(document).replaceAll(found -> {
            double value = Double.parseDouble(found.group(2)) * random.nextDouble(0.85, 1.15);
            String key = found.group(1);
            String text = key.equals("prologue_k")
                    ? Long.toString(Math.round(value))
                    : Double.toString(
                            key.endsWith("efficiency")
                                    ? Math.min(1, value)
                                    : key.equals("earlier_weight") ? Math.max(1, value) : value);
            return Matcher.quoteReplacement(key + ": " + text);
        });
    }

    private static Map<String, Double> values(CalibrationReport report) {
        Map<String, Double> values = new HashMap<>();
        report.fit().numbers().forEach(number -> values.put(number.key(), number.value()));
        return values;
    }

    @ParameterizedTest
    @CsvSource({"switch-8, 2, false", "mesh-8, 3, true"})
    void aModelsOwnNumbersAreFoundBackFromAPerturbedStart(String machine, int devices, boolean ordered)
            throws IOException {
        ModelFitter.Document document = ordered ? ordered(document(machine)) : document(machine);
        Path file = folder.resolve("machine.yaml");
        Files.writeString(file, document.text());
        try (Platform platform = Accelerators.discover().open("sim:file=" + file + "?mode=timing&devices=" + devices)) {
            CalibrationReport exact = calibrate(platform, Optional.of(document));
            assertTrue(exact.errors().values().stream().allMatch(errors -> errors.worst() < 1e-3), exact::json);
            Map<String, Double> truth = values(exact);
            ModelFitter.Document start = new ModelFitter.Document("perturbed.yaml", perturbed(document.text()));
            CalibrationReport report = calibrate(platform, Optional.of(start));
            int seen = 0;
            for (ModelFitter.FittedNumber number : report.fit().numbers()) {
                if (number.visible()) {
                    seen++;
                    double expected = truth.get(number.key());
                    assertEquals(
                            expected,
                            number.value(),
                            0.02 * Math.abs(expected),
                            () -> machine + ", seed " + SEED + ": " + number);
                }
            }
            assertTrue(seen >= 30, () -> report.fit().numbers().toString());
            report.errors()
                    .forEach((probe, errors) -> assertTrue(
                            errors.worst() < 0.02, () -> machine + ", seed " + SEED + ", " + probe + ": " + errors));
        }
    }

    /** The machine with launches that spread and kernels that keep their order. */
    private static ModelFitter.Document ordered(ModelFitter.Document document) {
        return new ModelFitter.Document(
                document.source(),
                document.text()
                        .replace("      hardware_queues:", "      earlier_weight: 6\n      hardware_queues:")
                        .replace(
                                "      graph_ns:",
                                "      graph_device_ns: 4100\n      graph_lane_ns: 1300\n      graph_ns:"));
    }

    private static ModelFitter.Document document(String machine) {
        Path file = Path.of("../hal-sim/src/main/resources/io/weft/sim/machines", machine + ".yaml");
        try {
            return new ModelFitter.Document(file.toString(), Files.readString(file));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Test
    void withoutAStartThePlatformsOwnPropertiesDoAndTheDocumentOpens() throws IOException {
        try (Platform platform = Accelerators.discover().open("sim:switch-8?mode=timing&devices=2")) {
            CalibrationReport report = calibrate(platform, Optional.empty());
            report.errors().forEach((probe, errors) -> assertTrue(errors.median() < 0.05, () -> probe + ": " + errors));
            Path file = folder.resolve("fitted.yaml");
            Files.writeString(file, report.fit().document());
            assertTrue(report.fit().document().contains("date: "));
            assertTrue(report.fit().document().contains("us measured"));
            try (Platform fitted = Accelerators.discover().open("sim:file=" + file + "?mode=timing")) {
                assertEquals("fitted", fitted.properties().machine());
                assertEquals(2, fitted.devices().size());
            }
        }
    }

    @Test
    void timesThatWereWrittenDownAreFittedAnewWithoutAnyMeasurement() {
        ModelFitter.Document written = new ModelFitter.Document("written.yaml", """
                # SPDX-License-Identifier: Apache-2.0
                #
                # date: 2026-01-02T03:04:05Z
                # start: elsewhere.yaml
                #
                # launch 2 measured, median 3.38 %, worst 18.50 %
                #
                # 1 fills on one lane 4.50 us measured 4.60 us fitted +1.86 %
                # 8 fills on one lane 18.50 us measured 14.57 us fitted -6.30 %
                # what no benchmark is called 1.00 us measured 1.00 us fitted +0.00 %
                #
                machine: written
                # not in the head 9.00 us measured
                """);
        RecordedTimes times = RecordedTimes.of(written);
        assertEquals(Map.of("date", "2026-01-02T03:04:05Z"), times.provenance());
        assertEquals(3, times.nanos().size());
        try (Platform platform = Accelerators.discover().open("sim:switch-8?mode=timing&devices=2")) {
            CalibrationReport report = refit(platform, times);
            assertEquals(2, report.fit().residuals().size());
            assertEquals(4500, report.fit().residuals().getFirst().measuredNanos(), 1e-9);
            report.errors().forEach((probe, errors) -> assertTrue(errors.worst() < 0.01, () -> probe + ": " + errors));
            assertEquals("measured", report.figures());
            RecordedTimes models =
                    new RecordedTimes("of a model", times.nanos(), Map.of("platform", "sim:switch-8 (model)"));
            assertEquals("model", refit(platform, models).figures());
            String document = report.fit().document();
            assertTrue(document.contains("# date: 2026-01-02T03:04:05Z"), document);
            assertTrue(document.contains("to 2 times that were written down then"), document);
            AcceleratorException none = assertThrows(
                    AcceleratorException.class,
                    () -> refit(platform, new RecordedTimes("other.yaml", Map.of("nothing", 1.0), Map.of())));
            assertEquals(ErrorCode.BAD_DOCUMENT, none.code());
        }
        AcceleratorException empty = assertThrows(
                AcceleratorException.class, () -> RecordedTimes.of(new ModelFitter.Document("m.yaml", "machine: m")));
        assertTrue(empty.getMessage().contains("m.yaml"), empty::getMessage);
    }

    @Test
    void whatTookTurnsWithOthersCountsAtTheirPaceOnly() {
        // A power limit has made all of them 1.3 times as slow.
        double slowed = 1.3;
        double truth = 0.2;
        String text = document("switch-8").text();
        ModelFitter.Document real = named(text, truth);
        Path file = folder.resolve("real.yaml");
        CommandGraph rounding = rounding();
        CommandGraph fill = fill();
        try {
            Files.writeString(file, real.text());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        try (Platform platform = Accelerators.discover().open("sim:file=" + file + "?mode=timing&devices=2")) {
            PerformanceModel model = platform.extension(PerformanceModel.class).orElseThrow();
            List<ModelFitter.Measurement> others =
                    List.of(new ModelFitter.Measurement(Probe.LOCAL, "fill", fill, slowed * nanos(model, fill)));
            ModelFitter.Measurement telling = new ModelFitter.Measurement(
                    Probe.REDUCE, "rounding", rounding, slowed * nanos(model, rounding), others);
            ModelFitter.Fit fit = platform.extension(ModelFitter.class)
                    .orElseThrow()
                    .fit(new ModelFitter.Request(
                            "again",
                            Optional.of(named(text, 0.15)),
                            platform.devices().stream().map(Device::properties).toList(),
                            platform.topology(),
                            List.of(telling),
                            new ModelFitter.HostCosts(Double.NaN, Double.NaN, Double.NaN, Double.NaN),
                            Map.of()));
            double found = fit.numbers().stream()
                    .filter(number -> number.key().endsWith("element_ns"))
                    .findFirst()
                    .orElseThrow()
                    .value();
            assertEquals(truth, found, 0.01 * truth);
        }
    }

    private static double nanos(PerformanceModel model, CommandGraph graph) {
        return model.estimate(graph, PerformanceModel.Issue.DEVICE_GRAPH, PerformanceModel.Detail.SUMMARY)
                .makespanNanos();
    }

    private static ModelFitter.Document named(String text, double elementNanos) {
        String key = "      hardware_queues:";
        assertTrue(text.contains(key), text);
        return new ModelFitter.Document("a test", text.replace(key, "      element_ns: " + elementNanos + "\n" + key));
    }

    private static CommandGraph rounding() {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot sums = graph.slot(0, "sums", 4L << 24, Slot.Role.INPUT);
        Slot result = graph.slot(0, "result", 2L << 24, Slot.Role.OUTPUT);
        BufferView in = BufferView.vector(sums, 0, 1 << 24, ElementType.FP32);
        BufferView out = BufferView.vector(result, 0, 1 << 24, ElementType.BF16);
        graph.add(0, 0, Priority.NORMAL, new Command.Reduce(out, List.of(in), ReduceOp.SUM), "round");
        return graph.build();
    }

    private static CommandGraph fill() {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot slot = graph.slot(0, "s", 1 << 28, Slot.Role.OUTPUT);
        BufferView all = BufferView.vector(slot, 0, 1 << 28, ElementType.INT8);
        graph.add(0, 0, Priority.NORMAL, new Command.Fill(all, 0), "fill");
        return graph.build();
    }

    private static CalibrationReport refit(Platform platform, RecordedTimes times) {
        return new Calibration(new Selectors(EffectiveSettings.defaults()))
                .refit(
                        platform,
                        platform.extension(ModelFitter.class).orElseThrow(),
                        "again",
                        Optional.of(document("switch-8")),
                        ElementType.BF16,
                        times,
                        List.of(),
                        Map.of());
    }

    @Test
    void aModelThatComputesIsRefusedWithWhatToDo() {
        try (Platform platform = Accelerators.discover().open("sim:ring-4")) {
            AcceleratorException refusal =
                    assertThrows(AcceleratorException.class, () -> calibrate(platform, Optional.empty()));
            assertEquals(ErrorCode.UNSUPPORTED, refusal.code());
            assertTrue(refusal.getMessage().contains("mode=timing"), refusal::getMessage);
        }
    }
}

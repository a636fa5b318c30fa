// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sweep;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.json.JsonValue;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.settings.SettingsSources;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sweeps small spaces on the simulator. */
final class SweepServiceTest {
    private static final long SEED = 20261129;

    @TempDir
    Path folder;

    private static SweepRequest space(List<Long> tokens) {
        return new SweepRequest(
                List.of("sim:ring-4", "sim:mesh-8"),
                List.of("llama-3-8b"),
                tokens,
                List.of(2, 8),
                List.of(1),
                List.of(ElementType.BF16),
                true,
                "heuristic");
    }

    private static SweepReport sweep(SweepRequest request, Path out, int threads) {
        EffectiveSettings settings =
                EffectiveSettings.load(SettingsSources.ofProcess(Map.of("plan.threads", Integer.toString(threads))));
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            return runtime.sweeps().sweep(request, runtime::open, Optional.ofNullable(out), Progress.NONE);
        }
    }

    private static AcceleratorException refusal(SweepRequest request, Path out) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> sweep(request, out, 1));
        assertEquals(1, refusal.getMessage().lines().count(), refusal.getMessage());
        return refusal;
    }

    @ParameterizedTest
    @ValueSource(strings = {"sweep.csv", "sweep.json"})
    void neitherRowsNorTheirOrderDependOnTheThreads(String name) throws IOException {
        SweepRequest request = space(List.of(512L, 1024L, 2048L));
        sweep(request, folder.resolve("1-" + name), 1);
        sweep(request, folder.resolve("5-" + name), 5);
        assertEquals(Files.readString(folder.resolve("1-" + name)), Files.readString(folder.resolve("5-" + name)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sweep.csv", "sweep.json"})
    void aFileThatWasCutOffAnywhereIsGoneOnWith(String name) throws IOException {
        SweepRequest request = space(List.of(512L, 1024L));
        Path out = folder.resolve(name);
        sweep(request, out, 2);
        byte[] whole = Files.readAllBytes(out);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 12; i++) {
            int length = i == 0 ? 0 : random.nextInt(whole.length);
            Files.write(out, Arrays.copyOf(whole, length));
            SweepReport report = sweep(request, out, 2);
            assertEquals(
                    new String(whole, java.nio.charset.StandardCharsets.UTF_8),
                    Files.readString(out),
                    "cut at " + length + ", seed " + SEED);
            long rows = Arrays.stream(
                            new String(whole, 0, length, java.nio.charset.StandardCharsets.UTF_8).split("\n", -1))
                    .filter(line -> line.contains("llama"))
                    .count();
            assertTrue(report.resumed() >= rows - 1 && report.resumed() <= rows, report.resumed() + " of " + rows);
        }
    }

    @Test
    void rowsInAnyOrderAreTakenAndNotMadeAgain() throws IOException {
        SweepRequest request = space(List.of(512L));
        Path out = folder.resolve("rows.csv");
        sweep(request, out, 1);
        String ordered = Files.readString(out);
        List<String> lines = ordered.lines().toList();
        Files.writeString(out, lines.get(0) + "\n" + lines.get(3) + "\n" + lines.get(1) + "\n");
        assertEquals(2, sweep(request, out, 1).resumed());
        assertEquals(ordered, Files.readString(out));
    }

    /** astra-sim issue 222 and Frontier issue 7: no sign of life, and nobody knows how many events a second there are. */
    @Test
    void aSweepTellsHowFarItHasComeAndHowManyEventsItsModelsHaveProcessed() {
        AtomicInteger total = new AtomicInteger();
        AtomicInteger steps = new AtomicInteger();
        AtomicReference<LongSupplier> events = new AtomicReference<>();
        Progress progress = new Progress() {
            @Override
            public void begin(String what, int number) {
                total.set(number);
            }

            @Override
            public void counts(String unit, LongSupplier count) {
                assertEquals("events", unit);
                assertEquals(0, count.getAsLong());
                events.set(count);
            }

            @Override
            public void step(String label) {
                steps.incrementAndGet();
            }
        };
        try (WeftRuntime runtime = WeftRuntime.start(EffectiveSettings.defaults())) {
            runtime.sweeps().sweep(space(List.of(512L)), runtime::open, Optional.empty(), progress);
        }
        assertEquals(4, total.get());
        assertEquals(4, steps.get());
        assertTrue(events.get().getAsLong() > 0, "nothing was counted");
    }

    @Test
    void pointsThatCannotBePlannedSayWhyAndTheOthersAreThere() {
        List<SweepRow> rows = sweep(space(List.of(1024L)), null, 1).rows();
        assertEquals(4, rows.size());
        assertTrue(rows.get(0).isPlanned());
        assertTrue(rows.get(1).cell("note").contains("needs 8 devices"), rows.get(1)::toString);
        assertEquals("", rows.get(1).cell("us"));
        assertTrue(rows.get(3).isPlanned());
        assertEquals("model", rows.get(3).cell("figures"));
    }

    @Test
    void aSpaceInWhichNothingCanBePlannedFailsLoudly() {
        SweepRequest impossible = new SweepRequest(
                List.of("sim:ring-4"),
                List.of("llama-3-8b"),
                List.of(1024L),
                List.of(8, 16),
                List.of(1),
                List.of(ElementType.BF16),
                true,
                "model");
        String message = refusal(impossible, null).getMessage();
        assertTrue(message.contains("none of the 2 points") && message.contains("needs 8 devices"), message);
        assertThrows(AcceleratorException.class, () -> space(List.of()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sweep.csv", "sweep.json"})
    void aFileOfOtherSettingsIsRefusedAndLeftAlone(String name) throws IOException {
        Path out = folder.resolve(name);
        sweep(space(List.of(512L)), out, 1);
        String before = Files.readString(out);
        AcceleratorException refusal = refusal(space(List.of(512L, 1024L)), out);
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertTrue(refusal.getMessage().contains(name + ":2"), refusal.getMessage());
        assertEquals(before, Files.readString(out));
    }

    @ParameterizedTest
    @ValueSource(strings = {"my thesis\n", "half a line", "platform,model\n1,2\n", "{}\n", "\u0000\u0001\n"})
    void aFileOfSomethingElseIsRefusedAndLeftAlone(String content) throws IOException {
        for (String name : List.of("notes.csv", "notes.json")) {
            Path out = Files.writeString(folder.resolve(name), content);
            assertTrue(refusal(space(List.of(512L)), out).getMessage().contains(name + ":1"));
            assertEquals(content, Files.readString(out));
        }
    }

    @Test
    void aBrokenRowIsNamedByItsLine() throws IOException {
        Path out = folder.resolve("rows.csv");
        sweep(space(List.of(512L)), out, 1);
        Files.writeString(out, Files.readString(out) + "what is this\n");
        assertTrue(refusal(space(List.of(512L)), out).getMessage().contains("rows.csv:6"));
    }

    @Test
    void placesThatCannotBeWrittenAndNamesWithoutAFormatAreRefused() {
        assertTrue(refusal(space(List.of(512L)), folder.resolve("rows.txt"))
                .getMessage()
                .contains(".csv or .json"));
        assertTrue(refusal(space(List.of(512L)), folder.resolve("none/rows.csv"))
                .getMessage()
                .contains("folder does not exist"));
    }

    @Test
    void twoSweepsDoNotShareAFile() throws IOException {
        Path out = folder.resolve("rows.csv");
        try (FileChannel other = FileChannel.open(out, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertTrue(other.tryLock().isValid());
            assertTrue(refusal(space(List.of(512L)), out).getMessage().contains("another sweep"));
        }
    }

    @Test
    void jsonIsOneDocumentWithTheSameCells() {
        SweepReport report = sweep(space(List.of(512L)), null, 1);
        JsonValue.ObjectValue document = (JsonValue.ObjectValue) JsonReader.parse("test", "report", report.json());
        JsonValue.ArrayValue rows = (JsonValue.ArrayValue) document.members().get("rows");
        assertEquals(report.rows().size(), rows.items().size());
        JsonValue.ObjectValue first = (JsonValue.ObjectValue) rows.items().getFirst();
        assertEquals(SweepRow.COLUMNS, List.copyOf(first.members().keySet()));
        assertEquals(
                report.rows().getFirst().cell("us"), first.members().get("us").describe());
    }

    @Test
    void csvQuotesWhatNeedsIt() {
        String[] cells = new String[SweepRow.COLUMNS.size()];
        Arrays.fill(cells, "");
        cells[0] = "sim:file=a,\"b\".yaml";
        cells[1] = "plain";
        SweepRow row = new SweepRow(List.of(cells));
        for (SweepFormat format : SweepFormat.values()) {
            assertEquals(row, format.row("test", "rows", format.line(row)));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.api.AcceleratorException;
import io.weft.memory.replay.ReplayReport;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.report.ReplayPage;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xml.sax.InputSource;

final class ReplayServiceTest {
    @TempDir
    Path folder;

    /** A step in small: weights before, activations forward and back, work space between. */
    private Path step(String name) throws IOException {
        StringBuilder text = new StringBuilder("op,id,bytes,stream,t_us\nI,900,67108864,0,0\ni,0,67108864,0,0\n");
        int time = 0;
        for (int layer = 1; layer <= 40; layer++) {
            text.append("a,")
                    .append(layer)
                    .append(',')
                    .append(layer * 300_000L)
                    .append(",0,")
                    .append(++time)
                    .append('\n');
            text.append("a,")
                    .append(100 + layer)
                    .append(",700,0,")
                    .append(++time)
                    .append('\n');
            text.append("f,")
                    .append(100 + layer)
                    .append(",700,0,")
                    .append(++time)
                    .append('\n');
        }
        for (int layer = 40; layer >= 1; layer--) {
            text.append("f,")
                    .append(layer)
                    .append(',')
                    .append(layer * 300_000L)
                    .append(",0,")
                    .append(++time)
                    .append('\n');
        }
        return Files.writeString(folder.resolve(name), text.toString());
    }

    private static ReplayOutcome replay(Path file, List<String> pools, long limit, boolean curves) {
        return new ReplayService()
                .replay(
                        new ReplayRequest(file, Optional.empty(), pools, limit, 3, Optional.empty(), curves),
                        Progress.NONE);
    }

    @Test
    void everyPoolServesTheTraceAndCountsTheSame() throws IOException {
        ReplayOutcome outcome =
                replay(step("step.csv"), List.of("weft", "caching", "bestfit"), ReplayRequest.NO_LIMIT, false);
        assertTrue(outcome.isGood());
        long peak = 67_108_864 + 300_000L * 40 * 41 / 2 + 700;
        assertEquals(3, outcome.reports().size());
        for (ReplayReport report : outcome.reports()) {
            assertEquals(peak - 700 + 700, report.peakAllocatedBytes());
            assertTrue(report.peakReservedBytes() >= peak, report.toString());
            assertTrue(report.deviceCalls() > 0, report.toString());
        }
        assertTrue(
                outcome.reports().get(0).fragmentation()
                        < outcome.reports().get(1).fragmentation(),
                outcome.reports()::toString);
    }

    @Test
    void aLimitThatIsTooSmallIsABadAnswerThatCountsWhatWasRefused() throws IOException {
        ReplayOutcome outcome = replay(step("step.csv"), List.of("weft"), 100 << 20, false);
        assertFalse(outcome.isGood());
        assertTrue(outcome.reports().getFirst().refusals() > 0);
        assertTrue(outcome.reports().getFirst().peakReservedBytes() <= 100 << 20);
    }

    @Test
    void jsonIsOneDocument() throws IOException {
        String json = replay(step("step.csv"), List.of("weft", "caching"), 1L << 30, false)
                .json();
        JsonReader.parse("test", "report", json);
        assertTrue(json.contains("\"limitBytes\": 1073741824") || json.contains("\"limitBytes\" : 1073741824"), json);
        assertTrue(json.contains("\"measured\""), json);
    }

    @Test
    void thePageIsWellFormedAndNeedsNothingElse() throws Exception {
        Path file = step("<b>&\"step\".csv");
        String page = ReplayPage.of(replay(file, List.of("weft", "caching", "bestfit"), ReplayRequest.NO_LIMIT, true));
        assertFalse(page.contains("<b>&\""), "the file's name must be escaped");
        assertFalse(page.contains("<script"), page);
        assertFalse(page.contains("http"), page);
        assertTrue(page.contains("prefers-color-scheme:dark"), "both light and dark");
        Matcher drawings = Pattern.compile("<svg.*?</svg>", Pattern.DOTALL).matcher(page);
        int count = 0;
        while (drawings.find()) {
            DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new InputSource(new StringReader(drawings.group())));
            count++;
        }
        assertEquals(4, count, "one over time, one for each pool");
        for (String words :
                List.of("held by caching", "class=\"hover\"", "in segment", "small buffers", "held in 1 range")) {
            assertTrue(page.contains(words), words);
        }
    }

    @Test
    void aPoolThatThereIsNotIsNamedBeforeTheFileIsRead() {
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class, () -> replay(folder.resolve("none.csv"), List.of("arena"), 1, false));
        assertTrue(refusal.getMessage().contains("weft, caching, bestfit"), refusal.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        // file, recorded fragmentation, the caching model's and best fit's of a first pass (facts of that trace)
        "pytorch-llm-ctx128-forward.csv.gz, 0.0154, 0.0154, 0.0011",
        "pytorch-llm-ctx512-fullstep.csv.gz, 0.1267, 0.1300, 0.0116",
        "pytorch-resnet50-kineto-memory.csv.gz, NaN, 0.1670, 0.0011"
    })
    void theModelsGiveWhatWasFoundOnRealTraces(String name, double recorded, double caching, double bestFit) {
        Path file = Path.of("..", "..", "shared", "data", "traces", name);
        assumeTrue(Files.exists(file), "the recorded traces are not beside this checkout");
        ReplayOutcome outcome = replay(file, List.of("caching", "bestfit"), ReplayRequest.NO_LIMIT, false);
        assertEquals(recorded, outcome.reports().getFirst().recordedFragmentation(), 0.0001);
        assertEquals(caching, outcome.reports().getFirst().fragmentationFirstPass(), 0.0001);
        assertEquals(bestFit, outcome.reports().getLast().fragmentationFirstPass(), 0.0001);
    }

    @Test
    void minimallocProblemsAreReplayed() {
        Path file = Path.of("..", "..", "shared", "data", "traces", "minimalloc-A.1048576.csv");
        assumeTrue(Files.exists(file), "the recorded traces are not beside this checkout");
        ReplayOutcome outcome = replay(file, List.of("weft", "bestfit"), ReplayRequest.NO_LIMIT, true);
        assertTrue(outcome.isGood());
        assertTrue(outcome.trace().peakLiveBytes() <= 1_048_576);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TuningFileTest {
    private static final String HERE = "measured x machine, device (arch) x2, driver 1.0, library 2.0";
    private static final String AFTER_UPDATE = HERE.replace("driver 1.0", "driver 1.1");
    private static final OverlapProblem PROBLEM =
            OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 4096, 1024, 1024, ElementType.BF16, 2);

    @TempDir
    Path folder;

    private Path path;
    private final List<String> warnings = new ArrayList<>();

    @BeforeEach
    void name() {
        path = folder.resolve("tuning");
    }

    private TuningFile open() {
        return TuningFile.open(path, warnings::add);
    }

    private static TuningFile.Entry entry() {
        Map<Schedule, Double> us = new LinkedHashMap<>();
        us.put(Schedule.parse("hetero-unfused-1d/chunks=2,streams=2"), 10.5);
        us.put(Schedule.parse("cover-merge/cover=0.25"), 11.0);
        us.put(Schedule.serial(), 20.125);
        return new TuningFile.Entry("2026-01-02T03:04:05Z", us, Schedule.parse("cover-merge/cover=0.25"));
    }

    @Test
    void anEntryIsReadBackAsItWasAndForItsPlatformOnly() {
        open().put(HERE, PROBLEM, entry());
        open().putGemm(HERE, "1x2x3 bf16", "algo-7", "2026-01-02T03:04:05Z");
        TuningFile again = open();
        assertEquals(Optional.of(entry()), again.problem(HERE, PROBLEM));
        assertEquals(
                List.copyOf(entry().us().keySet()),
                List.copyOf(again.problem(HERE, PROBLEM).orElseThrow().us().keySet()));
        assertEquals(Optional.of("algo-7"), again.gemm(HERE, "1x2x3 bf16"));
        assertEquals(Optional.empty(), again.problem(AFTER_UPDATE, PROBLEM));
        assertEquals(Optional.empty(), again.gemm(AFTER_UPDATE, "1x2x3 bf16"));
        assertEquals(Optional.empty(), again.problem(HERE, PROBLEM.withM(4097)));
        assertEquals(1, again.problems(HERE));
        assertEquals(List.of(), warnings);
    }

    @Test
    void writersKeepWhatOthersHaveWrittenMeanwhile() {
        TuningFile one = open();
        TuningFile two = open();
        one.put(HERE, PROBLEM, entry());
        two.put(HERE, PROBLEM.withM(64), entry());
        one.put(AFTER_UPDATE, PROBLEM, entry());
        TuningFile all = open();
        assertEquals(2, all.problems(HERE));
        assertEquals(1, all.problems(AFTER_UPDATE));
    }

    @Test
    void aDamagedLineIsLeftOutAndToldInOneLine() throws IOException {
        open().put(HERE, PROBLEM, entry());
        open().put(HERE, PROBLEM.withM(64), entry());
        List<String> lines = new ArrayList<>(Files.readAllLines(path));
        int damaged = 0;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains("m=4096")) {
                lines.set(i, lines.get(i).replace("10.500", "1.500"));
                damaged = i + 1;
            }
        }
        lines.add("problem\tcut off in the mid");
        Files.write(path, lines);
        TuningFile file = open();
        assertEquals(Optional.empty(), file.problem(HERE, PROBLEM));
        assertTrue(file.problem(HERE, PROBLEM.withM(64)).isPresent());
        assertEquals(1, warnings.size());
        assertTrue(warnings.getFirst().contains("tuning:" + damaged + ": damaged; 2 lines"), warnings::getFirst);
        // The next writer leaves a sound file behind.
        file.put(HERE, PROBLEM, entry());
        warnings.clear();
        assertEquals(2, open().problems(HERE));
        assertEquals(List.of(), warnings);
    }

    @Test
    void aFileThatIsNoTuningFileIsRefusedInOneLineAndNeverTouched() throws IOException {
        for (byte[] foreign : List.of(
                "{\"my\": \"precious\"}\n".getBytes(StandardCharsets.UTF_8),
                "weft tuning file, format 9\n".getBytes(StandardCharsets.UTF_8),
                "x".repeat(5000).getBytes(StandardCharsets.UTF_8),
                new byte[] {(byte) 0xC3, 0x28, 0, 1})) {
            Files.write(path, foreign);
            AcceleratorException refusal = assertThrows(AcceleratorException.class, this::open);
            assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
            assertTrue(refusal.getMessage().contains(path.toString()), refusal::getMessage);
            assertTrue(
                    refusal.getMessage().lines().count() == 1
                            && refusal.getMessage().length() < 400,
                    refusal::getMessage);
            assertEquals(foreign.length, Files.size(path));
        }
        Files.delete(path);
        Files.createDirectory(path);
        assertThrows(AcceleratorException.class, this::open);
    }

    @Test
    void aFileThatIsNotRequiredAndCannotBeWrittenIsToldOfOnce() throws IOException {
        Files.writeString(folder.resolve("file"), "in the way");
        Path nowhere = folder.resolve("file/tuning");
        TuningFile optional = TuningFile.open(nowhere, false, warnings::add);
        optional.put(HERE, PROBLEM, entry());
        optional.put(HERE, PROBLEM.withM(64), entry());
        assertEquals(1, warnings.size());
        assertTrue(optional.problem(HERE, PROBLEM).isPresent());
        assertThrows(AcceleratorException.class, () -> TuningFile.open(nowhere, warnings::add));
    }

    @Test
    void anEntryOfAnUnknownScheduleIsMeasuredAnew() throws IOException {
        TuningFile file = open();
        file.put(HERE, PROBLEM, entry());
        TuningFile other = TuningFile.inMemory();
        other.put(
                HERE,
                PROBLEM,
                new TuningFile.Entry("2026-01-02T03:04:05Z", Map.of(Schedule.serial(), Double.NaN), Schedule.serial()));
        assertEquals(Optional.empty(), other.problem(HERE, PROBLEM));
        assertTrue(file.problem(HERE, PROBLEM).isPresent());
    }

    @Test
    void platformsThatDifferInAnythingAreDifferent() {
        Accelerators accelerators = Accelerators.discover();
        List<String> platforms = new ArrayList<>();
        for (String uri : List.of(
                "sim:switch-8?mode=timing",
                "sim:switch-8",
                "sim:switch-8?mode=timing&devices=2",
                "sim:mesh-8?mode=timing")) {
            try (Platform platform = accelerators.open(uri)) {
                platforms.add(TuningFile.platform(platform));
            }
        }
        assertEquals(4, platforms.stream().distinct().count());
        assertTrue(
                platforms.getFirst().startsWith("model sim switch-8, Switch accelerator (switch) x8"),
                platforms::toString);
        assertNotEquals(HERE, AFTER_UPDATE);
    }
}

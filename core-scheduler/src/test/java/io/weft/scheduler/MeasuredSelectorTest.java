// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Accelerators;
import io.weft.api.Communicator;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measured selection on a machine that changes behind an unchanged name, as real ones do. */
class MeasuredSelectorTest {
    private static final OverlapProblem PROBLEM =
            OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 4096, 4096, 8192, ElementType.BF16, 2);

    private static Accelerators accelerators;

    @TempDir
    Path folder;

    @BeforeAll
    static void discover() {
        accelerators = Accelerators.discover();
    }

    /** A switch whose ports run at a share of their bandwidth, and whose products run at a share of theirs. */
    private Path machine(double links, double products) throws IOException {
        String text = Files.readString(Path.of("../hal-sim/src/main/resources/io/weft/sim/machines/switch-8.yaml"));
        String changed = text.replace("bandwidth_gb_per_s: 450", "bandwidth_gb_per_s: " + 450 * links)
                .replace("bf16: 989.5", "bf16: " + 989.5 * products);
        assertTrue(links == 1 || !changed.equals(text));
        Path file = folder.resolve("machine-" + links + "-" + products + ".yaml");
        Files.writeString(file, changed);
        return file;
    }

    private static void on(
            Path machine, TuningFile file, MeasuredSelector.Options options, Consumer<MeasuredSelector> use) {
        try (Platform platform = accelerators.open("sim:file=" + machine + "?mode=timing&devices=2");
                Communicator communicator = Communicator.over(platform, platform.devices())) {
            use.accept(new MeasuredSelector(communicator, MeasuredSelector.guide(platform), file, options));
        }
    }

    private TuningFile file() {
        return TuningFile.open(folder.resolve("tuning"), warning -> {
            throw new AssertionError(warning);
        });
    }

    @Test
    void whatOneProcessMeasuredTheNextOneUses() throws IOException {
        Path machine = machine(1, 1);
        List<Selection> found = new ArrayList<>();
        on(machine, file(), MeasuredSelector.Options.defaults(), selector -> {
            Selection selection = selector.select(PROBLEM);
            assertEquals(1, selector.measurements());
            assertEquals(selection, selector.select(PROBLEM));
            assertEquals(1, selector.measurements());
            assertTrue(selection.candidates().size() > 5, selection::toString);
            assertTrue(selection.reason().contains("measured now"), selection::reason);
            found.add(selection);
        });
        on(machine, file(), MeasuredSelector.Options.defaults(), selector -> {
            Selection selection = selector.select(PROBLEM);
            assertEquals(0, selector.measurements());
            assertEquals(found.getFirst().choice(), selection.choice());
            assertTrue(selection.reason().contains("kept from"), selection::reason);
        });
    }

    @Test
    void aMachineThatDegradedIsMeasuredAgainAndTheChoiceFollows() throws IOException {
        List<Schedule> choices = new ArrayList<>();
        on(
                machine(1, 1),
                file(),
                MeasuredSelector.Options.defaults(),
                selector -> choices.add(selector.select(PROBLEM).choice()));
        on(machine(0.1, 1), file(), MeasuredSelector.Options.defaults(), selector -> {
            Selection now = selector.select(PROBLEM);
            assertEquals(1, selector.measurements(), now::reason);
            choices.add(now.choice());
        });
        on(machine(0.1, 1), TuningFile.inMemory(), MeasuredSelector.Options.defaults(), selector -> {
            Selection fresh = selector.select(PROBLEM);
            double best = fresh.candidates().getFirst().us();
            double kept = fresh.candidates().stream()
                    .filter(candidate -> candidate.schedule().equals(choices.get(1)))
                    .findFirst()
                    .orElseThrow()
                    .us();
            assertTrue(kept <= best * 1.021, () -> choices + " " + fresh);
            double old = fresh.candidates().stream()
                    .filter(candidate -> candidate.schedule().equals(choices.get(0)))
                    .mapToDouble(Selection.Candidate::us)
                    .findFirst()
                    .orElse(Double.POSITIVE_INFINITY);
            assertTrue(old > best * 1.02, () -> choices + " " + fresh);
        });
        assertNotEquals(choices.get(0), choices.get(1));
    }

    @Test
    void aMachineThatIsSlowerForEveryScheduleKeepsItsChoiceAndIsMeasuredOnce() throws IOException {
        List<Schedule> choices = new ArrayList<>();
        on(
                machine(1, 1),
                file(),
                MeasuredSelector.Options.defaults(),
                selector -> choices.add(selector.select(PROBLEM).choice()));
        // Everything half as fast: the same is best, or within the hysteresis of it.
        on(machine(0.5, 0.5), file(), MeasuredSelector.Options.defaults(), selector -> {
            assertEquals(choices.getFirst(), selector.select(PROBLEM).choice());
            assertEquals(1, selector.measurements());
        });
        on(machine(0.5, 0.5), file(), MeasuredSelector.Options.defaults(), selector -> {
            assertEquals(choices.getFirst(), selector.select(PROBLEM).choice());
            assertEquals(0, selector.measurements());
        });
    }

    @Test
    void aRivalWithinTheHysteresisDoesNotTakeOver() throws IOException {
        MeasuredSelector.Options stubborn = new MeasuredSelector.Options(8, 3, 0.9, 0.10, 5);
        List<Schedule> choices = new ArrayList<>();
        on(
                machine(1, 1),
                file(),
                stubborn,
                selector -> choices.add(selector.select(PROBLEM).choice()));
        on(machine(0.1, 1), file(), stubborn, selector -> {
            Selection now = selector.select(PROBLEM);
            assertEquals(1, selector.measurements());
            assertEquals(choices.getFirst(), now.choice());
            assertNotEquals(choices.getFirst(), now.candidates().getFirst().schedule());
        });
    }

    @Test
    void timesFromUseAreHeardAndOneSlowRunIsNot() throws IOException {
        on(machine(1, 1), file(), MeasuredSelector.Options.defaults(), selector -> {
            assertFalse(selector.observe(PROBLEM, 1e9), "never chosen");
            double us = selector.select(PROBLEM).candidates().getFirst().us();
            assertFalse(selector.observe(PROBLEM, us));
            assertFalse(selector.observe(PROBLEM, us * 50));
            assertFalse(selector.observe(PROBLEM, us));
            assertFalse(selector.observe(PROBLEM, us));
            assertFalse(selector.observe(PROBLEM, us));
            assertEquals(1, selector.measurements());
            boolean again = false;
            for (int i = 0; i < 5; i++) {
                again |= selector.observe(PROBLEM, us * 1.5);
            }
            assertTrue(again);
            assertEquals(2, selector.measurements());
        });
    }

    @Test
    void theChoiceIsNeverSlowerThanSerialAndGainsBelowNoiseAreLeftToSerial() throws IOException {
        OverlapProblem tiny = OverlapProblem.of(Pattern.GEMM_REDUCE_SCATTER, 4096, 64, 8192, ElementType.BF16, 2);
        on(machine(1, 1), TuningFile.inMemory(), MeasuredSelector.Options.defaults(), selector -> {
            for (OverlapProblem problem : List.of(PROBLEM, tiny)) {
                Selection selection = selector.select(problem);
                double chosen = selection.candidates().stream()
                        .filter(candidate -> candidate.schedule().equals(selection.choice()))
                        .findFirst()
                        .orElseThrow()
                        .speedup();
                assertTrue(chosen >= 1, selection::toString);
            }
        });
    }
}

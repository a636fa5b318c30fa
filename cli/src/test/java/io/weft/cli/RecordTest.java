// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.memory.replay.Trace;
import io.weft.memory.replay.TraceReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordTest {
    @TempDir
    Path folder;

    private static void replays(Path file) {
        Invocation replay = Invocation.of("pool", "replay", file.toString(), "--passes", "3");
        assertEquals(0, replay.code(), replay.err());
    }

    @Test
    void aPlansRecordingHoldsEveryLayerAndIsReplayed() {
        Path file = folder.resolve("plan.csv.gz");
        Invocation plan = Invocation.of(
                "plan",
                "--on",
                "sim:mesh-8",
                "--model",
                "llama-3-8b",
                "--tokens",
                "1024",
                "--tp",
                "8",
                "--select",
                "heuristic",
                "--record",
                file.toString());
        assertEquals(0, plan.code(), plan.err());
        Trace trace = TraceReader.read(file);
        assertEquals(List.of(), trace.notes());
        assertEquals(trace.allocations(), trace.frees());
        // 32 layers of four problems with a weight, an operand and a result each, at the least.
        assertTrue(trace.allocations() >= 3 * 4 * 32, trace.allocations() + " allocations");
        // bf16 weights of one eighth of the four products of llama-3-8b's layers.
        long weights = 32L * 2 * 4096 * (6144 + 4096 + 2 * 14336 + 14336) / 8;
        assertTrue(trace.peakLiveBytes() > weights, trace.peakLiveBytes() + " of " + weights);
        assertTrue(trace.peakLiveBytes() < 1.2 * weights, trace.peakLiveBytes() + " of " + weights);
        replays(file);
    }

    @Test
    void aRunsRecordingHoldsOperandsAndWorkspaceAndIsReplayed() throws Exception {
        for (String verify : List.of("", "--verify")) {
            Path file = folder.resolve("run" + verify + ".csv");
            List<String> line = List.of(("run --on sim:mesh-8 --pattern all-gather-gemm --m 256 --n 64 --k 64"
                            + " --schedule hetero-fused-1d --record " + file + " " + verify)
                    .strip()
                    .split(" ", -1));
            Invocation run = Invocation.of(line.toArray(String[]::new));
            assertEquals(0, run.code(), run.err());
            assertTrue(Files.readString(file).startsWith("weft-pool-recording,1\n"));
            Trace trace = TraceReader.read(file);
            assertEquals(List.of(), trace.notes());
            assertEquals(trace.allocations(), trace.frees());
            assertTrue(trace.allocations() >= 4, trace.allocations() + " allocations");
            assertTrue(trace.peakLiveBytes() >= 2 * (256 / 8 * 64 + 64 * 64 + 256 * 64), "operand, weight, result");
            replays(file);
        }
    }

    @Test
    void aRecordingThatCannotBeWrittenIsNamed() {
        Invocation run = Invocation.of(
                "run",
                "--on",
                "sim:mesh-8",
                "--pattern",
                "all-gather-gemm",
                "--m",
                "64",
                "--n",
                "8",
                "--k",
                "8",
                "--record",
                folder.resolve("none/run.csv").toString());
        assertEquals(2, run.code(), run.err());
        assertTrue(run.err().contains("folder does not exist"), run.err());
    }
}

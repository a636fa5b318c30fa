// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SweepTest {
    private static final int POINTS = 24;

    @TempDir
    Path folder;

    private static List<String> sweep(Path out) {
        String tokens = IntStream.rangeClosed(1, POINTS)
                .mapToObj(i -> Integer.toString(128 * i))
                .collect(Collectors.joining(","));
        return List.of(
                "sweep",
                "--on",
                "sim:ring-4",
                "--model",
                "llama-3-8b",
                "--tokens",
                tokens,
                "--tp",
                "4",
                "--out",
                out.toString());
    }

    private static Invocation call(List<String> arguments, String... more) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(List.of(more));
        return Invocation.of(all.toArray(String[]::new));
    }

    private static long rows(Path file) throws IOException {
        return Files.exists(file)
                ? Files.readString(file).chars().filter(c -> c == '\n').count() - 1
                : -1;
    }

    /** A real process, killed without a chance to tidy up once it has written a few rows. */
    private long killedSweep(Path out) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.add("--add-modules=jdk.incubator.vector");
        command.add("-XX:TieredStopAtLevel=1");
        command.add("--enable-native-access=ALL-UNNAMED");
        // As this process was started: with modules, whose version rows depend on, or all on the class path.
        command.add("-cp");
        command.add(System.getProperty("java.class.path", ""));
        String modules = System.getProperty("jdk.module.path", "");
        if (modules.isEmpty()) {
            command.add("io.weft.cli.Weft");
        } else {
            command.addAll(List.of("-p", modules, "-m", "io.weft.cli/io.weft.cli.Weft"));
        }
        command.addAll(sweep(out));
        command.addAll(List.of("-D", "plan.threads=1")); // or it may be done before we can kill it
        Path log = folder.resolve("child.log");
        try (WatchService watch = folder.getFileSystem().newWatchService()) {
            folder.register(watch, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY);
            Process child = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                while (rows(out) < 3) {
                    WatchKey key = watch.poll(10, TimeUnit.MINUTES);
                    assertTrue(key != null && key.reset(), () -> "nothing was written: " + log);
                    key.pollEvents();
                    assertTrue(child.isAlive() || rows(out) >= 3, () -> "the child ended: " + text(log));
                }
            } finally {
                child.destroyForcibly();
                assertTrue(child.waitFor(10, TimeUnit.MINUTES), "the child must die");
            }
        }
        return rows(out);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failure) {
            return failure.toString();
        }
    }

    @Test
    void aKilledSweepGoesOnAndEndsAsIfItHadNotBeenKilled() throws IOException, InterruptedException {
        Path killed = folder.resolve("killed.csv");
        long left = killedSweep(killed);
        // How far it came is the machine's affair; that any part is gone on with is SweepServiceTest's.
        assertTrue(left >= 3 && left <= POINTS, left + " rows were left of " + POINTS);
        Invocation second = call(sweep(killed));
        assertEquals(0, second.code(), second.err());
        assertTrue(second.out().contains(POINTS + " rows in "), second.out());
        assertTrue(second.out().contains(left + " of them from before"), left + " rows: " + second.out());
        Path whole = folder.resolve("whole.csv");
        assertEquals(0, call(sweep(whole), "-D", "plan.threads=1").code());
        assertEquals(Files.readString(whole), Files.readString(killed));
    }

    @Test
    void theTableShowsEveryPointAndTheReasonOfThoseThatCannotBePlanned() {
        Invocation call = Invocation.of(
                "sweep",
                "--on",
                "sim:ring-4",
                "--model",
                "llama-3-8b",
                "--tokens",
                "1024",
                "--tp",
                "4,8",
                "--select",
                "heuristic");
        assertEquals(0, call.code(), call.err());
        assertTrue(call.out().contains("All times are model"), call.out());
        assertTrue(call.out().contains("needs 8 devices"), call.out());
        assertFalse(call.out().contains(" rows in "), call.out());
    }

    @Test
    void jsonIsPrintedWhenAskedFor() {
        Invocation call = Invocation.of(
                "sweep",
                "--on",
                "sim:ring-4",
                "--model",
                "llama-3-8b",
                "--tokens",
                "1024",
                "--tp",
                "4",
                "--select",
                "heuristic",
                "--json");
        assertEquals(0, call.code(), call.err());
        assertTrue(call.out().startsWith("{\"sweep\": 1, \"rows\": ["), call.out());
    }
}

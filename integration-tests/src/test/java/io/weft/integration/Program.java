// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * A program to run to its end, or to its time limit. Immutable.
 *
 * <p>It cannot hang a test: input is empty, output goes to files and so never blocks the program, and at the limit the
 * program and all its descendants are killed.
 */
record Program(List<String> command, Path directory, Map<String, String> environment) {
    /** More than any program takes here, also on a machine that is busy with other things. */
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** Says when a program has had time enough. */
    @FunctionalInterface
    interface Watch {
        /**
         * Waits for a program.
         *
         * @param out where its output goes
         * @return whether it has ended
         */
        boolean ended(Process process, Path out) throws IOException, InterruptedException;
    }

    /** What a program left. Both outputs are UTF-8 text. */
    record Result(String what, int exitCode, String out, String err) {

        /** Fails the test with everything that was said, unless the exit code is the one expected. */
        Result expect(int expected) {
            assertEquals(expected, exitCode, () -> what + "\n--- stdout\n" + out + "\n--- stderr\n" + err);
            return this;
        }
    }

    Program {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
    }

    /** A program in the repository's root, with the environment of this JVM but for what a user may have set for Weft and for Java. */
    static Program of(String... command) {
        return new Program(List.of(command), Checkout.root(), Map.of());
    }

    /** The Java of this JVM. */
    static Program java(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(arguments));
        return of(command.toArray(String[]::new));
    }

    /** The image's command. */
    static Program weft(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Checkout.image().resolve("bin/weft").toString());
        command.addAll(List.of(arguments));
        return of(command.toArray(String[]::new));
    }

    /** The same in another working directory. */
    Program in(Path other) {
        return new Program(command, other, environment);
    }

    /** The same with one more environment variable. */
    Program with(String name, String value) {
        Map<String, String> more = new TreeMap<>(environment);
        more.put(name, value);
        return new Program(command, directory, more);
    }

    /**
     * Runs it.
     *
     * @return what it left
     * @throws IOException if it cannot be started
     * @throws AssertionError if it runs past its limit
     * @throws InterruptedException if this thread is interrupted; the program is killed then
     */
    Result run() throws IOException, InterruptedException {
        return run((process, out) -> process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS));
    }

    /** The same with another limit. */
    Result run(Watch watch) throws IOException, InterruptedException {
        Path out = Files.createTempFile("program", ".out");
        Path err = Files.createTempFile("program", ".err");
        String what = String.join(" ", command);
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            // What the build's own JVM was told is not for the program's; nor are the user's settings and tuned
            // choices.
            builder.environment()
                    .keySet()
                    .removeIf(name -> name.startsWith("WEFT_")
                            || name.equals("MAVEN_OPTS")
                            || name.equals("JAVA_TOOL_OPTIONS")
                            || name.equals("JDK_JAVA_OPTIONS")
                            || name.equals("_JAVA_OPTIONS"));
            Path user = Checkout.scratch("user-" + ProcessHandle.current().pid()); // no earlier build's either
            builder.environment().put("XDG_CONFIG_HOME", user.resolve("config").toString());
            builder.environment().put("XDG_CACHE_HOME", user.resolve("cache").toString());
            builder.environment().putAll(environment);
            Process process = builder.start();
            try {
                if (!watch.ended(process, out)) {
                    throw new AssertionError(what + " ran past its limit\n--- stdout\n" + Files.readString(out)
                            + "\n--- stderr\n" + Files.readString(err));
                }
            } finally {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
            return new Result(what, process.exitValue(), read(out), read(err));
        } finally {
            Files.deleteIfExists(out);
            Files.deleteIfExists(err);
        }
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.simgrid;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Our engine beside SimGrid 3.32 (Debian {@code libsimgrid-dev}, with {@code g++}).
 *
 * <pre>
 * check [record]           the same random fluid problems on both; finish times must agree within 1 %; record keeps SimGrid's
 * scale [DEVICES ...]      the same message patterns on both, timed one after the other in processes of their own
 * run PATTERN DEVICES      one pattern on our engine, repeated for a second: pattern, devices, activities, simulated s, fastest wall s, peak KiB
 * </pre>
 */
public final class SimGridComparison {
    /** Most that a finish time may differ. */
    static final double TOLERANCE = 0.01;

    private static final int[] DEVICES = {8, 64, 256, 1024, 4096};
    private static final int REPEATS = 3;
    /** A run that takes longer is not repeated: start and warm-up no longer count. */
    private static final double LONG_SECONDS = 5;

    /** A run of ours that is expected to take longer is left out, and one that does is ended. */
    private static final double MOST_SECONDS = 120;
    /** The same for SimGrid, whose time would otherwise be nearly all of a comparison's. */
    private static final double SIMGRID_SECONDS = 40;

    private static final int KIB_PER_MIB = 1024;
    private static final int WARM_RUNS = 2000;
    private static final double WARM_SECONDS = 1;

    private SimGridComparison() {}

    /** Runs one of the commands above; exit code 1 when they disagree, 2 when it cannot run. */
    public static void main(String[] args) throws IOException, InterruptedException {
        try {
            switch (args.length == 0 ? "" : args[0]) {
                case "check" -> check(args.length > 1 && args[1].equals("record"));
                case "scale" ->
                    scale(
                            args.length == 1
                                    ? DEVICES
                                    : Arrays.stream(args)
                                            .skip(1)
                                            .mapToInt(Integer::parseInt)
                                            .toArray());
                case "run" -> System.out.println(run(MessagePattern.of(args[1]), Integer.parseInt(args[2])));
                default ->
                    throw new IllegalArgumentException(
                            "expected check [record], scale [DEVICES ...] or run PATTERN DEVICES");
            }
        } catch (IllegalArgumentException | IllegalStateException wrong) {
            System.err.println("simgrid: " + wrong.getMessage());
            System.exit(2);
        }
    }

    // Agreement.

    private static void check(boolean record) throws IOException, InterruptedException {
        Path program = build();
        List<FluidProblem> problems = FluidProblem.all();
        Path file = program.resolveSibling("problems.txt");
        StringBuilder text = new StringBuilder();
        problems.forEach(problem -> text.append(problem.text()));
        Files.writeString(file, text);
        List<String> lines = output(List.of(program.toString(), "solve", file.toString()), MOST_SECONDS)
                .orElseThrow(() -> new IllegalStateException("SimGrid took longer than " + MOST_SECONDS + " s"));
        RecordedTimes theirs = RecordedTimes.parse(lines);
        double worst = 0;
        for (FluidProblem problem : problems) {
            double[] expected = theirs.of(problem.name());
            double[] ours = problem.finishTimes();
            double difference = RecordedTimes.worstDifference(expected, ours);
            worst = Math.max(worst, difference);
            System.out.printf(
                    Locale.ROOT,
                    "%-22s largest difference of a finish time %.6f %%%n",
                    problem.name(),
                    100 * difference);
        }
        System.out.printf(
                Locale.ROOT,
                "%d problems, %d flows: largest difference %.6f %%%n",
                problems.size(),
                problems.stream().mapToInt(problem -> problem.flows().size()).sum(),
                100 * worst);
        if (record) {
            Path kept = source().resolveSibling("recorded-finish-times.txt");
            List<String> content = new ArrayList<>();
            content.add(
                    "# Finish times in s that SimGrid 3.32 (Debian libsimgrid-dev 3.32-2) finds for the problems of FluidProblem, by flow.");
            content.add("# Made by: ./mvnw -q -Dfast -Dmaven.test.skip=true -pl benchmarks -am package"
                    + " -Dbench='simgrid.SimGridComparison check record'");
            content.addAll(lines);
            Files.write(kept, content);
            System.out.println("recorded in " + kept);
        }
        if (worst > TOLERANCE) {
            System.exit(1);
        }
    }

    // Speed.

    private static void scale(int[] sizes) throws IOException, InterruptedException {
        Path program = build();
        System.out.printf(
                Locale.ROOT,
                "%-18s %7s %10s %14s %8s %14s %8s %7s %10s%n",
                "pattern",
                "devices",
                "activities",
                "ours/s",
                "MiB",
                "SimGrid/s",
                "MiB",
                "ratio",
                "difference");
        for (MessagePattern pattern : MessagePattern.values()) {
            Expectation ours = new Expectation(MOST_SECONDS);
            Expectation theirs = new Expectation(SIMGRID_SECONDS);
            for (int devices : sizes) {
                List<Measured> mine = new ArrayList<>();
                List<Measured> other = new ArrayList<>();
                for (int i = 0; i < REPEATS; i++) {
                    ours.measure(devices, self(pattern, devices), mine);
                    theirs.measure(
                            devices, List.of(program.toString(), pattern.label(), Integer.toString(devices)), other);
                }
                print(pattern, devices, Measured.median(mine), Measured.median(other), theirs.missing());
            }
        }
    }

    private static void print(
            MessagePattern pattern, int devices, Optional<Measured> ours, Optional<Measured> theirs, String missing) {
        System.out.printf(
                Locale.ROOT,
                "%-18s %7d %10s %14s %8s %14s %8s %7s %10s%n",
                pattern.label(),
                devices,
                ours.map(m -> Long.toString(m.activities())).orElse("-"),
                ours.map(Measured::rate).orElse("-"),
                ours.map(Measured::memory).orElse("-"),
                theirs.map(Measured::rate).orElse(missing),
                theirs.map(Measured::memory).orElse("-"),
                ours.flatMap(m -> theirs.map(t -> String.format(Locale.ROOT, "%.1fx", t.wall() / m.wall())))
                        .orElse("-"),
                ours.flatMap(m -> theirs.map(t -> String.format(
                                Locale.ROOT, "%.4f %%", 100 * Math.abs(m.simulated() / t.simulated() - 1))))
                        .orElse("-"));
    }

    /** Expects time to grow with the number of messages, devices squared, and leaves out what would take too long. */
    private static final class Expectation {
        private final double most;
        private double secondsForPair;
        private boolean over;

        Expectation(double most) {
            this.most = most;
        }

        /** What to say where nothing was measured. */
        String missing() {
            return over ? String.format(Locale.ROOT, "over %.0f s", most) : "not run";
        }

        void measure(int devices, List<String> command, List<Measured> into) throws IOException, InterruptedException {
            double pairs = (double) devices * devices;
            boolean again = !into.isEmpty();
            if (over
                    || secondsForPair * pairs > most
                    || (again && into.getLast().wall() > LONG_SECONDS)) {
                return;
            }
            Optional<List<String>> output = output(command, most);
            if (output.isEmpty() || output.get().isEmpty()) {
                over = true;
                return;
            }
            Measured measured = Measured.parse(output.get().getLast());
            secondsForPair = measured.wall() / pairs;
            into.add(measured);
        }
    }

    private record Measured(long activities, double simulated, double wall, long peakKib) {
        static Measured parse(String line) {
            String[] words = line.split(" ", -1);
            return new Measured(
                    Long.parseLong(words[2]),
                    Double.parseDouble(words[3]),
                    Double.parseDouble(words[4]),
                    Long.parseLong(words[5]));
        }

        static Optional<Measured> median(List<Measured> all) {
            return all.stream()
                    .sorted((a, b) -> Double.compare(a.wall, b.wall))
                    .skip(all.size() / 2)
                    .findFirst();
        }

        String rate() {
            return String.format(Locale.ROOT, "%.0f", activities / wall);
        }

        String memory() {
            return Long.toString(peakKib / KIB_PER_MIB);
        }
    }

    private static String run(MessagePattern pattern, int devices) throws IOException {
        // The first run starts with interpreted code; a planner's engine is warm. Long runs warm up on their way.
        MessagePattern.Result result = null;
        double wall = 0;
        double all = 0;
        for (int i = 0; i < WARM_RUNS && (i == 0 || all < WARM_SECONDS); i++) {
            long before = System.nanoTime();
            result = pattern.run(devices);
            double seconds = (System.nanoTime() - before) / 1e9;
            wall = i == 0 ? seconds : Math.min(wall, seconds);
            all += seconds;
        }
        return String.format(
                Locale.ROOT,
                "%s %d %d %.12g %.6f %d",
                pattern.label(),
                devices,
                result.activities(),
                result.seconds(),
                wall,
                peakKib());
    }

    private static long peakKib() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return 0;
    }

    // Programs.

    private static List<String> self(MessagePattern pattern, int devices) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                SimGridComparison.class.getName(),
                "run",
                pattern.label(),
                Integer.toString(devices));
    }

    private static Path source() {
        for (String folder : new String[] {"simgrid", "benchmarks/simgrid"}) {
            Path source = Path.of(folder, "fluid.cpp");
            if (Files.exists(source)) {
                return source;
            }
        }
        throw new IllegalStateException("simgrid/fluid.cpp is not below "
                + Path.of("").toAbsolutePath() + "; run this from the module benchmarks or the folder above");
    }

    private static Path build() throws IOException, InterruptedException {
        Path source = source();
        Path folder = source.toAbsolutePath().getParent().getParent().resolve("target/simgrid");
        Files.createDirectories(folder);
        Path program = folder.resolve("fluid");
        try {
            output(
                    List.of("g++", "-O2", "-std=c++17", source.toString(), "-o", program.toString(), "-lsimgrid"),
                    MOST_SECONDS);
        } catch (IOException missing) {
            throw new IllegalStateException("there is no g++; install g++ and libsimgrid-dev", missing);
        } catch (IllegalStateException failed) {
            throw new IllegalStateException(
                    "fluid.cpp does not build (is libsimgrid-dev installed?): " + failed.getMessage(), failed);
        }
        return program;
    }

    /** The lines that a program prints; empty when it took too long. */
    private static Optional<List<String>> output(List<String> command, double most)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile("weft-simgrid", ".txt");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
            if (!process.waitFor((long) (most * 1000), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor();
                return Optional.empty();
            }
            List<String> lines = Files.readAllLines(out);
            if (process.exitValue() != 0) {
                throw new IllegalStateException(command.getFirst() + " ended with " + process.exitValue() + ": "
                        + (lines.isEmpty() ? "" : lines.getFirst()));
            }
            return Optional.of(lines);
        } finally {
            Files.delete(out);
        }
    }
}

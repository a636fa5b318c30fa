// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.runtime.json.JsonWriter;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Repetitions;
import io.weft.scheduler.SampledReference;
import io.weft.scheduler.Schedule;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * What {@code weft bench overlap} tells. Times are microseconds.
 *
 * @param figures {@code model} or {@code measured}
 * @param platform its URI
 * @param machine its name
 * @param versions driver and library versions
 * @param devices product name of each rank's device
 * @param date when it began, ISO 8601, UTC
 * @param seed of the random operands
 * @param warmUp rounds before anything counted
 * @param rounds counted rounds
 * @param results one for each problem, in their order
 */
public record OverlapBenchReport(
        String figures,
        String platform,
        String machine,
        Map<String, String> versions,
        List<String> devices,
        String date,
        long seed,
        int warmUp,
        int rounds,
        List<Result> results) {
    /** Says what kind of document it is. */
    static final String KIND = "weft overlap benchmark";

    private static final double NANOS_PER_MICRO = 1e3;

    /**
     * One problem.
     *
     * @param problem what was computed
     * @param name for people; may be empty
     * @param gemm the whole GEMM alone, on all ranks at once
     * @param collective the backend's collective alone
     * @param copies one copy for each pair of ranks, alone; empty with one rank
     * @param schedules every schedule
     * @param selector what made the choice
     * @param choice the schedule that it chose
     * @param reason why
     * @param gemms algorithm chosen for each product, by shape; empty where the platform offers no choice
     * @param eager the choice issued command by command
     * @param peer another program's variants, timed in the same rounds; empty without one
     * @param refusal why nothing was timed; empty when it was
     */
    public record Result(
            OverlapProblem problem,
            String name,
            Optional<Repetitions> gemm,
            Optional<Repetitions> collective,
            Optional<Repetitions> copies,
            List<Timed> schedules,
            String selector,
            Schedule choice,
            String reason,
            Map<String, String> gemms,
            Optional<Eager> eager,
            Map<String, Repetitions> peer,
            Optional<String> refusal) {
        public Result {
            peer = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(peer));
            schedules = List.copyOf(schedules);
            gemms = java.util.Collections.unmodifiableMap(new java.util.TreeMap<>(gemms));
        }

        /** The time of a schedule, NaN when it was not timed. */
        public double us(Schedule schedule) {
            return schedules.stream()
                    .filter(timed ->
                            timed.schedule().equals(schedule) && timed.times().isPresent())
                    .mapToDouble(timed -> timed.times().get().median())
                    .findFirst()
                    .orElse(Double.NaN);
        }

        /** The serial schedule with the backend's collective. */
        public double serialUs() {
            return us(Schedule.serial());
        }

        /** The choice. */
        public double choiceUs() {
            return us(choice);
        }

        /** The fastest schedule. */
        public Optional<Timed> best() {
            return schedules.stream()
                    .filter(timed -> timed.times().isPresent())
                    .min(java.util.Comparator.comparingDouble(
                            timed -> timed.times().get().median()));
        }

        /** Middle times of another program by variant, us: those of the same rounds, else those of a file. */
        public Map<String, Double> others(PeerTimes file) {
            if (peer.isEmpty()) {
                return file.of(problem);
            }
            Map<String, Double> medians = new java.util.LinkedHashMap<>();
            peer.forEach((variant, times) -> medians.put(variant, times.median()));
            return medians;
        }

        /** The faster way to communicate, alone. */
        public double commUs() {
            double least = Double.POSITIVE_INFINITY;
            for (Optional<Repetitions> way : List.of(collective, copies)) {
                least = Math.min(least, way.map(Repetitions::median).orElse(Double.POSITIVE_INFINITY));
            }
            return least;
        }

        /** Serial over the longer of GEMM alone and communication alone; 1 at least. */
        public double idealSpeedup() {
            if (gemm.isEmpty()) {
                return 1;
            }
            double comm = commUs();
            double longer = Math.max(gemm.get().median(), Double.isInfinite(comm) ? 0 : comm);
            return longer > 0 ? Math.max(1, serialUs() / longer) : 1;
        }

        /** Share of the ideal gain that a time reaches; NaN where nothing is to be gained. */
        public double shareOfIdeal(double us) {
            double ideal = idealSpeedup();
            return ideal > 1 ? (serialUs() / us - 1) / (ideal - 1) : Double.NaN;
        }
    }

    /**
     * One schedule.
     *
     * @param schedule which
     * @param commands commands of its graph
     * @param times its runs; empty when the platform refused it
     * @param check what checking found; empty when it was not checked
     * @param refusal why it did not run; empty when it did
     */
    public record Timed(
            Schedule schedule,
            int commands,
            Optional<Repetitions> times,
            Optional<SampledReference.Outcome> check,
            Optional<String> refusal) {}

    /**
     * A schedule issued command by command, on streams.
     *
     * @param times its runs
     * @param commands its commands
     */
    public record Eager(Repetitions times, int commands) {
        /** Host time for one command, with the waits and events that it needs, ns. */
        public double issueNanosPerCommand() {
            return times.issueMedian() * NANOS_PER_MICRO / Math.max(1, commands);
        }
    }

    public OverlapBenchReport {
        versions = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(versions));
        devices = List.copyOf(devices);
        results = List.copyOf(results);
    }

    /** The same with one more result. */
    OverlapBenchReport with(Result result) {
        List<Result> more = new java.util.ArrayList<>(results);
        more.add(result);
        return new OverlapBenchReport(figures, platform, machine, versions, devices, date, seed, warmUp, rounds, more);
    }

    /** All variants of another program, in the order of their first appearance. */
    public java.util.Set<String> variants(PeerTimes file) {
        java.util.Set<String> names = new java.util.LinkedHashSet<>();
        results.forEach(result -> names.addAll(result.others(file).keySet()));
        return names;
    }

    /** Whether every schedule ran, and every check was good. */
    public boolean isGood() {
        return results.stream()
                .allMatch(result -> result.refusal().isEmpty()
                        && result.schedules().stream()
                                .allMatch(timed -> timed.check()
                                        .map(SampledReference.Outcome::verified)
                                        .orElse(true)));
    }

    /** Geometric mean of a ratio over the results of a pattern for which it is a number; NaN when there are none. */
    public double geometricMean(io.weft.scheduler.Pattern pattern, ToDoubleFunction<Result> ratio) {
        double logs = 0;
        int count = 0;
        for (Result result : results) {
            double value =
                    result.problem().pattern() == pattern && result.refusal().isEmpty()
                            ? ratio.applyAsDouble(result)
                            : Double.NaN;
            if (value > 0 && !Double.isInfinite(value)) {
                logs += Math.log(value);
                count++;
            }
        }
        return count == 0 ? Double.NaN : Math.exp(logs / count);
    }

    /**
     * The report as JSON.
     *
     * @param peer other programs' times to be put beside, may be empty
     */
    public String json(PeerTimes peer) {
        return JsonWriter.text(json -> json.object(() -> {
            json.member("kind", KIND);
            json.member("figures", figures);
            json.member("platform", platform);
            json.member("machine", machine);
            json.object("versions", () -> versions.forEach(json::member));
            json.array("devices", devices, json::value);
            json.member("date", date);
            json.member("seed", seed);
            json.member("warmUp", warmUp);
            json.member("rounds", rounds);
            json.array("results", results, result -> result(json, result, peer));
        }));
    }

    private static void result(JsonWriter json, Result result, PeerTimes peer) {
        OverlapProblem problem = result.problem();
        json.object(() -> {
            json.member("pattern", problem.pattern().label());
            json.member("m", problem.m());
            json.member("n", problem.n());
            json.member("k", problem.k());
            json.member("elementType", problem.elementType().label());
            json.member("ranks", problem.ranks());
            json.member("inPlace", problem.inPlace());
            if (!result.name().isEmpty()) {
                json.member("name", result.name());
            }
            if (result.refusal().isPresent()) {
                json.member("refusal", result.refusal().get());
                return;
            }
            json.member("serialUs", result.serialUs());
            json.member("gemmUs", median(result.gemm()));
            json.member("collectiveUs", median(result.collective()));
            json.member("copiesUs", median(result.copies()));
            json.member("idealSpeedup", result.idealSpeedup());
            json.member("selector", result.selector());
            json.member("choice", result.choice().toString());
            json.member("choiceUs", result.choiceUs());
            json.member("choiceSpeedup", result.serialUs() / result.choiceUs());
            json.member("choiceShareOfIdeal", result.shareOfIdeal(result.choiceUs()));
            json.member("reason", result.reason());
            result.best().ifPresent(best -> json.member("best", best.schedule().toString()));
            result.eager()
                    .ifPresent(eager -> json.object("eager", () -> {
                        json.member("commands", eager.commands());
                        json.member("us", eager.times().median());
                        json.member("issueUs", eager.times().issueMedian());
                        json.member("issueNsPerCommand", eager.issueNanosPerCommand());
                    }));
            if (!result.gemms().isEmpty()) {
                json.object("gemms", () -> result.gemms().forEach(json::member));
            }
            json.array("schedules", result.schedules(), timed -> timed(json, result, timed));
            Map<String, Double> others = result.others(peer);
            if (!others.isEmpty()) {
                json.object("peer", () -> others.forEach(json::member));
            }
            if (!result.peer().isEmpty()) {
                json.object(
                        "peerRunsUs",
                        () -> result.peer()
                                .forEach((variant, times) ->
                                        json.array(variant, times.us(), (Double us) -> json.value(us.doubleValue()))));
            }
        });
    }

    private static void timed(JsonWriter json, Result result, Timed timed) {
        json.object(() -> {
            json.member("schedule", timed.schedule().toString());
            json.member("commands", timed.commands());
            timed.refusal().ifPresent(refusal -> json.member("refusal", refusal));
            timed.times().ifPresent(times -> {
                json.member("us", times.median());
                json.member("leastUs", times.least());
                json.member("mostUs", times.most());
                json.member("spread", times.spread());
                json.member("speedup", result.serialUs() / times.median());
                json.member("shareOfIdeal", result.shareOfIdeal(times.median()));
                json.member("launchUs", times.issueMedian());
                json.array("runsUs", times.us(), (Double us) -> json.value(us.doubleValue()));
            });
            timed.check()
                    .ifPresentOrElse(
                            check -> json.object("check", () -> {
                                json.member("verified", check.verified());
                                json.member("elements", check.elements());
                                json.member("complete", check.complete());
                                json.member("maxUlp", check.maxUlp());
                                check.difference().ifPresent(wrong -> json.member("difference", wrong));
                            }),
                            () -> json.member("check", null));
        });
    }

    private static double median(Optional<Repetitions> times) {
        return times.map(Repetitions::median).orElse(Double.NaN);
    }
}

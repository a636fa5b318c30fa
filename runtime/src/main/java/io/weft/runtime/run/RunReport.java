// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.run;

import io.weft.runtime.json.JsonWriter;
import io.weft.runtime.json.MemoryJson;
import io.weft.runtime.memory.DeviceUse;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.verify.VerificationResult;
import java.util.List;
import java.util.Optional;

/**
 * What {@code weft run} tells.
 *
 * @param figures {@code model} or {@code measured}
 * @param platform its URI
 * @param problem what was computed
 * @param seed of the random operands
 * @param runs one for each schedule
 * @param reason why the selector chose, when it was asked to; otherwise empty
 * @param memory what the pools of each rank have done
 */
public record RunReport(
        String figures,
        String platform,
        OverlapProblem problem,
        long seed,
        List<Run> runs,
        String reason,
        List<DeviceUse> memory) {
    /**
     * One schedule's run.
     *
     * @param schedule which
     * @param us its time, microseconds
     * @param speedup the serial schedule's time over it
     * @param check what checking found; empty when it was not asked for
     */
    public record Run(Schedule schedule, double us, double speedup, Optional<Check> check) {}

    /**
     * The outcome of checking every number of one run; see {@link io.weft.scheduler.verify.Verification}.
     *
     * @param verified whether every number is right, and has the serial schedule's bits where this schedule promises them
     * @param maxUlp largest distance from the fp64 reference, units in the last place beyond what rounding explains
     * @param bitIdentical whether every bit is the serial schedule's
     * @param difference the first wrong number, if any
     */
    public record Check(
            boolean verified, long maxUlp, boolean bitIdentical, Optional<VerificationResult.Difference> difference) {
        static Check of(VerificationResult result) {
            return new Check(result.verified(), result.maxUlp(), result.bitIdentical(), result.difference());
        }
    }

    public RunReport {
        runs = List.copyOf(runs);
        memory = List.copyOf(memory);
    }

    /** Whether no check found anything wrong. */
    public boolean isGood() {
        return runs.stream().allMatch(run -> run.check().map(Check::verified).orElse(true));
    }

    /** The report as JSON. What was not checked is null. */
    public String json() {
        return JsonWriter.text(json -> json.object(() -> {
            json.member("figures", figures);
            json.member("platform", platform);
            json.object(
                    "problem",
                    () -> json.member("pattern", problem.pattern().label())
                            .member("m", problem.m())
                            .member("n", problem.n())
                            .member("k", problem.k())
                            .member("elementType", problem.elementType().label())
                            .member("ranks", problem.ranks())
                            .member("skew", problem.skew())
                            .member("seed", seed));
            json.array("runs", runs, run -> run(json, run));
            MemoryJson.write(json, memory);
        }));
    }

    private static void run(JsonWriter json, Run run) {
        json.object(() -> {
            json.member("schedule", run.schedule().kind().label());
            json.member("chunks", run.schedule().chunks());
            json.member("us", run.us());
            json.member("speedup", run.speedup());
            if (run.check().isEmpty()) {
                json.member("verified", null);
                json.member("maxUlp", null);
                json.member("bitIdentical", null);
                return;
            }
            Check check = run.check().get();
            json.member("verified", check.verified());
            json.member("maxUlp", check.maxUlp());
            json.member("bitIdentical", check.bitIdentical());
            check.difference()
                    .ifPresent(wrong -> json.object(
                            "difference",
                            () -> json.member("rank", wrong.rank())
                                    .member("row", wrong.row())
                                    .member("column", wrong.column())
                                    .member("expected", wrong.expected())
                                    .member("actual", wrong.actual())));
        });
    }
}

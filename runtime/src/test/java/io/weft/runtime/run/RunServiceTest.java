// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.memory.PoolStatistics;
import io.weft.memory.PoolUse;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs on the simulator, which computes real data. */
final class RunServiceTest {
    private static final long SEED = 20260301;

    private WeftRuntime runtime;

    @BeforeEach
    void start() {
        runtime = WeftRuntime.start(EffectiveSettings.defaults());
    }

    @AfterEach
    void close() {
        runtime.close();
    }

    private Run run(String uri, RunRequest request) {
        try (Platform platform = runtime.open(uri)) {
            return runtime.runs().run(platform, request, Progress.NONE);
        }
    }

    private static RunRequest request(Pattern pattern, ElementType type, String schedules, boolean verify) {
        // No size divides evenly.
        OverlapProblem problem = OverlapProblem.of(pattern, 103, 17, 29, type, 3);
        return new RunRequest(problem, schedules, OptionalInt.empty(), verify, SEED);
    }

    @ParameterizedTest
    @EnumSource(Pattern.class)
    void everyScheduleOfEveryPatternIsRight(Pattern pattern) {
        RunReport report = run("sim:mesh-8", request(pattern, ElementType.BF16, "all", true))
                .report();
        assertEquals(
                List.of(Schedule.Kind.values()),
                report.runs().stream().map(run -> run.schedule().kind()).toList());
        assertTrue(report.isGood(), () -> "seed " + SEED + ": " + report.runs());
        for (RunReport.Run run : report.runs()) {
            assertTrue(
                    run.check().orElseThrow().bitIdentical() || !run.schedule().keepsBits(pattern),
                    () -> "seed " + SEED + ": " + run);
        }
    }

    @Test
    void theSerialScheduleIsTheMeasureOfAllOthers() {
        RunReport report = run("sim:mesh-8", request(Pattern.ALL_GATHER_GEMM, ElementType.FP32, "all", false))
                .report();
        RunReport.Run serial = report.runs().getFirst();
        assertEquals(1, serial.speedup());
        for (RunReport.Run run : report.runs()) {
            assertEquals(serial.us() / run.us(), run.speedup(), 1e-12);
            assertTrue(run.check().isEmpty());
        }
    }

    @Test
    void chunksReplaceThoseOfEveryChunkedSchedule() {
        RunRequest plain = request(Pattern.GEMM_REDUCE_SCATTER, ElementType.BF16, "all", false);
        RunRequest three = new RunRequest(plain.problem(), plain.schedules(), OptionalInt.of(3), false, plain.seed());
        for (RunReport.Run run : run("sim:mesh-8", three).report().runs()) {
            assertEquals(
                    run.schedule().kind().isChunked() ? 3 : 1, run.schedule().chunks());
        }
    }

    @Test
    void autoRunsWhatTheSelectorChoosesAndSaysWhy() {
        RunReport report = run("sim:mesh-8", request(Pattern.GEMM_ALL_REDUCE, ElementType.FP16, "auto", true))
                .report();
        assertEquals(1, report.runs().size());
        assertFalse(report.reason().isEmpty());
        assertTrue(report.isGood());
    }

    @Test
    void aScheduleMayBeNamedWithItsParameters() {
        RunReport report = run(
                        "sim:mesh-8",
                        request(Pattern.ALL_GATHER_GEMM, ElementType.BF16, "hetero-fused-1d/chunks=2", true))
                .report();
        assertEquals(
                "hetero-fused-1d/chunks=2", report.runs().getFirst().schedule().toString());
        assertTrue(report.isGood());
    }

    @Test
    void everyRunHasItsTimeline() {
        Run run = run("sim:mesh-8", request(Pattern.ALL_TO_ALL_GEMM, ElementType.BF16, "all", false));
        assertEquals(run.report().runs().size(), run.timelines().size());
        for (int i = 0; i < run.timelines().size(); i++) {
            assertEquals(run.report().runs().get(i).us(), run.timelines().get(i).makespanNanos() / 1e3, 1e-9);
        }
    }

    @Test
    void equalRequestsGiveEqualBytesAndAnotherSeedIsSaid() {
        RunRequest request = request(Pattern.GEMM_ALL_TO_ALL, ElementType.BF16, "all", true);
        RunRequest other = new RunRequest(request.problem(), "all", OptionalInt.empty(), true, SEED + 1);
        String json = run("sim:mesh-8", request).report().json();
        assertEquals(json, run("sim:mesh-8", request).report().json());
        assertNotEquals(json, run("sim:mesh-8", other).report().json());
    }

    private AcceleratorException refusal(String uri, RunRequest request) {
        return assertThrows(AcceleratorException.class, () -> run(uri, request));
    }

    @Test
    void whatDoesNotFitIsRefusedWithWhatWouldBe() {
        RunRequest three = request(Pattern.ALL_GATHER_GEMM, ElementType.BF16, "all", true);
        RunRequest nine = new RunRequest(
                OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 64, 64, 64, ElementType.BF16, 9),
                "all",
                OptionalInt.empty(),
                false,
                SEED);
        assertEquals(
                "9 ranks need 9 devices, and sim:mesh-8 has 8",
                refusal("sim:mesh-8", nine).detail());
        AcceleratorException noData = refusal("sim:mesh-8?mode=timing", three);
        assertEquals(ErrorCode.UNSUPPORTED, noData.code());
        assertTrue(noData.detail().contains("holds no data"), noData.detail());
        assertTrue(refusal("sim:mesh-8", request(Pattern.ALL_GATHER_GEMM, ElementType.BF16, "fastest", false))
                .detail()
                .startsWith("'fastest' is not a schedule; known are serial, "));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void operandsAndWorkspaceComeFromThePoolsOfEachRank(boolean verify) {
        RunReport report = run(
                        "sim:mesh-8", request(Pattern.ALL_GATHER_GEMM, ElementType.BF16, "uniform-fused-1d", verify))
                .report();
        assertEquals(3, report.memory().size());
        for (int rank = 0; rank < 3; rank++) {
            List<PoolUse> pools = report.memory().get(rank).pools();
            assertEquals(
                    List.of("operands", "overlap communication", "overlap compute"),
                    pools.stream().map(PoolUse::pool).toList());
            PoolStatistics operands = pools.getFirst().statistics();
            // 103 rows over three ranks, [rows, 29] x [29, 17], and all rows of the result.
            long rows = operands.peakAllocatedBytes() / 2 - 29 * 17 - 103 * 17;
            assertTrue(rows == 34 * 29 || rows == 35 * 29, operands::toString);
            assertEquals(3, operands.allocations());
            assertTrue(pools.get(1).statistics().peakAllocatedBytes() >= 2 * 103 * 29 * 2 / 3, pools::toString);
        }
    }

    @Test
    void operandsThatDoNotFitAreRefusedByThePoolWithWhatTheDeviceSays() {
        RunRequest huge = new RunRequest(
                OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 8, 1L << 22, 1L << 15, ElementType.BF16, 2),
                "serial",
                OptionalInt.empty(),
                false,
                SEED);
        AcceleratorException refusal = refusal("sim:mesh-8?mode=timing", huge);
        assertEquals(ErrorCode.OUT_OF_MEMORY, refusal.code());
        assertTrue(
                refusal.detail().startsWith("pool operands of device 0 of sim:mesh-8?mode=timing cannot give "),
                refusal::detail);
        assertTrue(refusal.detail().contains(" bytes free, and "), refusal::detail);
    }

    @Test
    void withoutDataTimesAreTheSame() {
        RunRequest request = request(Pattern.ALL_GATHER_GEMM, ElementType.BF16, "all", false);
        List<Double> functional = run("sim:mesh-8", request).report().runs().stream()
                .map(RunReport.Run::us)
                .toList();
        List<Double> timing = run("sim:mesh-8?mode=timing", request).report().runs().stream()
                .map(RunReport.Run::us)
                .toList();
        assertEquals(functional, timing);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Communicator;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.scheduler.HeuristicSelector;
import io.weft.scheduler.OverlapEngine;
import io.weft.scheduler.OverlapEngine.Issue;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import io.weft.scheduler.verify.Verification;
import io.weft.scheduler.verify.VerificationResult;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every pattern and every schedule from Java to the libraries' functions, each number checked. */
class OverlapTest {
    private static final int SEED = 11;
    private static StandIn standIn;
    private static Platform platform;

    @BeforeAll
    static void open() {
        standIn = StandIn.whole();
        platform = standIn.open();
    }

    @AfterAll
    static void close() {
        if (platform != null) {
            platform.close();
        }
    }

    @AfterEach
    void noFaults() {
        standIn.set("late-copy-us", 0);
    }

    static Stream<Arguments> cases() {
        List<Arguments> cases = new ArrayList<>();
        for (Pattern pattern : Pattern.values()) {
            cases.add(Arguments.of(pattern, Issue.AUTOMATIC));
            cases.add(Arguments.of(pattern, Issue.STREAMS));
        }
        cases.add(Arguments.of(Pattern.ALL_GATHER_GEMM, Issue.TIMED));
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void everyScheduleIsRightWithLateCopies(Pattern pattern, Issue issue) {
        standIn.set("late-copy-us", 300);
        OverlapProblem problem = OverlapProblem.of(pattern, 40, 24, 36, ElementType.BF16, 2);
        try (Communicator communicator = Communicator.overAll(platform);
                OverlapEngine engine = OverlapEngine.open(communicator, new HeuristicSelector(platform), issue);
                Verification verification = Verification.prepare(engine, problem, SEED)) {
            for (Schedule.Kind kind : Schedule.Kind.values()) {
                VerificationResult result = verification.check(Schedule.of(kind));
                assertTrue(result.verified(), pattern + " " + kind + " by " + issue + ", seed " + SEED + ": " + result);
            }
        }
    }

    @Test
    void aScheduleOverTwoDevicesIsOneGraphLaunch() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 40, 24, 36, ElementType.BF16, 2);
        try (Communicator communicator = Communicator.overAll(platform);
                OverlapEngine engine =
                        OverlapEngine.open(communicator, new HeuristicSelector(platform), Issue.AUTOMATIC);
                Verification verification = Verification.prepare(engine, problem, SEED)) {
            verification.check(Schedule.of(Schedule.Kind.COVER_MERGE));
            long before = standIn.get("graph-launches");
            verification.check(Schedule.of(Schedule.Kind.COVER_MERGE));
            assertEquals(before + 1, standIn.get("graph-launches"));
        }
    }
}

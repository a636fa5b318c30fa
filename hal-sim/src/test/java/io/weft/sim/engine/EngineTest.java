// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EngineTest {
    private static final int TIMER = 1;
    private static final int COPY = 2;
    private static final int GRANT = 3;

    private final Engine engine = new Engine();
    /** "kind.id@ns" of every callback. */
    private final List<String> log = new ArrayList<>();

    @BeforeEach
    void logEveryCallback() {
        engine.checking(true);
        engine.handler((kind, id) -> log.add(kind + "." + id + "@" + engine.nowPs() / 1e3));
    }

    private static ActivitySpec work(double units) {
        return new ActivitySpec().work(units);
    }

    private static long ns(double ns) {
        return VirtualTime.fromNs(ns);
    }

    @Test
    void timersOfOneInstantRunInTheOrderInWhichTheyWereSet() {
        engine.at(ns(5), TIMER, 0);
        engine.at(ns(3), TIMER, 1);
        engine.at(ns(5), TIMER, 2);
        engine.at(ns(3), TIMER, 3);
        assertEquals(ns(5), engine.runUntilIdle());
        assertEquals(List.of("1.1@3.0", "1.3@3.0", "1.0@5.0", "1.2@5.0"), log);
    }

    @Test
    void anEventSetForNowRunsAfterEverythingAlreadyDue() {
        engine.handler((kind, id) -> {
            log.add(kind + "." + id);
            if (id == 0) {
                engine.after(0, TIMER, 10);
                engine.at(engine.nowPs(), TIMER, 11);
            }
        });
        engine.at(ns(5), TIMER, 0);
        engine.at(ns(5), TIMER, 1);
        engine.runUntilIdle();
        assertEquals(List.of("1.0", "1.1", "1.10", "1.11"), log);
    }

    @Test
    void anEventInThePastIsRefused() {
        engine.runUntil(ns(10));
        assertThrows(IllegalArgumentException.class, () -> engine.at(ns(9), TIMER, 0));
        assertThrows(IllegalArgumentException.class, () -> engine.after(-1, TIMER, 0));
        assertThrows(IllegalArgumentException.class, () -> engine.runUntil(ns(9)));
    }

    @Test
    void anActivityPassesItsFixedTimesAndThenWorksAtTheRateOfItsResource() {
        int link = engine.addResource("link", 50e9);
        // 1000 bytes at 50 GB/s are 20 ns.
        engine.start(work(1000).use(link).delayPs(ns(3)).latencyPs(ns(4)).tailPs(ns(5)), COPY, 7);
        engine.runUntilIdle();
        assertEquals(List.of("2.7@32.0"), log);
        assertEquals(ns(3), engine.servedPs());
        assertEquals(ns(7), engine.flowPs());
        assertEquals(ns(20), engine.busyPs(link));
        assertEquals(1000, engine.units(link));
    }

    @Test
    void activitiesThatShareALinkSlowEachOtherWhileBothRun() {
        int link = engine.addResource("link", 1e9);
        engine.start(work(100).use(link), COPY, 0);
        engine.start(work(300).use(link), COPY, 1);
        engine.start(work(100).use(link).delayPs(ns(300)), COPY, 2);
        engine.runUntilIdle();
        // 0: 100 units at half rate. 1: 100 units at half, 100 alone, 100 at half. 2: 100 units at half.
        assertEquals(List.of("2.0@200.0", "2.1@500.0", "2.2@500.0"), log);
        assertEquals(500, engine.units(link));
        assertEquals(ns(500), engine.busyPs(link));
    }

    @Test
    void weightGivesPriority() {
        int units = engine.addResource("compute units", 1e9);
        engine.start(work(300).use(units).weight(3), COPY, 0);
        engine.start(work(300).use(units), COPY, 1);
        engine.runUntilIdle();
        assertEquals(List.of("2.0@400.0", "2.1@600.0"), log);
    }

    @Test
    void copiesOnOneEngineQueueInOrder() {
        int link = engine.addResource("link", 1e9);
        int other = engine.addResource("other link", 1e9);
        int sdma = engine.addQueue("sdma", 1);
        engine.start(work(100).use(link).queue(sdma).latencyPs(ns(10)), COPY, 0);
        engine.start(work(50).use(other).queue(sdma).latencyPs(ns(10)), COPY, 1);
        engine.start(work(50).use(link).queue(sdma).latencyPs(ns(10)), COPY, 2);
        engine.runUntilIdle();
        assertEquals(List.of("2.0@110.0", "2.1@170.0", "2.2@230.0"), log);
        assertEquals(new QueueUsage("sdma", 1, ns(230), 2), engine.queueUsage(sdma));
        assertEquals(ns(150), engine.busyPs(link));
    }

    @Test
    void aTailKeepsNeitherTheEngineNorTheLink() {
        int link = engine.addResource("link", 1e9);
        int sdma = engine.addQueue("sdma", 1);
        engine.start(work(100).use(link).queue(sdma).tailPs(ns(1000)), COPY, 0);
        engine.start(work(100).use(link).queue(sdma).tailPs(ns(1000)), COPY, 1);
        engine.runUntilIdle();
        assertEquals(List.of("2.0@1100.0", "2.1@1200.0"), log);
    }

    @Test
    void aQueueWithFourPlacesMakesTheFifthJobWait() {
        int hardware = engine.addQueue("hardware queues", 4);
        for (int i = 0; i < 5; i++) {
            engine.start(work(100).rateCap(1e9).queue(hardware), COPY, i);
        }
        engine.runUntilIdle();
        assertEquals(List.of("2.0@100.0", "2.1@100.0", "2.2@100.0", "2.3@100.0", "2.4@200.0"), log);
    }

    @Test
    void aPlaceTakenByTheCallerIsHeldUntilItIsGivenBack() {
        int queue = engine.addQueue("stream", 1);
        engine.handler((kind, id) -> {
            log.add(kind + "." + id + "@" + engine.nowPs() / 1e3);
            if (kind == GRANT) {
                engine.after(ns(10), TIMER, id);
            } else if (kind == TIMER) {
                engine.release(queue);
            }
        });
        engine.acquire(queue, GRANT, 0);
        engine.acquire(queue, GRANT, 1);
        engine.start(work(5).rateCap(1e9).queue(queue), COPY, 2);
        engine.runUntilIdle();
        assertEquals(List.of("3.0@0.0", "1.0@10.0", "3.1@10.0", "1.1@20.0", "2.2@25.0"), log);
    }

    @Test
    void anActivityWithoutWorkEndsAfterItsFixedTimesAndNeverInsideStart() {
        int queue = engine.addQueue("queue", 1);
        engine.start(work(0), COPY, 0);
        assertTrue(log.isEmpty());
        engine.start(work(0).queue(queue).latencyPs(ns(5)), COPY, 1);
        engine.start(work(0).queue(queue).tailPs(ns(2)), COPY, 2);
        engine.runUntilIdle();
        assertEquals(List.of("2.0@0.0", "2.1@5.0", "2.2@7.0"), log);
    }

    @Test
    void tenThousandQueuedActivitiesWithoutWorkNeedNoDeepStack() {
        int queue = engine.addQueue("queue", 1);
        for (int i = 0; i < 10_000; i++) {
            engine.start(work(0).queue(queue), COPY, i);
        }
        assertEquals(0, engine.runUntilIdle());
        assertEquals(10_000, engine.activities());
    }

    @Test
    void activitiesThatCanNeverProgressAreReportedByName() {
        int dead = engine.addResource("link 3>5", 0);
        engine.start(work(10).use(dead), COPY, 42);
        StalledException stall = assertThrows(StalledException.class, engine::runUntilIdle);
        assertEquals(
                "the simulation stalls at 0.0 ns with 1 unfinished activity:"
                        + " (kind 2, id 42) needs 'link 3>5', whose capacity is 0",
                stall.getMessage());
    }

    @Test
    void aPlaceThatNobodyGivesBackIsReportedByName() {
        int queue = engine.addQueue("sdma 1.0", 1);
        engine.acquire(queue, GRANT, 0);
        engine.start(work(1).rateCap(1).queue(queue), COPY, 8);
        StalledException stall = assertThrows(StalledException.class, engine::runUntilIdle);
        assertEquals(
                "the simulation stalls at 0.0 ns with 1 unfinished activity:"
                        + " (kind 2, id 8) waits in queue 'sdma 1.0', whose 1 place(s) nobody gives back",
                stall.getMessage());
    }

    @Test
    void aLinkThatComesBackLetsItsActivityFinish() {
        int link = engine.addResource("link", 1e9);
        engine.handler((kind, id) -> {
            log.add(kind + "." + id + "@" + engine.nowPs() / 1e3);
            if (kind == TIMER) {
                engine.capacity(link, id * 1e9);
            }
        });
        engine.start(work(100).use(link), COPY, 0);
        engine.at(ns(40), TIMER, 0);
        engine.at(ns(60), TIMER, 2);
        engine.runUntilIdle();
        // 40 units at 1, nothing for 20 ns, 60 units at 2.
        assertEquals(List.of("1.0@40.0", "1.2@60.0", "2.0@90.0"), log);
        assertEquals(100, engine.units(link));
        assertEquals(ns(70), engine.busyPs(link));
        assertEquals(2e9, engine.resourceUsage(link).peak());
    }

    @Test
    void accountsAreRightInTheMiddleOfAnActivity() {
        int link = engine.addResource("link", 1e9);
        long ticket = engine.start(work(100).use(link, 2), COPY, 0);
        engine.runUntil(ns(50));
        assertEquals(0.5e9, engine.rate(ticket));
        assertEquals(75, engine.remaining(ticket), 1e-9);
        assertEquals(50, engine.units(link), 1e-9);
        assertEquals(ns(50), engine.busyPs(link));
        assertEquals(1, engine.resourceUsage(link).utilisation(ns(50)), 1e-12);
        engine.runUntilIdle();
        assertEquals(0, engine.remaining(ticket));
        assertEquals(200, engine.units(link));
    }

    @Test
    void abortingGivesBackWhatWasHeldAndKeepsTheWorkDone() {
        int link = engine.addResource("link", 1e9);
        int sdma = engine.addQueue("sdma", 1);
        long running = engine.start(work(100).use(link).queue(sdma), COPY, 0);
        long waiting = engine.start(work(100).use(link).queue(sdma), COPY, 1);
        engine.start(work(100).use(link).queue(sdma).latencyPs(ns(7)), COPY, 2);
        engine.runUntil(ns(30));
        assertTrue(engine.abort(waiting));
        assertTrue(engine.abort(running));
        assertFalse(engine.abort(running), "it has ended already");
        assertEquals(30, engine.units(link), 1e-9);
        engine.runUntilIdle();
        assertEquals(List.of("2.2@137.0"), log);
        assertEquals(130, engine.units(link), 1e-9);
        assertEquals(0, engine.unfinished());
    }

    @Test
    void everyPhaseCanBeAborted() {
        int link = engine.addResource("link", 1e9);
        int sdma = engine.addQueue("sdma", 1);
        for (int at : new int[] {1, 12, 25, 45}) {
            engine.reset();
            log.clear();
            ActivitySpec spec = work(20).use(link)
                    .queue(sdma)
                    .delayPs(ns(10))
                    .latencyPs(ns(10))
                    .tailPs(ns(10));
            long ticket = engine.start(spec, COPY, 0);
            engine.start(spec, COPY, 1);
            engine.runUntil(ns(at));
            assertTrue(engine.abort(ticket));
            engine.runUntilIdle();
            assertEquals(1, log.size(), () -> "aborted at " + at + ": " + log);
            assertEquals(0, engine.unfinished());
            assertEquals(0, engine.network().running());
        }
    }

    @Test
    void abortedTimersAndPermitsNeverCall() {
        int queue = engine.addQueue("queue", 1);
        long timer = engine.at(ns(5), TIMER, 0);
        long granted = engine.acquire(queue, GRANT, 0);
        long waiting = engine.acquire(queue, GRANT, 1);
        engine.acquire(queue, GRANT, 2);
        assertTrue(engine.abort(timer));
        assertTrue(engine.abort(waiting));
        assertTrue(engine.abort(granted));
        engine.runUntilIdle();
        assertEquals(List.of("3.2@0.0"), log);
        assertFalse(engine.abort(timer));
    }

    @Test
    void aTicketOfAnEndedActivityNeverMeansAnother() {
        long old = engine.start(work(0), COPY, 0);
        engine.runUntilIdle();
        long fresh = engine.start(work(1).rateCap(1e9), COPY, 1);
        assertFalse(engine.abort(old));
        assertEquals(0, engine.remaining(old));
        assertEquals(1, engine.remaining(fresh));
        engine.reset();
        assertFalse(engine.abort(fresh));
    }

    @Test
    void runUntilStandsAtTheInstantAskedForAndStepAfterEachCallback() {
        engine.at(ns(5), TIMER, 0);
        engine.at(ns(5), TIMER, 1);
        engine.at(ns(9), TIMER, 2);
        assertEquals(ns(4), engine.runUntil(ns(4)));
        assertTrue(log.isEmpty());
        assertTrue(engine.step());
        assertEquals(List.of("1.0@5.0"), log);
        assertEquals(ns(5), engine.runUntil(ns(5)));
        assertEquals(2, log.size());
        assertTrue(engine.step());
        assertFalse(engine.step());
        assertEquals(ns(9), engine.nowPs());
    }

    @Test
    void stopEndsTheRunAndALaterRunGoesOn() {
        engine.handler((kind, id) -> {
            log.add("" + id);
            if (id == 1) {
                engine.stop();
            }
        });
        for (int i = 0; i < 4; i++) {
            engine.at(ns(i), TIMER, i);
        }
        assertEquals(ns(1), engine.runUntil(ns(100)));
        assertEquals(List.of("0", "1"), log);
        engine.runUntilIdle();
        assertEquals(List.of("0", "1", "2", "3"), log);
    }

    @Test
    void aHandlerMustNotRunItsEngine() {
        engine.handler((kind, id) -> engine.runUntilIdle());
        engine.at(0, TIMER, 0);
        assertThrows(IllegalStateException.class, engine::runUntilIdle);
    }

    @Test
    void aHandlerThatThrowsLeavesTheEngineUsable() {
        engine.handler((kind, id) -> {
            if (id == 0) {
                throw new ArithmeticException("on purpose");
            }
            log.add("" + id);
        });
        engine.at(ns(1), TIMER, 0);
        engine.at(ns(1), TIMER, 1);
        assertThrows(ArithmeticException.class, engine::runUntilIdle);
        engine.runUntilIdle();
        assertEquals(List.of("1"), log);
    }

    @Test
    void resourcesMayBeAddedWhileActivitiesRun() {
        int first = engine.addResource("first", 1e9);
        engine.start(work(100).use(first), COPY, 0);
        engine.runUntil(ns(10));
        for (int i = 0; i < 100; i++) {
            int more = engine.addResource("more " + i, 1e9);
            engine.start(work(10).use(first).use(more), COPY, 1 + i);
        }
        engine.runUntilIdle();
        // 10 ns alone, then 101 share: 100 of them 10 units each, and 80 units alone.
        assertEquals("2.0@1100.0", log.getLast());
        assertEquals(1100, engine.units(first), 1e-9);
    }

    @Test
    void intervalsTellWhoHeldWhatAndWhen() {
        int link = engine.addResource("link", 1e9);
        int memory = engine.addResource("memory", 100e9);
        int sdma = engine.addQueue("sdma", 1);
        List<String> intervals = new ArrayList<>();
        engine.intervals(new IntervalListener() {
            @Override
            public void onFlow(int kind, int id, int resource, long startPs, long endPs, double units) {
                intervals.add(id + " on " + resource + ": " + startPs + ".." + endPs + " " + units);
            }

            @Override
            public void onService(int kind, int id, int queue, long startPs, long endPs) {
                intervals.add(id + " in " + queue + ": " + startPs + ".." + endPs);
            }
        });
        engine.start(work(10).use(link).use(memory, 2).queue(sdma).latencyPs(ns(1)), COPY, 5);
        engine.start(work(10).use(link).queue(sdma), COPY, 6);
        engine.runUntilIdle();
        assertEquals(
                List.of(
                        "5 on " + link + ": 1000..11000 10.0",
                        "5 on " + memory + ": 1000..11000 20.0",
                        "5 in " + sdma + ": 0..11000",
                        "6 on " + link + ": 11000..21000 10.0",
                        "6 in " + sdma + ": 11000..21000"),
                intervals);
    }

    /**
     * An all-reduce of 1 MiB on a ring, as the ASTRA-sim simulator's analytical model counts it: four chunks one after
     * the other, links of 50 GiB/s, 510 ns per message, and in the reducing half three passes over memory of 1600 GB/s.
     * The expected times are that simulator's own results.
     */
    @ParameterizedTest
    @CsvSource({"8, 64440", "64, 296896", "256, 1079200"})
    void aRingOfDependentMessagesTakesAsLongAsInAstraSim(int ranks, double expectedNs) {
        engine.checking(false);
        double bytes = 1048576.0 / 4 / ranks;
        int messages = 4 * 2 * (ranks - 1);
        int[] sent = new int[ranks];
        int[] received = new int[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            engine.addResource("link " + rank, 50 * 0x1p30);
        }
        ActivitySpec spec = new ActivitySpec();
        IntConsumer send = rank -> {
            boolean reduces = sent[rank]++ % (2 * (ranks - 1)) < ranks - 1;
            engine.start(
                    spec.clear()
                            .work(bytes)
                            .latencyPs(ns(510))
                            .use(rank)
                            .tailPs(reduces ? VirtualTime.fromSeconds(3 * bytes / 1600e9) : 0),
                    COPY,
                    rank);
        };
        engine.handler((kind, rank) -> {
            int next = (rank + 1) % ranks;
            received[next]++;
            if (sent[next] < messages && received[next] >= sent[next]) {
                send.accept(next);
            }
        });
        for (int rank = 0; rank < ranks; rank++) {
            send.accept(rank);
        }
        engine.runUntilIdle();
        assertEquals((long) messages * ranks, engine.activities());
        assertEquals(expectedNs, engine.nowNs(), 0.005 * expectedNs);
    }

    @Test
    void badFormsAreRefusedInOneLine() {
        ActivitySpec spec = new ActivitySpec();
        assertThrows(IllegalArgumentException.class, () -> spec.work(-1));
        assertThrows(IllegalArgumentException.class, () -> spec.work(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> spec.weight(0));
        assertThrows(IllegalArgumentException.class, () -> spec.rateCap(0));
        assertThrows(IllegalArgumentException.class, () -> spec.use(0, -1));
        assertThrows(IllegalArgumentException.class, () -> spec.latencyPs(-1));
        assertThrows(IllegalArgumentException.class, () -> engine.start(new ActivitySpec().queue(3), COPY, 0));
        assertThrows(IllegalArgumentException.class, () -> VirtualTime.fromNs(-1));
        assertThrows(IllegalArgumentException.class, () -> VirtualTime.fromSeconds(1e300));
    }
}

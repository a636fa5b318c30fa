// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class ComputePoolTest {
    @Test
    void everyTaskRunsOnceAndNoTwoRunningTasksShareALane() {
        for (int lanes : new int[] {1, 2, 4}) {
            try (ComputePool pool = new ComputePool(lanes)) {
                for (int round = 0; round < 200; round++) {
                    int count = round % 17;
                    AtomicIntegerArray runs = new AtomicIntegerArray(count);
                    AtomicIntegerArray busy = new AtomicIntegerArray(lanes);
                    pool.run(count, (task, lane) -> {
                        assertEquals(1, busy.incrementAndGet(lane));
                        runs.incrementAndGet(task);
                        busy.decrementAndGet(lane);
                    });
                    for (int i = 0; i < count; i++) {
                        assertEquals(1, runs.get(i));
                    }
                }
            }
        }
    }

    @Test
    void aJobInsideATaskOfAnotherFinishes() {
        try (ComputePool pool = new ComputePool(2)) {
            AtomicIntegerArray runs = new AtomicIntegerArray(64);
            pool.run(8, (outer, lane) -> pool.run(8, (inner, innerLane) -> runs.incrementAndGet(outer * 8 + inner)));
            for (int i = 0; i < 64; i++) {
                assertEquals(1, runs.get(i));
            }
        }
    }

    @Test
    void theFailureOfATaskReachesTheCaller() {
        try (ComputePool pool = new ComputePool(3)) {
            IllegalStateException problem = new IllegalStateException("on purpose");
            assertSame(
                    problem,
                    assertThrows(
                            IllegalStateException.class,
                            () -> pool.run(50, (task, lane) -> {
                                if (task == 7) {
                                    throw problem;
                                }
                            })));
        }
    }

    @Test
    void anInterruptedCallerFinishesItsJobAndStaysInterrupted() {
        try (ComputePool pool = new ComputePool(2)) {
            Thread.currentThread().interrupt();
            AtomicIntegerArray runs = new AtomicIntegerArray(100);
            pool.run(100, (task, lane) -> runs.incrementAndGet(task));
            assertTrue(Thread.interrupted());
            for (int i = 0; i < 100; i++) {
                assertEquals(1, runs.get(i));
            }
        }
    }
}

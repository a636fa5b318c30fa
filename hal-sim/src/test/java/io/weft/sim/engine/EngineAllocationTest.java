// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;

/** A warm engine allocates nothing, however many events and activities it runs. */
final class EngineAllocationTest {
    /** A closed workload: each device's copies queue on its engine, cross two links and start their successors. */
    private static final class Exchange implements Handler {
        private static final int DEVICES = 16;
        private static final int FLOWS = 128;

        private final Engine engine = new Engine();
        private final ActivitySpec spec = new ActivitySpec();
        private final int[] up = new int[DEVICES];
        private final int[] down = new int[DEVICES];
        private final int[] copyEngine = new int[DEVICES];
        private long random;
        private int left;

        Exchange() {
            for (int d = 0; d < DEVICES; d++) {
                up[d] = engine.addResource("up", 50e9);
                down[d] = engine.addResource("down", 40e9);
                copyEngine[d] = engine.addQueue("sdma", 4);
            }
            engine.handler(this);
        }

        void run(int activities) {
            engine.reset();
            random = 88172645463325252L;
            left = activities;
            for (int i = 0; i < FLOWS; i++) {
                next();
            }
            engine.runUntilIdle();
        }

        private int next(int bound) {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            return (int) ((random >>> 33) % bound);
        }

        private void next() {
            if (left-- > 0) {
                int from = next(DEVICES);
                spec.clear()
                        .work(1000 + next(100_000))
                        .queue(copyEngine[from])
                        .delayPs(next(1000))
                        .latencyPs(1000)
                        .tailPs(next(1000))
                        .use(up[from])
                        .use(down[next(DEVICES)]);
                engine.start(spec, 0, left);
            }
        }

        @Override
        public void onEvent(int kind, int id) {
            if (kind == 1) {
                next();
            } else {
                engine.after(100, 1, id);
            }
        }
    }

    /** Bytes allocated by this thread so far, or -1 where the JVM does not count them. */
    private static long allocated() {
        try {
            Object threads = Class.forName("java.lang.management.ManagementFactory")
                    .getMethod("getThreadMXBean")
                    .invoke(null);
            Method bytes = Class.forName("com.sun.management.ThreadMXBean").getMethod("getCurrentThreadAllocatedBytes");
            return (long) bytes.invoke(threads);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return -1;
        }
    }

    @Test
    void aWarmRunAllocatesNothing() {
        if (allocated() < 0) {
            abort("this JVM does not count allocated bytes");
        }
        Exchange exchange = new Exchange();
        exchange.run(20_000);
        exchange.run(20_000);
        long before = allocated();
        long overhead = allocated() - before;
        before = allocated();
        exchange.run(20_000);
        long bytes = allocated() - before - overhead;
        // 80,000 events: a single object per event would be over a megabyte. The margin is for the reflective calls.
        assertTrue(bytes < 4096, () -> "20,000 activities allocated " + bytes + " bytes");
    }
}

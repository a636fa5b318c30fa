// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.memory.replay.CountedPages;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.util.LoggingLevel;
import org.junit.jupiter.api.Test;

/**
 * Interleavings of the pool's lock, and of frees that it guards, walked by a model checker. {@code -Dweft.interleavings=N} walks N of each scenario instead of 60.
 */
class InterleavingTest {
    private static final int INTERLEAVINGS = Integer.getInteger("weft.interleavings", 60);

    /** A number behind the pool's lock. */
    public static final class BySpinLock {
        private final SpinLock lock = new SpinLock();
        private int value;

        /** Counts and returns what it saw, so that two threads that were in at once have seen the same. */
        @Operation
        public int increment() {
            lock.lock();
            int seen = value;
            value = seen + 1;
            lock.unlock();
            return seen;
        }

        /** The same for who does not wait; what a busy lock answers is left open. */
        @Operation
        public void tryIncrement() {
            if (lock.tryLock()) {
                lock.unlock();
            }
        }
    }

    /** The same behind a copy of the lock that looks and takes in two steps. */
    public static final class ByHastyLock {
        private volatile int held;
        private int value;

        /** As above. */
        @Operation
        public int increment() {
            while (held != 0) {
                Thread.onSpinWait();
            }
            held = 1;
            int seen = value;
            value = seen + 1;
            held = 0;
            return seen;
        }
    }

    /** Two blocks that threads free, some of them twice. */
    @Param(name = "block", gen = IntGen.class, conf = "0:1")
    public static final class Frees {
        private final PoolCore core = new PoolCore(
                new CountedPages(1L << 30, true),
                StreamOrder.immediate(),
                PoolOptions.defaults().withSegmentBytes(PoolOptions.SEGMENT_STEP));
        private final long[] at = {core.allocate(100, 0), core.allocate(100, 0)};

        /** Says what became of it. */
        @Operation
        public String free(@Param(name = "block") int block) {
            try {
                core.free(at[block], 0);
                return "freed";
            } catch (AcceleratorException refused) {
                return refused.code().toString();
            }
        }
    }

    private static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .iterations(3)
                .invocationsPerIteration(INTERLEAVINGS)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(0)
                // It warns of each field of a record, which nothing changes.
                .logLevel(LoggingLevel.ERROR);
    }

    @Test
    void theLockLetsOneThreadInAtATime() {
        options().check(BySpinLock.class);
    }

    @Test
    void aLockThatLooksAndTakesInTwoStepsIsFound() {
        AssertionError found = assertThrows(
                AssertionError.class,
                () -> options()
                        // It ends with the first that is found, sooner or later by what else is instrumented.
                        .invocationsPerIteration(100 * INTERLEAVINGS)
                        .check(ByHastyLock.class));
        assertTrue(found.getMessage().contains("Invalid execution results"), found.getMessage());
    }

    @Test
    void oneOfTwoFreesOfABlockIsRefusedWhateverTheInterleaving() {
        options().iterations(2).check(Frees.class);
    }
}

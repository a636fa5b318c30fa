// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * For how long memory must have been idle before it goes back to the device: what the options say, doubled each time that the pool had to ask for memory again
 * soon after it had given some back. A pool whose need swings thus learns to keep what it needs at its peaks, and one whose need has ended gives it back at once.
 * Guarded by the arena's lock.
 */
final class IdleTime {
    /** Within so many idle times after giving back, asking for more is regret. */
    private static final long SOON = 16;
    /** After so many idle times without asking for more, the idle time is halved. */
    private static final long CALM = 64;
    /** Doublings: 300 ms become 82 minutes. */
    private static final int MOST = 14;

    /** Idle times beyond a day are kept as they are. */
    private static final long LONGEST_DOUBLED = 86_400_000_000_000L;

    private int doublings;
    private long lastGivenBack;
    private boolean gaveBack;
    private boolean grown;
    private long calmSince;

    /** The pool has asked the device for more. */
    void noteGrowth() {
        grown = true;
    }

    /**
     * The idle time from now on.
     *
     * @param nanos the option
     * @param now ns of the platform's clock
     */
    long at(long nanos, long now) {
        if (nanos > LONGEST_DOUBLED) {
            return nanos;
        }
        if (grown) {
            // Growth is noted without a clock, so it is as old as the time since the last look.
            if (gaveBack && now - lastGivenBack <= SOON * (nanos << doublings) && doublings < MOST) {
                doublings++;
            }
            grown = false;
            gaveBack = false;
            calmSince = now;
        } else if (doublings > 0 && now - calmSince > CALM * (nanos << doublings)) {
            doublings--;
            calmSince = now;
        }
        return nanos << doublings;
    }

    /** Memory went back because it was idle. */
    void noteGiveBack(long now) {
        gaveBack = true;
        lastGivenBack = now;
    }
}

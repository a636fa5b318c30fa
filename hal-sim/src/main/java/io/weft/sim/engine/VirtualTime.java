// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

/**
 * Conversions of the engine's clock, which counts whole picoseconds in a {@code long}.
 *
 * <p>Why integers: a sum of integers does not depend on the order of its terms, so the same problem gives the same
 * bits on every run; and activities that would end together end at equal times although their rates came out of
 * different roundings, so that one instant stays one instant (and costs one solve). Why picoseconds: one step is
 * 1e-9 of a millisecond, below the 1e-9 accuracy of the shares for every activity longer than that, and 2^63 ps are
 * 106 days of virtual time. Rates and remaining work stay in {@code double}; only instants are rounded (to nearest,
 * because exact whole numbers of picoseconds are common and a ceiling would tear such ties apart).
 */
public final class VirtualTime {
    /** Picoseconds in a nanosecond. */
    public static final long PS_PER_NS = 1_000L;

    /** Picoseconds in a microsecond. */
    public static final long PS_PER_US = 1_000_000L;

    /** Picoseconds in a millisecond. */
    public static final long PS_PER_MS = 1_000_000_000L;

    /** Picoseconds in a second. */
    public static final long PS_PER_S = 1_000_000_000_000L;

    /** An instant or duration that is never reached. */
    public static final long NEVER = Long.MAX_VALUE;

    private VirtualTime() {}

    /**
     * A duration in picoseconds, rounded to nearest.
     *
     * @param ns nanoseconds, finite and not negative
     * @return picoseconds
     * @throws IllegalArgumentException if {@code ns} is negative, not a number or beyond 106 days
     */
    public static long fromNs(double ns) {
        double ps = Math.rint(ns * PS_PER_NS);
        if (!(ps >= 0 && ps < Long.MAX_VALUE)) {
            throw new IllegalArgumentException("a duration of " + ns + " ns is outside 0 ns .. 106 days");
        }
        return (long) ps;
    }

    /**
     * A duration in picoseconds, rounded to nearest.
     *
     * @param seconds seconds, finite and not negative
     * @return picoseconds
     * @throws IllegalArgumentException if {@code seconds} is negative, not a number or beyond 106 days
     */
    public static long fromSeconds(double seconds) {
        double ps = Math.rint(seconds * PS_PER_S);
        if (!(ps >= 0 && ps < Long.MAX_VALUE)) {
            throw new IllegalArgumentException("a duration of " + seconds + " s is outside 0 s .. 106 days");
        }
        return (long) ps;
    }

    /**
     * Nanoseconds of an instant or duration.
     *
     * @param ps picoseconds
     * @return nanoseconds, with the fraction kept
     */
    public static double toNs(long ps) {
        return ps / 1e3;
    }

    /**
     * Seconds of an instant or duration.
     *
     * @param ps picoseconds
     * @return seconds
     */
    public static double toSeconds(long ps) {
        return ps / 1e12;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import java.util.Arrays;

/**
 * What an activity needs: a reusable form that {@link Engine#start(ActivitySpec, int, int)} copies, so one object
 * serves any number of activities and nothing is allocated per activity. A form may be kept as a template (one per
 * route, say) and started again and again with another {@link #work(double)}.
 *
 * <p>The life of an activity:
 *
 * <pre>
 * start ── delay ──> [queue] ── latency ──> fluid phase: work, shared resources ──> leaves the queue ── tail ──> callback
 * </pre>
 *
 * Delay passes before it lines up in the queue (a launch); latency passes while it holds the queue's place (DMA
 * set-up); tail passes when everything has been given back (a hop's propagation, a completion signal).
 */
public final class ActivitySpec {
    private static final int NO_QUEUE = -1;

    double work;
    double weight;
    double rateCap;
    long delayPs;
    long latencyPs;
    long tailPs;
    int queue;
    int uses;
    int[] resources = new int[8];
    double[] amounts = new double[8];

    /** An empty form: no work, no resource, weight 1, no cap, no queue, no fixed times. */
    public ActivitySpec() {
        clear();
    }

    /**
     * Empties the form.
     *
     * @return this
     */
    public ActivitySpec clear() {
        work = 0;
        weight = 1;
        rateCap = Double.POSITIVE_INFINITY;
        delayPs = 0;
        latencyPs = 0;
        tailPs = 0;
        queue = NO_QUEUE;
        uses = 0;
        return this;
    }

    /**
     * The amount of work, in any unit (bytes, flops, waves). 0 means that the fluid phase takes no time.
     *
     * @param units finite, not negative
     * @return this
     * @throws IllegalArgumentException if the amount is negative, infinite or not a number
     */
    public ActivitySpec work(double units) {
        if (!(units >= 0 && units <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("work must be finite and not negative, not " + units);
        }
        work = units;
        return this;
    }

    /**
     * The work consumes a resource. Naming a resource twice adds up; an amount of 0 is ignored.
     *
     * @param resource resource number of the engine
     * @param amount units of the resource per unit of work (1 for a plain copy over a link, 2 for a reduction that
     *     reads its memory twice)
     * @return this
     * @throws IllegalArgumentException if the amount is negative, infinite or not a number
     */
    public ActivitySpec use(int resource, double amount) {
        if (!(amount >= 0 && amount <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    "the amount of a resource must be finite and not negative, not " + amount);
        }
        if (amount == 0) {
            return this;
        }
        for (int i = 0; i < uses; i++) {
            if (resources[i] == resource) {
                amounts[i] += amount;
                return this;
            }
        }
        if (uses == resources.length) {
            resources = Arrays.copyOf(resources, 2 * uses);
            amounts = Arrays.copyOf(amounts, 2 * uses);
        }
        resources[uses] = resource;
        amounts[uses++] = amount;
        return this;
    }

    /**
     * The work consumes one unit of a resource per unit of work.
     *
     * @param resource resource number of the engine
     * @return this
     */
    public ActivitySpec use(int resource) {
        return use(resource, 1);
    }

    /**
     * The share weight: on a contended resource an activity of weight 2 gets twice the rate of one of weight 1.
     *
     * @param weight finite, above 0; 1 by default
     * @return this
     * @throws IllegalArgumentException if the weight is not above 0 or not finite
     */
    public ActivitySpec weight(double weight) {
        if (!(weight > 0 && weight <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("a share weight must be finite and above 0, not " + weight);
        }
        this.weight = weight;
        return this;
    }

    /**
     * The activity's own limit, whatever the resources would give.
     *
     * @param unitsPerSecond above 0; infinity (the default) for none
     * @return this
     * @throws IllegalArgumentException if the cap is not above 0
     */
    public ActivitySpec rateCap(double unitsPerSecond) {
        if (!(unitsPerSecond > 0)) {
            throw new IllegalArgumentException("a rate cap must be above 0, not " + unitsPerSecond);
        }
        rateCap = unitsPerSecond;
        return this;
    }

    /**
     * Time before the activity lines up in its queue.
     *
     * @param ps picoseconds, 0 by default
     * @return this
     * @throws IllegalArgumentException if negative
     */
    public ActivitySpec delayPs(long ps) {
        delayPs = notNegative(ps, "delay");
        return this;
    }

    /**
     * Time after the queue and before the fluid phase.
     *
     * @param ps picoseconds, 0 by default
     * @return this
     * @throws IllegalArgumentException if negative
     */
    public ActivitySpec latencyPs(long ps) {
        latencyPs = notNegative(ps, "latency");
        return this;
    }

    /**
     * Time between the end of the fluid phase, when queue and resources are given back, and the callback.
     *
     * @param ps picoseconds, 0 by default
     * @return this
     * @throws IllegalArgumentException if negative
     */
    public ActivitySpec tailPs(long ps) {
        tailPs = notNegative(ps, "tail");
        return this;
    }

    /**
     * The queue whose place the activity holds from its turn to the end of its fluid phase.
     *
     * @param queue queue number of the engine
     * @return this
     */
    public ActivitySpec queue(int queue) {
        this.queue = queue;
        return this;
    }

    /**
     * Resources named so far.
     *
     * @return 0 or more
     */
    public int uses() {
        return uses;
    }

    /**
     * A resource named so far.
     *
     * @param use 0 up to {@link #uses()}
     * @return resource number
     */
    public int resource(int use) {
        return resources[use];
    }

    /**
     * The amount of a resource named so far.
     *
     * @param use 0 up to {@link #uses()}
     * @return units of the resource per unit of work
     */
    public double amount(int use) {
        return amounts[use];
    }

    boolean queued() {
        return queue != NO_QUEUE;
    }

    private static long notNegative(long ps, String what) {
        if (ps < 0) {
            throw new IllegalArgumentException("a " + what + " must not be negative, not " + ps + " ps");
        }
        return ps;
    }
}

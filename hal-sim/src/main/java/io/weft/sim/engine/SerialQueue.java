// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import java.util.Arrays;

/**
 * A first-in first-out queue before a fixed number of places: a copy engine (one copy at a time), a hardware queue, a
 * pool of slots. It knows neither time nor work, only order; jobs are ints. No allocation once the ring has grown to
 * the greatest number of waiting jobs. Not safe for use by several threads.
 */
public final class SerialQueue {
    /** Returned by {@link #leave()} when nobody waits. */
    public static final int NONE = -1;

    private static final int[] EMPTY = {};

    private final int servers;
    private int inService;
    private int[] ring = EMPTY;
    private int head;
    private int waiting;
    private int maxWaiting;

    /**
     * An empty queue.
     *
     * @param servers jobs in service at once, at least 1
     * @throws IllegalArgumentException if {@code servers} is below 1
     */
    public SerialQueue(int servers) {
        if (servers < 1) {
            throw new IllegalArgumentException("a queue needs at least 1 place, not " + servers);
        }
        this.servers = servers;
    }

    /**
     * A job arrives.
     *
     * @param job any number of 0 or more
     * @return true if it is in service at once, false if it waits
     */
    public boolean enter(int job) {
        if (inService < servers) {
            inService++;
            return true;
        }
        if (waiting == ring.length) {
            grow();
        }
        ring[(head + waiting) & (ring.length - 1)] = job;
        waiting++;
        if (waiting > maxWaiting) {
            maxWaiting = waiting;
        }
        return false;
    }

    /**
     * A job in service leaves.
     *
     * @return the job that takes its place and is now in service, or {@link #NONE}
     * @throws IllegalStateException if no job is in service
     */
    public int leave() {
        if (inService == 0) {
            throw new IllegalStateException("no job is in service");
        }
        if (waiting == 0) {
            inService--;
            return NONE;
        }
        int job = ring[head];
        head = (head + 1) & (ring.length - 1);
        waiting--;
        return job;
    }

    /**
     * A waiting job gives up; the others keep their order. Takes time proportional to the length of the queue.
     *
     * @param job the number given to {@link #enter(int)}
     * @return false if it does not wait here
     */
    public boolean withdraw(int job) {
        int mask = ring.length - 1;
        for (int i = 0; i < waiting; i++) {
            if (ring[(head + i) & mask] == job) {
                for (int j = i + 1; j < waiting; j++) {
                    ring[(head + j - 1) & mask] = ring[(head + j) & mask];
                }
                waiting--;
                return true;
            }
        }
        return false;
    }

    /**
     * Places of this queue.
     *
     * @return jobs that can be in service at once
     */
    public int servers() {
        return servers;
    }

    /**
     * Jobs in service now.
     *
     * @return 0 to {@link #servers()}
     */
    public int inService() {
        return inService;
    }

    /**
     * Jobs waiting now.
     *
     * @return 0 or more
     */
    public int waiting() {
        return waiting;
    }

    /**
     * The most jobs that waited at once since the last reset.
     *
     * @return 0 or more
     */
    public int maxWaiting() {
        return maxWaiting;
    }

    /** Empties the queue; keeps the memory. */
    public void reset() {
        inService = 0;
        head = 0;
        waiting = 0;
        maxWaiting = 0;
    }

    private void grow() {
        int length = Math.max(8, 2 * ring.length);
        int[] bigger = Arrays.copyOfRange(ring, head, head + length);
        int wrapped = head;
        System.arraycopy(ring, 0, bigger, ring.length - head, wrapped);
        ring = bigger;
        head = 0;
    }
}

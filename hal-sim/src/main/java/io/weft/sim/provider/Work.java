// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;

/**
 * One entry in the order of a stream: a command, a marker (an event's record, a wait, a graph's end) or a part of a collective. It fails when its own effect
 * fails or when something that it waits for has failed; the first cause is passed on. Confined to the platform's lock.
 */
class Work {
    private static final Work[] NOTHING = {};

    private final SimStream stream;
    private Work[] after;
    private int operation = -1;
    private AcceleratorException failure;
    private boolean started;
    private boolean done;
    private long endPs;
    private Runnable afterwards;

    /**
     * @param stream whose order it belongs to
     * @param after what must be over before it starts
     */
    Work(SimStream stream, Work... after) {
        this.stream = stream;
        this.after = after;
    }

    final SimStream stream() {
        return stream;
    }

    /** What it waits for; empty once it has started. */
    final Work[] after() {
        return after;
    }

    /** Its number in the runtime. */
    final int operation() {
        return operation;
    }

    final void operation(int number) {
        operation = number;
    }

    final boolean isStarted() {
        return started;
    }

    /** Whether it is over, well or not. */
    final boolean isDone() {
        return done;
    }

    /** When it was over, ps of virtual time. */
    final long endPs() {
        return endPs;
    }

    /** Why it failed, or null. */
    final AcceleratorException failure() {
        return failure;
    }

    /** Makes it fail, unless it has failed before. */
    final void fail(AcceleratorException cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /** The device begins with it: everything that it waits for is over. */
    final void start() {
        started = true;
        inherit();
        onStart();
    }

    /** It is over. */
    final void complete(long nowPs) {
        if (!started) {
            inherit(); // A collective may be ended before a stream has come to it.
        }
        onComplete();
        AcceleratorException lost = stream.device().faults().lost();
        if (lost != null) {
            fail(lost);
        }
        done = true;
        endPs = nowPs;
        stream.completed(this);
        if (afterwards != null) {
            afterwards.run();
            afterwards = null;
        }
    }

    /** Runs something when it is over, once; at once when it is over already. */
    final void afterwards(Runnable task) {
        if (done) {
            task.run();
        } else {
            Runnable before = afterwards;
            afterwards = before == null
                    ? task
                    : () -> {
                        before.run();
                        task.run();
                    };
        }
    }

    private void inherit() {
        for (Work earlier : after) {
            if (earlier.failure != null) {
                fail(earlier.failure);
            }
        }
        after = NOTHING; // A long stream must not keep all its past alive.
    }

    /** Its part in what happens to memory begins. */
    void onStart() {
        // Markers do nothing.
    }

    /** Its part in what happens to memory is over. */
    void onComplete() {
        // Markers do nothing.
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.nativehal.driver.DeviceRuntime;
import java.util.ArrayList;
import java.util.List;

/**
 * Time stamps of one device's events on the platform's clock. The runtime tells only the time between two events of one device, as a {@code float} of milliseconds, whose resolution fades with the distance: half a microsecond after 8 seconds. So
 * an event is compared with an epoch, an event of our own whose time is known, and a new epoch is set before the old one is far away.
 *
 * <p>Devices have oscillators of their own, which part from the host's and from each other by some microseconds a second. Each new epoch therefore begins with a look at a reference: the first device's is the host's clock, around a record that
 * is waited for; every other device's is the first device, by a record there, one here that waits for it, and one there that waits for that. Both ways take the same time, so ours lies in the middle, and no event can seem to come before one of
 * another device that it waited for. A look that was held up on one of its ways tells less, and moves the clock no further than it must. What is found wrong is made good by a step, forward always and back where nothing was recorded for longer than that, and else by letting the next epoch run a little slower. An epoch
 * ends where the next one begins, by the device's time, and no stamp of it is later than that, so the order of a device's own stamps stays.
 *
 * <p>Two devices agree within half of what such a round trip varies by, about a microsecond; host and device within some microseconds.
 */
final class DeviceClock {
    /** After this long a new epoch is set: a float resolves 15 ns at 0.25 s, well below the half microsecond that the vendor promises for events. */
    private static final long EPOCH_NANOS = 250_000_000;

    /** Looks at the reference when the platform is opened, and later. */
    private static final int FIRST_TRIES = 16;

    private static final int LATER_TRIES = 4;
    /** An idle stream takes microseconds. One that shares a hardware queue with a held up stream may take for ever, so that the old epoch has to do a little longer. */
    private static final long LOOK_NANOS = 300_000;

    /** A look that takes longer than this, there and back, was held up by something, ns. */
    private static final double MOST_SPAN = 100_000;

    private static final long RETRY_NANOS = 20_000_000;
    /** More than any oscillator is off, fraction. */
    private static final double MOST_DRIFT = 200e-6;
    /** Ages of the clock below this tell nothing about its rate, ns. */
    private static final double LEAST_AGE = 200e6;

    /** A moment whose time is known. Its event is owned by the clock. */
    static final class Epoch {
        private final long event;
        private final double start;
        /** Ns of the platform's clock for each ns of the device's. */
        private final double rate;
        /** The device's ns at which the next one begins; written before {@link #next}. */
        private double length;

        private volatile Epoch next;

        Epoch(long event, double start, double rate) {
            this.event = event;
            this.start = start;
            this.rate = rate;
        }

        /** The time of a complete event that was recorded in this epoch, and may have come in a later one, ns of the platform's clock. */
        double nanos(DeviceRuntime runtime, long other) {
            Epoch epoch = this;
            while (true) {
                double passed = runtime.elapsedMillis(epoch.event, other) * 1e6;
                Epoch after = epoch.next;
                double nanos = epoch.start + passed * epoch.rate;
                if (after == null) {
                    return nanos;
                }
                if (passed < epoch.length) {
                    return Math.min(nanos, after.start);
                }
                epoch = after;
            }
        }

        /** Ends where another one begins. */
        void end(double length, Epoch next) {
            this.length = length;
            this.next = next;
        }
    }

    /**
     * A record of ours and what the reference says of its time.
     *
     * @param earliest ns at which it may have been
     * @param latest the same
     */
    record Look(long event, double earliest, double latest) {
        double span() {
            return latest - earliest;
        }

        /**
         * What is nearest to a reckoned time. A look as narrow as they come tells its middle; one that was held up allows all that it would have told had it not been.
         *
         * @param narrowest span of the best look so far, no more than this one's
         */
        double nearest(double reckoned, double narrowest) {
            double low = earliest + narrowest / 2;
            // Rounding may put the one above the other where they are equal.
            return Math.clamp(reckoned, low, Math.max(low, latest - narrowest / 2));
        }
    }

    private final NativeDevice device;
    private final DeviceRuntime runtime;
    private final long stream;
    /** The first device's clock; null for its own. */
    private final DeviceClock reference;
    /** Events of the first device, between which ours is recorded; 0 for its own clock. */
    private final long asked;

    private final long answered;
    private final List<Long> events = new ArrayList<>();
    /** When the first epoch began, by the reference, and the device's own time since. */
    private final double firstNanos;

    private double ownNanos;
    /** Span of the best look, ns. */
    private double narrowest;

    private volatile Epoch current;
    private volatile long nextEpoch;
    /** When an event was last recorded. Not exact where threads record at once, which does not matter. */
    private volatile long lastRecord;

    /**
     * Ties the device to its reference.
     *
     * @param stream of the device and of this clock alone
     * @param reference the first device's clock, null when this is it
     */
    DeviceClock(NativeDevice device, long stream, DeviceClock reference) {
        this.device = device;
        this.runtime = device.runtime();
        this.stream = stream;
        this.reference = reference;
        if (reference == null) {
            asked = 0;
            answered = 0;
        } else {
            reference.device.makeCurrent();
            asked = runtime.createEvent(true);
            answered = runtime.createEvent(true);
            device.makeCurrent();
        }
        Look first = null;
        while (first == null) {
            first = look(FIRST_TRIES, Long.MAX_VALUE, Double.MAX_VALUE);
        }
        narrowest = first.span();
        firstNanos = first.earliest + narrowest / 2;
        events.add(first.event);
        current = new Epoch(first.event, firstNanos, 1);
        nextEpoch = System.nanoTime() + EPOCH_NANOS;
        lastRecord = System.nanoTime();
    }

    /** The epoch for an event that is recorded now. The device is current. */
    Epoch now() {
        long time = System.nanoTime();
        long idle = time - lastRecord;
        lastRecord = time;
        if (time - nextEpoch < 0) {
            return current;
        }
        synchronized (this) {
            if (System.nanoTime() - nextEpoch >= 0) {
                Look look = look(LATER_TRIES, LOOK_NANOS, MOST_SPAN);
                if (look == null) {
                    nextEpoch = System.nanoTime() + RETRY_NANOS;
                } else {
                    current = after(current, look, idle);
                    events.add(look.event);
                    nextEpoch = System.nanoTime() + EPOCH_NANOS;
                }
            }
            return current;
        }
    }

    private Epoch after(Epoch old, Look look, long idle) {
        double passed = runtime.elapsedMillis(old.event, look.event) * 1e6;
        ownNanos += passed;
        double reckoned = old.start + passed * old.rate;
        narrowest = Math.min(narrowest, look.span());
        double told = look.nearest(reckoned, narrowest);
        double wrong = told - reckoned;
        double rate = ownNanos < LEAST_AGE ? 1 : (told - firstNanos) / ownNanos;
        double step = Math.max(wrong, -idle / 2.0);
        Epoch next = new Epoch(look.event, reckoned + step, bounded(rate + (wrong - step) / EPOCH_NANOS));
        old.end(passed, next);
        return next;
    }

    private static double bounded(double rate) {
        return Math.clamp(rate, 1 - MOST_DRIFT, 1 + MOST_DRIFT);
    }

    /**
     * Looks at the reference several times; null when the device does not answer in time, or so late that the answer is worth nothing. The shortest way there and the shortest way back count, each by itself: what follows a record of another
     * device comes later than it by one of them at least.
     */
    private Look look(int tries, long patience, double longest) {
        long first = 0;
        double there = Double.MAX_VALUE;
        double back = Double.MAX_VALUE;
        for (int i = 0; i < tries; i++) {
            long event = runtime.createEvent(true);
            double from;
            double to;
            boolean known;
            if (reference == null) {
                long before = System.nanoTime();
                runtime.record(event, stream);
                known = await(event, before, patience);
                from = before;
                to = System.nanoTime();
            } else {
                reference.device.makeCurrent();
                Epoch epoch = reference.now();
                runtime.record(asked, reference.stream);
                device.makeCurrent();
                runtime.waitEvent(stream, asked);
                runtime.record(event, stream);
                reference.device.makeCurrent();
                runtime.waitEvent(reference.stream, event);
                runtime.record(answered, reference.stream);
                device.makeCurrent();
                known = await(answered, System.nanoTime(), patience);
                from = known ? epoch.nanos(runtime, asked) : 0;
                to = known ? epoch.nanos(runtime, answered) : 0;
            }
            if (!known) {
                events.add(event);
                break;
            }
            double own = 0;
            if (first == 0) {
                first = event;
            } else {
                own = runtime.elapsedMillis(first, event) * 1e6;
                runtime.destroyEvent(event);
            }
            there = Math.min(there, own - from);
            back = Math.min(back, to - own);
        }
        if (first == 0) {
            return null;
        }
        if (there + back > longest) {
            runtime.destroyEvent(first);
            return null;
        }
        return new Look(first, -there, back);
    }

    private boolean await(long event, long since, long patience) {
        while (runtime.isNotReady(runtime.queryEvent(event))) {
            if (System.nanoTime() - since > patience) {
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }

    void close() {
        for (long event : events) {
            runtime.destroyEvent(event);
        }
        events.clear();
        if (asked != 0) {
            runtime.destroyEvent(asked);
            runtime.destroyEvent(answered);
        }
    }
}

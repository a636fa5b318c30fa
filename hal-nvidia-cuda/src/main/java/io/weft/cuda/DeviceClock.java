// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.cuda.ffi.CudaRuntime;
import java.util.ArrayList;
import java.util.List;

/**
 * Time stamps of one device's events on the platform's clock. The runtime tells only the time between two events of one device, as a {@code float} of milliseconds, whose resolution
 * fades with the distance: half a microsecond after 8 seconds. So an event is compared with an epoch, an event of our own whose time is known, and a new epoch is set before the old one
 * is far away. Epochs of a device form a chain from its first, so that differences between them stay those of the device.
 *
 * <p>The first epochs of all devices are tied to the host's clock by the shortest of several synchronised records; that ties the devices to one another within a few microseconds.
 */
final class DeviceClock {
    /** After this long a new epoch is set: a float resolves 15 ns at 0.25 s, well below the half microsecond that the vendor promises for events. */
    private static final long EPOCH_NANOS = 250_000_000;

    private static final int TRIES = 9;

    /** A moment whose time is known. Its event is owned by the clock. */
    static final class Epoch {
        private final long event;
        private final Epoch before;
        private double nanos;
        private boolean known;

        private Epoch(long event, Epoch before) {
            this.event = event;
            this.before = before;
        }

        /** The time of a complete event that was recorded in this epoch, ns of the platform's clock. */
        double nanos(CudaRuntime runtime, long other) {
            return start(runtime) + runtime.elapsedMillis(event, other) * 1e6;
        }

        private synchronized double start(CudaRuntime runtime) {
            if (!known) {
                nanos = before.start(runtime) + runtime.elapsedMillis(before.event, event) * 1e6;
                known = true;
            }
            return nanos;
        }
    }

    private final CudaRuntime runtime;
    private final long stream;
    private final List<Epoch> epochs = new ArrayList<>();
    private volatile Epoch current;
    private volatile long nextEpoch;

    /** Ties the device to the host's clock. The device is current and idle; the stream is used by nobody else. */
    DeviceClock(CudaRuntime runtime, long stream) {
        this.runtime = runtime;
        this.stream = stream;
        long shortest = Long.MAX_VALUE;
        long middle = 0;
        long best = 0;
        for (int i = 0; i < TRIES; i++) {
            long event = runtime.createEvent(true);
            long before = System.nanoTime();
            runtime.record(event, stream);
            runtime.synchronizeEvent(event);
            long after = System.nanoTime();
            if (after - before < shortest) {
                shortest = after - before;
                middle = before + (after - before) / 2;
                if (best != 0) {
                    runtime.destroyEvent(best);
                }
                best = event;
            } else {
                runtime.destroyEvent(event);
            }
        }
        Epoch first = new Epoch(best, null);
        first.nanos = middle;
        first.known = true;
        epochs.add(first);
        current = first;
        nextEpoch = System.nanoTime() + EPOCH_NANOS;
    }

    /** The epoch for an event that is recorded now. The device is current. */
    Epoch now() {
        if (System.nanoTime() - nextEpoch < 0) {
            return current;
        }
        synchronized (this) {
            long now = System.nanoTime();
            if (now - nextEpoch >= 0) {
                long event = runtime.createEvent(true);
                runtime.record(event, stream);
                // Known at once: an idle stream takes microseconds, and a chain that is never walked would grow.
                runtime.synchronizeEvent(event);
                Epoch next = new Epoch(event, current);
                next.start(runtime);
                epochs.add(next);
                current = next;
                nextEpoch = now + EPOCH_NANOS;
            }
            return current;
        }
    }

    /** The moment that a timed graph's events are compared with. */
    Epoch epoch() {
        return current;
    }

    void close() {
        for (Epoch epoch : epochs) {
            runtime.destroyEvent(epoch.event);
        }
        epochs.clear();
    }
}

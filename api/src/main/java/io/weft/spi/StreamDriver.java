// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.Priority;
import io.weft.api.graph.Command;
import java.util.List;

/**
 * An in-order queue of work on one device. A stream that failed stays failed: later calls throw STREAM_FAILED with the first cause, and events recorded on it
 * pass the cause on to whoever waits.
 */
public interface StreamDriver {
    /** Its device. */
    DeviceDriver device();

    /** Offers a command whose operands are buffers (never slots). {@link Command.Collective} does not come this way. */
    Enqueue enqueue(Command command);

    /**
     * Offers copies in their order, as if each were offered in turn. A backend whose runtime takes many copies in one call saves the cost of the others.
     *
     * @return how many were accepted, from the first on
     */
    default int enqueueAll(List<Command.Copy> copies) {
        int accepted = 0;
        while (accepted < copies.size() && enqueue(copies.get(accepted)) == Enqueue.ACCEPTED) {
            accepted++;
        }
        return accepted;
    }

    /** Records the event after all work issued so far. Recording again moves it. */
    void record(EventDriver event);

    /** Makes later work wait for the event's last record. An event that was never recorded does not hold anything up. */
    void waitFor(EventDriver event);

    /** Whether all work issued so far is complete. Throws when the stream has failed. */
    boolean query();

    /** Waits for all work issued so far. Throws when the stream has failed. */
    void synchronize();

    /** What the backend made of the wished priority. */
    Priority effectivePriority();

    /** Completes what was issued, then releases the stream. Called once. */
    void close();
}

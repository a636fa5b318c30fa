// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import java.util.Map;

/** Extension: communicators. */
public interface CollectiveDriver {
    /** Makes an id by which the processes of a job find one another; its bytes are passed on by the application. */
    byte[] newUniqueId();

    /**
     * Joins a communicator with some of its ranks. Every process of the job calls it with the same id and size.
     *
     * @param uniqueId from {@link #newUniqueId()}
     * @param size number of ranks over all processes
     * @param localRanks this process's ranks and their devices
     * @throws io.weft.api.AcceleratorException UNSUPPORTED when ranks of other processes cannot be reached; TIMEOUT naming the missing ranks
     */
    CommunicatorDriver join(byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks);

    /**
     * As {@link #join(byte[], int, Map)} with options; called with others than the defaults only where {@link io.weft.api.Capability#COMMUNICATOR_OPTIONS} is declared.
     *
     * @throws io.weft.api.AcceleratorException INVALID_ARGUMENT when ranks of one communicator differ in whether they block
     */
    default CommunicatorDriver join(
            byte[] uniqueId,
            int size,
            Map<Integer, ? extends DeviceDriver> localRanks,
            io.weft.api.CommunicatorOptions options) {
        return join(uniqueId, size, localRanks);
    }

    /** Whether ranks of other processes can take part. */
    default boolean multiProcess() {
        return false;
    }

    /** One rank's part together with the stream it runs on. */
    record Part(io.weft.api.graph.Command.Collective command, StreamDriver stream) {}
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.Stream;
import io.weft.conformance.bench.Bench;
import java.util.List;

/**
 * Holds a stream up until it is opened, without any clock: the stream takes part in a barrier whose other rank comes only then. Made with two devices; what is held up is
 * the first one's stream.
 */
final class Gate {
    private final Communicator communicator;
    private final Stream other;
    private boolean opened;

    private Gate(Communicator communicator, Stream other) {
        this.communicator = communicator;
        this.other = other;
    }

    /** Closes a gate on a stream of one device; another one opens it. */
    static Gate on(Bench bench, Stream stream) {
        Device device = stream.device();
        Device peer = bench.devices(2).get(device.ordinal() == 0 ? 1 : 0);
        Communicator communicator = bench.communicator(List.of(device, peer));
        Gate gate = new Gate(communicator, bench.stream(peer));
        bench.step("holding a stream up by a barrier whose other rank comes later");
        try (Communicator.Group group = communicator.group()) {
            group.barrier(0, stream);
        }
        bench.atEnd(gate::open);
        return gate;
    }

    /** Lets the stream go on. Opening twice is allowed. */
    void open() {
        if (!opened) {
            opened = true;
            try (Communicator.Group group = communicator.group()) {
                group.barrier(1, other);
            }
        }
    }
}

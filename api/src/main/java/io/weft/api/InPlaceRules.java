// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.api.graph.Command;

/** Where the send and receive views of one rank may share memory. The rules are those of the vendor collective libraries. */
final class InPlaceRules {
    private InPlaceRules() {}

    static void check(Command.Collective part) {
        BufferView send = part.send();
        BufferView receive = part.receive();
        if (send == null || receive == null || send.isEmpty() || receive.isEmpty()) {
            return;
        }
        Buffer sendBuffer = (Buffer) send.memory();
        Buffer receiveBuffer = (Buffer) receive.memory();
        if (!sendBuffer.memory().equals(receiveBuffer.memory())) {
            return;
        }
        long sendStart = sendBuffer.base() + send.offset();
        long receiveStart = receiveBuffer.base() + receive.offset();
        boolean overlap = sendStart < receiveStart + receive.bytes() && receiveStart < sendStart + send.bytes();
        if (!overlap) {
            return;
        }
        boolean allowed = switch (part.kind()) {
            case ALL_REDUCE, BROADCAST, REDUCE -> sendStart == receiveStart;
            case ALL_GATHER -> sendStart == receiveStart + part.rank() * send.bytes();
            case REDUCE_SCATTER -> receiveStart == sendStart + part.rank() * receive.bytes();
            case GATHER -> sendStart == receiveStart + part.root() * send.bytes();
            case SCATTER -> receiveStart == sendStart + part.root() * receive.bytes();
            default -> false;
        };
        if (!allowed) {
            throw AcceleratorException.invalid(
                    "collective",
                    part.kind() + " on rank " + part.rank()
                            + ": send and receive overlap in a way that is not in place; see CollectiveKind");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.MemoryKind;
import io.weft.api.Stream;
import io.weft.conformance.bench.Bench;

/** Work that takes a device much longer than the host takes to look: a chain of copies. What must wait for it and does not, finds old data. */
final class Busy {
    private static final int BYTES = 1 << 18;
    /** How many commands it is. */
    static final int COMMANDS = 24;

    private final Buffer from;
    private final Buffer to;

    private Busy(Buffer from, Buffer to) {
        this.from = from;
        this.to = to;
    }

    /** Makes the buffers, once for many uses on one device. */
    static Busy on(Bench bench, Device device) {
        return new Busy(bench.raw(device, MemoryKind.DEVICE, BYTES), bench.raw(device, MemoryKind.DEVICE, BYTES));
    }

    /** Issues the work. */
    void issue(Stream stream) {
        for (int i = 0; i < COMMANDS; i++) {
            stream.copy(Bench.bytes(i % 2 == 0 ? to : from), Bench.bytes(i % 2 == 0 ? from : to));
        }
    }
}

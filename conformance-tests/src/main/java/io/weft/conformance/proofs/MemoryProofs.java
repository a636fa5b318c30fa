// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.MemoryKind;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import java.lang.foreign.MemorySegment;

/** Proofs of the rules about memory. */
final class MemoryProofs {
    @Proves("MEM-002")
    void hostReadsWhatTheHostWrote(Bench bench) {
        for (Device device : bench.platform().devices()) {
            Buffer buffer = bench.raw(device, MemoryKind.DEVICE, 1000);
            byte[] data = bench.randomBytes(1000);
            buffer.write(0, MemorySegment.ofArray(data));
            bench.holds("the bytes of " + device, data, buffer);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;

/** Proofs of the rules about streams. */
final class StreamProofs {
    @Proves("STR-001")
    void synchronizeWaitsForWhatWasIssued(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), 1 << 16);
        stream.fill(Bench.bytes(buffer), 0x5C);
        stream.synchronize();
        bench.holds("the filled buffer", Bench.filled(1 << 16, 0x5C), buffer);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;

/** Proofs of the rules about copies and engines. */
final class CopyProofs {
    @Proves("CPY-001")
    void aCopyBringsOverEveryByte(Bench bench) {
        byte[] data = bench.randomBytes(4099);
        Buffer source = bench.upload(bench.device(), data);
        Buffer destination = bench.buffer(bench.device(), data.length);
        Stream stream = bench.stream(bench.device());
        stream.copy(Bench.bytes(destination), Bench.bytes(source));
        stream.synchronize();
        bench.holds("the copy", data, destination);
        bench.holds("the source", data, source);
    }
}

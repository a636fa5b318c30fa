// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.ErrorCode;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.spi.FaultDriver;

/** Proofs of the rules about errors. */
final class ErrorProofs {
    @Proves("ERR-001")
    void aFailedStreamStaysFailed(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), 4096);
        bench.extension(FaultDriver.class)
                .failCommand(0, 1, new AcceleratorException(ErrorCode.VENDOR, "fill", "made to fail"));
        stream.fill(Bench.bytes(buffer), 0x5C);
        bench.refuses("the first synchronize", stream::synchronize, ErrorCode.STREAM_FAILED);
        bench.refuses("the second synchronize", stream::synchronize, ErrorCode.STREAM_FAILED);
        bench.refuses("query", stream::query, ErrorCode.STREAM_FAILED);
        bench.refuses("a new command", () -> stream.fill(Bench.bytes(buffer), 0x5C), ErrorCode.STREAM_FAILED);
    }
}

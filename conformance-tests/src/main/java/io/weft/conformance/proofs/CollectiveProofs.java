// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.numeric.Expected;
import io.weft.api.numeric.HostMatrix;
import io.weft.api.numeric.Reference;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import java.util.ArrayList;
import java.util.List;

/** Proofs of the rules about collectives. */
final class CollectiveProofs {
    @Proves("COL-001")
    void anAllReduceSums(Bench bench) {
        int count = 1021;
        List<Device> devices = bench.devicesUpTo(4);
        Communicator communicator = bench.communicator(devices);
        List<HostMatrix> inputs = new ArrayList<>();
        List<Buffer> results = new ArrayList<>();
        List<Stream> streams = new ArrayList<>();
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < devices.size(); rank++) {
                byte[] data = bench.randomBytes(ElementType.FP32, count);
                inputs.add(Bench.matrix(data, ElementType.FP32, 1, count));
                Buffer send = bench.upload(devices.get(rank), data);
                results.add(bench.buffer(devices.get(rank), data.length));
                streams.add(bench.stream(devices.get(rank)));
                group.allReduce(
                        rank,
                        send.vector(count, ElementType.FP32),
                        results.get(rank).vector(count, ElementType.FP32),
                        ReduceOp.SUM,
                        streams.get(rank));
            }
        }
        streams.forEach(Stream::synchronize);
        Expected expected = Reference.reduce(ReduceOp.SUM, inputs, null);
        for (int rank = 0; rank < devices.size(); rank++) {
            HostMatrix actual = Bench.matrix(bench.download(results.get(rank)), ElementType.FP32, 1, count);
            bench.near("rank " + rank, expected, actual, Bench.tolerance(ElementType.FP32, devices.size()));
        }
    }
}

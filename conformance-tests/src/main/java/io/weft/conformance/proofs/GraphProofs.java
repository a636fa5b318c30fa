// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import java.util.List;

/** Proofs of the rules about command graphs. */
final class GraphProofs {
    @Proves("GRF-001")
    void nodesRunAfterWhatTheyDependOn(Bench bench) throws Exception {
        int bytes = 1 << 16;
        Device device = bench.device();
        CommandGraph.Builder builder = CommandGraph.builder(1);
        Slot from = builder.slot(0, "from", bytes, Slot.Role.OUTPUT);
        Slot to = builder.slot(0, "to", bytes, Slot.Role.OUTPUT);
        BufferView source = BufferView.vector(from, 0, bytes, ElementType.INT8);
        BufferView destination = BufferView.vector(to, 0, bytes, ElementType.INT8);
        int fill = builder.add(0, 0, Priority.NORMAL, new Command.Fill(source, 0x5C), "fill");
        builder.add(0, 1, Priority.NORMAL, new Command.Copy(destination, source, CopyMethod.AUTO), "copy", fill);
        CommandGraph graph = builder.build();
        GraphExecutable executable = bench.extension(GraphDriver.class).instantiate(graph, List.of(device.driver()));
        bench.closing("a graph", executable::close);
        Buffer first = bench.buffer(device, bytes);
        Buffer second = bench.buffer(device, bytes);
        Stream stream = bench.stream(device);
        executable.launch(new GraphBindings(graph).bind(from, first).bind(to, second), List.of(stream.driver()));
        stream.synchronize();
        bench.holds("what the last node wrote", Bench.filled(bytes, 0x5C), second);
    }
}

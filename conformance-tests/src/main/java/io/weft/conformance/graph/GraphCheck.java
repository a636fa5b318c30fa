// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.conformance.reference.Expectation;
import io.weft.conformance.reference.GraphInterpreter;
import io.weft.conformance.reference.SlotMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Runs one graph on a backend and on the reference interpreter and compares every slot. What the graph fuzzer does for each case, and what its printed tests call. */
public final class GraphCheck {
    private static final int GUARD_BYTES = 64;
    private static final byte GUARD = 0x5D;

    /** How a graph is run. */
    public enum Way {
        /** Command by command on streams, ordered by events. */
        STREAMS,
        /** As one launch. */
        DEVICE_GRAPH
    }

    private GraphCheck() {}

    /**
     * Runs a graph, graph device i being device i.
     *
     * @param seed of the slots' content
     * @throws AssertionError saying where the backend differs from the reference
     */
    public static void check(Platform platform, CommandGraph graph, long seed, Way way) {
        difference(platform, graph, seed, way).ifPresent(difference -> {
            throw new AssertionError(difference);
        });
    }

    /** Where the backend differs from the reference, in words; empty when it does not. A refusal is a difference as well. */
    static Optional<String> difference(Platform platform, CommandGraph graph, long seed, Way way) {
        byte[][] expected = GraphContent.of(graph, seed);
        GraphInterpreter interpreter = new GraphInterpreter(graph, expected);
        interpreter.run();
        byte[][] actual;
        try {
            actual = run(platform, graph, seed, way);
        } catch (RuntimeException refusal) {
            return Optional.of(way + ": the backend threw " + refusal);
        }
        ElementType[] types = GraphContent.types(graph);
        for (Slot slot : graph.slots()) {
            ElementType type = types[slot.index()];
            String where = way + ": slot " + slot.name() + " of device " + slot.device();
            Optional<Expectation.Mismatch> wrong = Expectation.exact(type, bits(type, expected[slot.index()], slot))
                    .compare(bits(type, actual[slot.index()], slot));
            if (wrong.isPresent()) {
                return Optional.of(where + ", " + type + ": " + wrong.get());
            }
            for (int i = Math.toIntExact(slot.bytes()); i < actual[slot.index()].length; i++) {
                if (actual[slot.index()][i] != GUARD) {
                    return Optional.of(where + ": the byte " + (i - slot.bytes()) + " behind it was changed");
                }
            }
        }
        return Optional.empty();
    }

    private static int[] bits(ElementType type, byte[] memory, Slot slot) {
        int[] bits = new int[Math.toIntExact(slot.bytes() / type.bytes())];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = SlotMemory.get(memory, i * type.bytes(), type);
        }
        return bits;
    }

    /** The bytes of every slot after a run, with the guard bytes behind. */
    private static byte[][] run(Platform platform, CommandGraph graph, long seed, Way way) {
        List<Device> devices = platform.devices().subList(0, graph.deviceCount());
        List<Buffer> buffers = new ArrayList<>();
        try {
            GraphBindings bindings = new GraphBindings(graph);
            byte[][] content = GraphContent.of(graph, seed);
            for (Slot slot : graph.slots()) {
                byte[] bytes = Arrays.copyOf(content[slot.index()], content[slot.index()].length + GUARD_BYTES);
                Arrays.fill(bytes, content[slot.index()].length, bytes.length, GUARD);
                Buffer buffer = devices.get(slot.device()).allocate(bytes.length);
                buffers.add(buffer);
                buffer.write(0, MemorySegment.ofArray(bytes));
                bindings.bind(slot, buffer);
            }
            switch (way) {
                case STREAMS -> GraphRuns.onStreams(platform, graph, devices, bindings);
                case DEVICE_GRAPH -> GraphRuns.asDeviceGraph(platform, graph, devices, bindings);
            }
            byte[][] found = new byte[buffers.size()][];
            for (int i = 0; i < found.length; i++) {
                found[i] = new byte[Math.toIntExact(buffers.get(i).bytes())];
                buffers.get(i).read(MemorySegment.ofArray(found[i]), 0);
            }
            return found;
        } finally {
            buffers.forEach(Buffer::close);
        }
    }
}

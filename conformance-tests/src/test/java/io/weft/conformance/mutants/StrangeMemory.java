// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.Buffer;
import io.weft.api.Memory;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.GraphExecutable;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** A backend whose allocations hide behind objects that are not even equal to themselves. */
final class StrangeMemory extends Mutation {
    /** An allocation in disguise, and the backend's own as a buffer. */
    private record Disguise(DeviceMemory own, Buffer buffer) implements DeviceMemory {
        @Override
        public DeviceDriver device() {
            return own.device();
        }

        @Override
        public MemoryKind kind() {
            return own.kind();
        }

        @Override
        public long bytes() {
            return own.bytes();
        }

        @Override
        public long address() {
            return own.address();
        }

        @Override
        public Optional<MemorySegment> hostSegment() {
            return own.hostSegment();
        }

        @Override
        public boolean equals(Object other) {
            return false;
        }

        @Override
        public int hashCode() {
            return own.hashCode();
        }
    }

    private Platform platform;

    @Override
    PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
        PlatformDriver driver = super.open(provider, uri);
        platform = new Platform(uri, driver);
        return driver;
    }

    @Override
    DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
        DeviceMemory own = super.allocate(device, kind, bytes);
        return new Disguise(own, platform.device(device.properties().ordinal()).adopt(own, buffer -> {}));
    }

    private static DeviceMemory own(DeviceMemory memory) {
        return memory instanceof Disguise disguise ? disguise.own : memory;
    }

    private static Memory own(Memory memory) {
        return memory instanceof Buffer buffer ? own(buffer) : memory;
    }

    private static Buffer own(Buffer buffer) {
        return buffer.memory() instanceof Disguise disguise
                ? disguise.buffer.suballocate(buffer.base(), buffer.bytes(), part -> {})
                : buffer;
    }

    @Override
    void free(DeviceDriver device, DeviceMemory memory) {
        super.free(device, own(memory));
    }

    @Override
    void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
        super.write(device, own(destination), offset, source);
    }

    @Override
    void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
        super.read(device, destination, own(source), offset);
    }

    @Override
    Enqueue enqueue(StreamDriver stream, Command command) {
        return super.enqueue(stream, command.rebind(StrangeMemory::own));
    }

    @Override
    void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
        super.enqueue(
                communicator,
                group.stream()
                        .map(part ->
                                new CollectiveDriver.Part(part.command().rebind(StrangeMemory::own), part.stream()))
                        .toList());
    }

    @Override
    void launch(GraphExecutable executable, CommandGraph graph, GraphBindings bindings, List<StreamDriver> streams) {
        GraphBindings unveiled = new GraphBindings(bindings.graph());
        for (Slot slot : bindings.graph().slots()) {
            Buffer buffer = bindings.buffer(slot.index());
            if (buffer != null) {
                unveiled.bind(slot, buffer.isClosed() ? buffer : own(buffer));
            }
        }
        super.launch(executable, graph, unveiled, streams);
    }
}

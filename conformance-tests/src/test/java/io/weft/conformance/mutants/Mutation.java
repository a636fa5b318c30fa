// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.DeviceProperties;
import io.weft.api.EventOptions;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.PlatformProperties;
import io.weft.api.PlatformUri;
import io.weft.api.Priority;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Timeline;
import io.weft.api.topology.Topology;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.FaultDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.PerformanceModel;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.StreamDriver;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.Target;
import io.weft.spi.VirtualMemoryDriver;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Every call of the SPI, each doing what the backend does. A mutant overrides the one that it does wrong. Drivers passed in are the backend's own, and so are those that
 * are returned; {@link Mutants} puts the wrappers around them. One object lives as long as one provider, so a mutant may count.
 */
public class Mutation {
    // The provider.

    ProviderDescriptor descriptor(AcceleratorProvider provider) {
        return provider.descriptor();
    }

    Probe probe(AcceleratorProvider provider) {
        return provider.probe();
    }

    List<Target> targets(AcceleratorProvider provider) {
        return provider.targets();
    }

    PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
        return provider.open(uri);
    }

    // The platform.

    PlatformProperties properties(PlatformDriver platform) {
        return platform.properties();
    }

    /** The wrapped devices; a mutant may leave one out or exchange two. */
    List<DeviceDriver> devices(PlatformDriver platform, List<DeviceDriver> wrapped) {
        return wrapped;
    }

    Topology topology(PlatformDriver platform) {
        return platform.topology();
    }

    Set<Capability> capabilities(PlatformDriver platform) {
        return platform.capabilities();
    }

    <T> Optional<T> extension(PlatformDriver platform, Class<T> type) {
        return platform.extension(type);
    }

    long nanoTime(PlatformDriver platform) {
        return platform.nanoTime();
    }

    void close(PlatformDriver platform) {
        platform.close();
    }

    // Devices.

    DeviceProperties properties(DeviceDriver device) {
        return device.properties();
    }

    DeviceMemory allocate(DeviceDriver device, MemoryKind kind, long bytes) {
        return device.allocate(kind, bytes);
    }

    DeviceMemory allocateHost(DeviceDriver device, int numaNode, long bytes) {
        return device.allocateHost(numaNode, bytes);
    }

    void free(DeviceDriver device, DeviceMemory memory) {
        device.free(memory);
    }

    MemoryInfo memoryInfo(DeviceDriver device) {
        return device.memoryInfo();
    }

    StreamDriver defaultStream(DeviceDriver device) {
        return device.defaultStream();
    }

    StreamDriver createStream(DeviceDriver device, StreamOptions options) {
        return device.createStream(options);
    }

    EventDriver createEvent(DeviceDriver device, EventOptions options) {
        return device.createEvent(options);
    }

    void write(DeviceDriver device, DeviceMemory destination, long offset, MemorySegment source) {
        device.write(destination, offset, source);
    }

    void read(DeviceDriver device, MemorySegment destination, DeviceMemory source, long offset) {
        device.read(destination, source, offset);
    }

    boolean canAccess(DeviceDriver device, DeviceDriver peer) {
        return device.canAccess(peer);
    }

    void enablePeerAccess(DeviceDriver device, DeviceDriver peer) {
        device.enablePeerAccess(peer);
    }

    void disablePeerAccess(DeviceDriver device, DeviceDriver peer) {
        device.disablePeerAccess(peer);
    }

    void synchronize(DeviceDriver device) {
        device.synchronize();
    }

    // Streams.

    Enqueue enqueue(StreamDriver stream, Command command) {
        return stream.enqueue(command);
    }

    void record(StreamDriver stream, EventDriver event) {
        stream.record(event);
    }

    void waitFor(StreamDriver stream, EventDriver event) {
        stream.waitFor(event);
    }

    boolean query(StreamDriver stream) {
        return stream.query();
    }

    void synchronize(StreamDriver stream) {
        stream.synchronize();
    }

    Priority effectivePriority(StreamDriver stream) {
        return stream.effectivePriority();
    }

    void close(StreamDriver stream) {
        stream.close();
    }

    // Events.

    boolean query(EventDriver event) {
        return event.query();
    }

    void synchronize(EventDriver event) {
        event.synchronize();
    }

    double timestampNanos(EventDriver event) {
        return event.timestampNanos();
    }

    void close(EventDriver event) {
        event.close();
    }

    // Collectives.

    byte[] newUniqueId(CollectiveDriver collectives) {
        return collectives.newUniqueId();
    }

    CommunicatorDriver join(
            CollectiveDriver collectives, byte[] uniqueId, int size, Map<Integer, DeviceDriver> localRanks) {
        return collectives.join(uniqueId, size, localRanks);
    }

    void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
        communicator.enqueue(group);
    }

    /** The backend's own memberships; mutants that change them return others of its own. */
    Map<Integer, CommunicatorDriver.Membership> split(
            CommunicatorDriver communicator, Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        return communicator.split(colors, keys);
    }

    Optional<AcceleratorException> asyncError(CommunicatorDriver communicator) {
        return communicator.asyncError();
    }

    void abort(CommunicatorDriver communicator) {
        communicator.abort();
    }

    void close(CommunicatorDriver communicator) {
        communicator.close();
    }

    // Device graphs.

    GraphExecutable instantiate(GraphDriver graphs, CommandGraph graph, List<DeviceDriver> devices) {
        return graphs.instantiate(graph, devices);
    }

    void launch(GraphExecutable executable, CommandGraph graph, GraphBindings bindings, List<StreamDriver> streams) {
        executable.launch(bindings, streams);
    }

    Optional<Timeline> lastTimeline(GraphExecutable executable) {
        return executable.lastTimeline();
    }

    void close(GraphExecutable executable) {
        executable.close();
    }

    // Symmetric and virtual memory.

    long windowAlignment(SymmetricMemoryDriver symmetric) {
        return symmetric.windowAlignment();
    }

    List<? extends DeviceMemory> reserve(SymmetricMemoryDriver symmetric, List<DeviceDriver> devices, long bytes) {
        return symmetric.reserve(devices, bytes);
    }

    long pageBytes(VirtualMemoryDriver virtual) {
        return virtual.pageBytes();
    }

    DeviceMemory reserve(VirtualMemoryDriver virtual, DeviceDriver device, long bytes) {
        return virtual.reserve(device, bytes);
    }

    void map(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
        virtual.map(range, offset, bytes);
    }

    void unmap(VirtualMemoryDriver virtual, DeviceMemory range, long offset, long bytes) {
        virtual.unmap(range, offset, bytes);
    }

    // The rest.

    Timeline estimate(
            PerformanceModel model, CommandGraph graph, PerformanceModel.Issue issue, PerformanceModel.Detail detail) {
        return model.estimate(graph, issue, detail);
    }

    double aloneNanos(PerformanceModel model, CommandGraph graph, int node) {
        return model.aloneNanos(graph, node);
    }

    void failCommand(FaultDriver faults, int device, int nth, AcceleratorException cause) {
        faults.failCommand(device, nth, cause);
    }

    void loseDevice(FaultDriver faults, int device) {
        faults.loseDevice(device);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.CollectiveKind;
import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.EventOptions;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.PlatformProperties;
import io.weft.api.PlatformUri;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
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
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A provider every call of which goes through a mutation. Wrappers are taken off before a driver is handed back to the backend. */
public final class MutantProvider implements AcceleratorProvider {
    private final AcceleratorProvider backend;
    private final Mutation mutation;

    /** Wraps a provider. */
    public MutantProvider(AcceleratorProvider backend, Mutation mutation) {
        this.backend = backend;
        this.mutation = mutation;
    }

    @Override
    public ProviderDescriptor descriptor() {
        return mutation.descriptor(backend);
    }

    @Override
    public Probe probe() {
        return mutation.probe(backend);
    }

    @Override
    public List<Target> targets() {
        return mutation.targets(backend);
    }

    @Override
    public PlatformDriver open(PlatformUri uri) {
        return new MutantPlatform(mutation.open(backend, uri), mutation);
    }

    private static DeviceDriver bare(DeviceDriver device) {
        return device instanceof MutantDevice mutant ? mutant.backend : device;
    }

    private static StreamDriver bare(StreamDriver stream) {
        return stream instanceof MutantStream mutant ? mutant.backend : stream;
    }

    private static EventDriver bare(EventDriver event) {
        return event instanceof MutantEvent mutant ? mutant.backend : event;
    }

    private static List<DeviceDriver> bareDevices(List<? extends DeviceDriver> devices) {
        List<DeviceDriver> own = new ArrayList<>();
        devices.forEach(device -> own.add(bare(device)));
        return own;
    }

    private static final class MutantPlatform implements PlatformDriver {
        private final PlatformDriver backend;
        private final Mutation mutation;
        private final List<DeviceDriver> devices;
        private final Map<Class<?>, Object> extensions = new LinkedHashMap<>();

        MutantPlatform(PlatformDriver backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
            List<DeviceDriver> wrapped = new ArrayList<>();
            backend.devices().forEach(device -> wrapped.add(new MutantDevice(device, mutation)));
            this.devices = mutation.devices(backend, wrapped);
        }

        @Override
        public PlatformProperties properties() {
            return mutation.properties(backend);
        }

        @Override
        public List<? extends DeviceDriver> devices() {
            return devices;
        }

        @Override
        public Topology topology() {
            return mutation.topology(backend);
        }

        @Override
        public Set<Capability> capabilities() {
            return mutation.capabilities(backend);
        }

        @Override
        public <T> Optional<T> extension(Class<T> type) {
            return mutation.extension(backend, type).map(found -> type.cast(wrap(type, found)));
        }

        private synchronized Object wrap(Class<?> type, Object found) {
            return extensions.computeIfAbsent(type, key -> {
                if (type == CollectiveDriver.class) {
                    return new MutantCollectives((CollectiveDriver) found, mutation);
                }
                if (type == GraphDriver.class) {
                    return new MutantGraphs((GraphDriver) found, mutation);
                }
                if (type == SymmetricMemoryDriver.class) {
                    return new MutantSymmetric((SymmetricMemoryDriver) found, mutation);
                }
                if (type == VirtualMemoryDriver.class) {
                    return new MutantVirtual((VirtualMemoryDriver) found, mutation);
                }
                if (type == PerformanceModel.class) {
                    return new MutantModel((PerformanceModel) found, mutation);
                }
                if (type == FaultDriver.class) {
                    return new MutantFaults((FaultDriver) found, mutation);
                }
                return found;
            });
        }

        @Override
        public long nanoTime() {
            return mutation.nanoTime(backend);
        }

        @Override
        public void close() {
            mutation.close(backend);
        }
    }

    private static final class MutantDevice implements DeviceDriver {
        private final DeviceDriver backend;
        private final Mutation mutation;
        private StreamDriver defaultStream;

        MutantDevice(DeviceDriver backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
        }

        @Override
        public DeviceProperties properties() {
            return mutation.properties(backend);
        }

        @Override
        public DeviceMemory allocate(MemoryKind kind, long bytes) {
            return mutation.allocate(backend, kind, bytes);
        }

        @Override
        public DeviceMemory allocateHost(int numaNode, long bytes) {
            return mutation.allocateHost(backend, numaNode, bytes);
        }

        @Override
        public void free(DeviceMemory memory) {
            mutation.free(backend, memory);
        }

        @Override
        public MemoryInfo memoryInfo() {
            return mutation.memoryInfo(backend);
        }

        @Override
        public synchronized StreamDriver defaultStream() {
            if (defaultStream == null) {
                defaultStream = new MutantStream(mutation.defaultStream(backend), this, mutation);
            }
            return defaultStream;
        }

        @Override
        public StreamDriver createStream(StreamOptions options) {
            return new MutantStream(mutation.createStream(backend, options), this, mutation);
        }

        @Override
        public EventDriver createEvent(EventOptions options) {
            return new MutantEvent(mutation.createEvent(backend, options), this, mutation);
        }

        @Override
        public void write(DeviceMemory destination, long offset, MemorySegment source) {
            mutation.write(backend, destination, offset, source);
        }

        @Override
        public void read(MemorySegment destination, DeviceMemory source, long offset) {
            mutation.read(backend, destination, source, offset);
        }

        @Override
        public boolean canAccess(DeviceDriver peer) {
            return mutation.canAccess(backend, bare(peer));
        }

        @Override
        public void enablePeerAccess(DeviceDriver peer) {
            mutation.enablePeerAccess(backend, bare(peer));
        }

        @Override
        public void disablePeerAccess(DeviceDriver peer) {
            mutation.disablePeerAccess(backend, bare(peer));
        }

        @Override
        public void synchronize() {
            mutation.synchronize(backend);
        }
    }

    private static final class MutantStream implements StreamDriver {
        private final StreamDriver backend;
        private final MutantDevice device;
        private final Mutation mutation;

        MutantStream(StreamDriver backend, MutantDevice device, Mutation mutation) {
            this.backend = backend;
            this.device = device;
            this.mutation = mutation;
        }

        @Override
        public DeviceDriver device() {
            return device;
        }

        @Override
        public Enqueue enqueue(Command command) {
            return mutation.enqueue(backend, command);
        }

        @Override
        public void record(EventDriver event) {
            mutation.record(backend, bare(event));
        }

        @Override
        public void waitFor(EventDriver event) {
            mutation.waitFor(backend, bare(event));
        }

        @Override
        public boolean query() {
            return mutation.query(backend);
        }

        @Override
        public void synchronize() {
            mutation.synchronize(backend);
        }

        @Override
        public Priority effectivePriority() {
            return mutation.effectivePriority(backend);
        }

        @Override
        public void close() {
            mutation.close(backend);
        }
    }

    private static final class MutantEvent implements EventDriver {
        private final EventDriver backend;
        private final MutantDevice device;
        private final Mutation mutation;

        MutantEvent(EventDriver backend, MutantDevice device, Mutation mutation) {
            this.backend = backend;
            this.device = device;
            this.mutation = mutation;
        }

        @Override
        public DeviceDriver device() {
            return device;
        }

        @Override
        public boolean query() {
            return mutation.query(backend);
        }

        @Override
        public void synchronize() {
            mutation.synchronize(backend);
        }

        @Override
        public double timestampNanos() {
            return mutation.timestampNanos(backend);
        }

        @Override
        public void close() {
            mutation.close(backend);
        }
    }

    private static final class MutantCollectives implements CollectiveDriver {
        private final CollectiveDriver backend;
        private final Mutation mutation;

        MutantCollectives(CollectiveDriver backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
        }

        @Override
        public byte[] newUniqueId() {
            return mutation.newUniqueId(backend);
        }

        @Override
        public CommunicatorDriver join(byte[] uniqueId, int size, Map<Integer, ? extends DeviceDriver> localRanks) {
            Map<Integer, DeviceDriver> own = new LinkedHashMap<>();
            localRanks.forEach((rank, device) -> own.put(rank, bare(device)));
            return new MutantCommunicator(mutation.join(backend, uniqueId, size, own), mutation);
        }

        @Override
        public boolean multiProcess() {
            return backend.multiProcess();
        }
    }

    private static final class MutantCommunicator implements CommunicatorDriver {
        private final CommunicatorDriver backend;
        private final Mutation mutation;

        MutantCommunicator(CommunicatorDriver backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
        }

        @Override
        public void enqueue(List<CollectiveDriver.Part> group) {
            mutation.enqueue(
                    backend,
                    group.stream()
                            .map(part -> new CollectiveDriver.Part(part.command(), bare(part.stream())))
                            .toList());
        }

        @Override
        public Map<Integer, Membership> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
            IdentityHashMap<CommunicatorDriver, MutantCommunicator> wrappers = new IdentityHashMap<>();
            Map<Integer, Membership> result = new LinkedHashMap<>();
            mutation.split(backend, colors, keys)
                    .forEach((rank, membership) -> result.put(
                            rank,
                            new Membership(
                                    wrappers.computeIfAbsent(
                                            membership.communicator(), made -> new MutantCommunicator(made, mutation)),
                                    membership.rank(),
                                    membership.size())));
            return result;
        }

        @Override
        public String describe(CollectiveKind kind, ReduceOp op, ElementType type, long bytes) {
            return backend.describe(kind, op, type, bytes);
        }

        @Override
        public Optional<AcceleratorException> asyncError() {
            return mutation.asyncError(backend);
        }

        @Override
        public void abort() {
            mutation.abort(backend);
        }

        @Override
        public void close() {
            mutation.close(backend);
        }
    }

    private static final class MutantGraphs implements GraphDriver {
        private final GraphDriver backend;
        private final Mutation mutation;

        MutantGraphs(GraphDriver backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
        }

        @Override
        public GraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices) {
            GraphExecutable own = mutation.instantiate(backend, graph, bareDevices(devices));
            return new GraphExecutable() {
                @Override
                public void launch(GraphBindings bindings, List<? extends StreamDriver> streams) {
                    List<StreamDriver> bare = new ArrayList<>();
                    streams.forEach(stream -> bare.add(MutantProvider.bare(stream)));
                    mutation.launch(own, graph, bindings, bare);
                }

                @Override
                public Optional<Timeline> lastTimeline() {
                    return mutation.lastTimeline(own);
                }

                @Override
                public boolean joinsDevices() {
                    return own.joinsDevices();
                }

                @Override
                public void close() {
                    mutation.close(own);
                }
            };
        }
    }

    private static final class MutantSymmetric implements SymmetricMemoryDriver {
        private final SymmetricMemoryDriver backend;
        private final Mutation mutation;

        MutantSymmetric(SymmetricMemoryDriver backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
        }

        @Override
        public long windowAlignment() {
            return mutation.windowAlignment(backend);
        }

        @Override
        public List<? extends DeviceMemory> reserve(List<? extends DeviceDriver> devices, long bytes) {
            return mutation.reserve(backend, bareDevices(devices), bytes);
        }
    }

    private static final class MutantVirtual implements VirtualMemoryDriver {
        private final VirtualMemoryDriver backend;
        private final Mutation mutation;

        MutantVirtual(VirtualMemoryDriver backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
        }

        @Override
        public long pageBytes() {
            return mutation.pageBytes(backend);
        }

        @Override
        public DeviceMemory reserve(DeviceDriver device, long bytes) {
            return mutation.reserve(backend, bare(device), bytes);
        }

        @Override
        public void map(DeviceMemory range, long offset, long bytes) {
            mutation.map(backend, range, offset, bytes);
        }

        @Override
        public void unmap(DeviceMemory range, long offset, long bytes) {
            mutation.unmap(backend, range, offset, bytes);
        }
    }

    private static final class MutantModel implements PerformanceModel {
        private final PerformanceModel backend;
        private final Mutation mutation;

        MutantModel(PerformanceModel backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
        }

        @Override
        public Timeline estimate(CommandGraph graph, Issue issue, Detail detail) {
            return mutation.estimate(backend, graph, issue, detail);
        }

        @Override
        public double aloneNanos(CommandGraph graph, int node) {
            return mutation.aloneNanos(backend, graph, node);
        }
    }

    private static final class MutantFaults implements FaultDriver {
        private final FaultDriver backend;
        private final Mutation mutation;

        MutantFaults(FaultDriver backend, Mutation mutation) {
            this.backend = backend;
            this.mutation = mutation;
        }

        @Override
        public void failCommand(int device, int nth, AcceleratorException cause) {
            mutation.failCommand(backend, device, nth, cause);
        }

        @Override
        public void loseDevice(int device) {
            mutation.loseDevice(backend, device);
        }
    }
}

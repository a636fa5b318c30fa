// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.DeviceProperties;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.Priority;
import io.weft.api.StreamOptions;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.execute.HostBlock;
import io.weft.sim.machine.DeviceModel;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;

/** One device of a simulated platform. */
final class SimDevice implements DeviceDriver {
    private final SimPlatform platform;
    private final int ordinal;
    private final DeviceProperties properties;
    private final DeviceModel model;
    private final AddressSpace addresses;
    private final List<SimMemory> allocations = new ArrayList<>();
    private final List<SimStream> streams = new ArrayList<>();
    private final BitSet access = new BitSet();
    private final BitSet lanes = new BitSet();
    private final SimStream defaultStream;
    private final DeviceFaults faults = new DeviceFaults();
    private long takenBytes;
    private long issuePs;
    private AcceleratorException unreported;

    SimDevice(SimPlatform platform, int ordinal, DeviceProperties properties, DeviceModel model) {
        this.platform = platform;
        this.ordinal = ordinal;
        this.properties = properties;
        this.model = model;
        this.addresses = new AddressSpace(ordinal);
        this.defaultStream = newStream(true, StreamOptions.defaults());
    }

    SimPlatform platform() {
        return platform;
    }

    int ordinal() {
        return ordinal;
    }

    DeviceModel model() {
        return model;
    }

    DeviceFaults faults() {
        return faults;
    }

    HostMemoryBudget hostMemory() {
        return platform.hostMemory();
    }

    @Override
    public DeviceProperties properties() {
        return properties;
    }

    // Time.

    /**
     * The host issues something to this device.
     *
     * @param costNanos host time of the call
     * @return when it reaches the device, ps
     */
    long issue(double costNanos) {
        issuePs = Math.max(issuePs, platform.time().nowPs()) + VirtualTime.fromNs(costNanos);
        return issuePs;
    }

    /** The thread that drives this device has come to an instant. */
    void issueAt(long timePs) {
        issuePs = Math.max(issuePs, timePs);
    }

    /** The host issues an event's record or a wait. */
    long issueEvent() {
        return issue(model.launch().issueEventNanos());
    }

    /** What the host thread that drives this device has come to, ps; it may be ahead of virtual time. */
    long issuePs() {
        return issuePs;
    }

    // Memory.

    @Override
    public DeviceMemory allocate(MemoryKind kind, long bytes) {
        return allocate(kind, bytes, properties.allocationAlignment());
    }

    @Override
    public DeviceMemory allocateHost(int numaNode, long bytes) {
        Set<Integer> nodes = platform.numaNodes();
        if (nodes.isEmpty() || numaNode < 0) {
            return allocate(MemoryKind.HOST_PINNED, bytes);
        }
        if (!nodes.contains(numaNode)) {
            throw AcceleratorException.invalid(
                    "allocate", "the host of " + platform + " has no NUMA node " + numaNode + "; it has " + nodes);
        }
        return allocate(MemoryKind.HOST_PINNED, bytes, properties.allocationAlignment(), numaNode);
    }

    /** Allocates at a stricter alignment than the device's own. */
    DeviceMemory allocate(MemoryKind kind, long bytes, long alignment) {
        return allocate(kind, bytes, alignment, kind == MemoryKind.HOST_PINNED ? properties.numaNode() : -1);
    }

    private DeviceMemory allocate(MemoryKind kind, long bytes, long alignment, int numaNode) {
        platform.enter("allocate");
        try {
            faults.requireAlive("allocate");
            long address = take("allocate", kind, bytes, Math.max(alignment, properties.allocationAlignment()));
            HostBlock block = platform.options().functional() ? poisoned(kind, address, bytes) : null;
            SimMemory memory = new PlainMemory(this, kind, address, bytes, numaNode, block);
            allocations.add(memory);
            return memory;
        } finally {
            platform.leave();
        }
    }

    private HostBlock poisoned(MemoryKind kind, long address, long bytes) {
        if (!hostMemory().take(bytes)) {
            undo(kind, bytes, address);
            throw hostIsShort("allocate", bytes);
        }
        try {
            HostBlock block = HostBlock.allocate(bytes, properties.allocationAlignment());
            block.segment().fill(SimMemory.POISON);
            return block;
        } catch (OutOfMemoryError refused) {
            hostMemory().give(bytes);
            undo(kind, bytes, address);
            throw hostIsShort("allocate", bytes);
        }
    }

    private void undo(MemoryKind kind, long bytes, long address) {
        addresses.give(address);
        if (kind == MemoryKind.DEVICE) {
            takenBytes -= rounded(bytes);
        }
    }

    /** Reserves addresses without memory behind them. */
    SimMemory reserveRange(long bytes, long pageBytes) {
        long address = addresses.take(bytes, pageBytes);
        if (address < 0) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_MEMORY,
                    "reserve",
                    "device " + ordinal + " has no address range of " + bytes + " bytes left");
        }
        VirtualRange range = new VirtualRange(
                this, address, bytes, pageBytes, platform.options().functional());
        allocations.add(range);
        return range;
    }

    /** Books an allocation on the device and gives it addresses. */
    private long take(String operation, MemoryKind kind, long bytes, long alignment) {
        if (kind == MemoryKind.DEVICE) {
            takeDeviceMemory(operation, rounded(bytes));
        }
        long address = addresses.take(bytes, alignment);
        if (address < 0) {
            if (kind == MemoryKind.DEVICE) {
                takenBytes -= rounded(bytes);
            }
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_MEMORY,
                    operation,
                    "device " + ordinal + " has no address range of " + bytes + " bytes left");
        }
        return address;
    }

    /** Books device memory. */
    void takeDeviceMemory(String operation, long bytes) {
        long free = properties.memoryBytes() - takenBytes;
        if (bytes > free) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_MEMORY,
                    operation,
                    "device " + ordinal + " has " + free + " of its " + properties.memoryBytes() + " bytes free, and "
                            + bytes + " are wanted");
        }
        takenBytes += bytes;
    }

    /** Books device memory back. */
    void giveDeviceMemory(long bytes) {
        takenBytes -= bytes;
    }

    /** Books host memory. */
    void takeHostMemory(String operation, long bytes) {
        if (!hostMemory().take(bytes)) {
            throw hostIsShort(operation, bytes);
        }
    }

    /** The refusal when the host has too little memory. */
    AcceleratorException hostIsShort(String operation, long bytes) {
        return new AcceleratorException(
                ErrorCode.OUT_OF_MEMORY,
                operation,
                "the host's memory is short, not the device's: " + bytes
                        + " bytes are wanted, and simulated buffers take "
                        + hostMemory().taken() + " of at most " + hostMemory().limit() + " bytes",
                "open the platform with mode=timing if no data are needed",
                null,
                null);
    }

    private long rounded(long bytes) {
        long alignment = properties.allocationAlignment();
        return bytes > Long.MAX_VALUE - alignment ? bytes : (bytes + alignment - 1) & -alignment;
    }

    @Override
    public void free(DeviceMemory memory) {
        platform.enterToClose();
        try {
            SimMemory mine = (SimMemory) memory;
            if (mine.isFreed()) {
                return; // Closing the platform released it.
            }
            allocations.remove(mine);
            addresses.give(mine.address());
            if (mine instanceof VirtualRange range) {
                takenBytes -= range.mappedBytes();
            } else if (mine.kind() == MemoryKind.DEVICE) {
                takenBytes -= rounded(mine.bytes());
            }
            mine.release();
        } finally {
            platform.leave();
        }
    }

    @Override
    public MemoryInfo memoryInfo() {
        platform.enter("memory info");
        try {
            return new MemoryInfo(properties.memoryBytes(), properties.memoryBytes() - takenBytes);
        } finally {
            platform.leave();
        }
    }

    @Override
    public void write(DeviceMemory destination, long offset, MemorySegment source) {
        platform.enter("write");
        try {
            faults.requireAlive("write");
            requireStorage("write");
            SimMemory memory = (SimMemory) destination;
            MemorySegment to = memory.backing(offset, source.byteSize());
            platform.hostCopy(this, source.byteSize(), model.hostLink().toDevice());
            platform.effects().beforeHostWrite(memory.address() + offset, source.byteSize());
            to.copyFrom(source);
        } finally {
            platform.leave();
        }
    }

    @Override
    public void read(MemorySegment destination, DeviceMemory source, long offset) {
        platform.enter("read");
        try {
            faults.requireAlive("read");
            requireStorage("read");
            SimMemory memory = (SimMemory) source;
            MemorySegment from = memory.backing(offset, destination.byteSize());
            platform.hostCopy(this, destination.byteSize(), model.hostLink().fromDevice());
            platform.effects().flush();
            destination.copyFrom(from);
        } finally {
            platform.leave();
        }
    }

    private void requireStorage(String operation) {
        if (!platform.options().functional()) {
            throw AcceleratorException.unsupported(operation, Capability.STORAGE, platform.toString());
        }
    }

    // Streams and events.

    @Override
    public SimStream defaultStream() {
        return defaultStream;
    }

    @Override
    public StreamDriver createStream(StreamOptions options) {
        platform.enter("create stream");
        try {
            faults.requireAlive("create stream");
            return newStream(false, options);
        } finally {
            platform.leave();
        }
    }

    private SimStream newStream(boolean isDefault, StreamOptions options) {
        SimStream stream = new SimStream(this, takeLanes(1, 1), isDefault, options);
        streams.add(stream);
        return stream;
    }

    /** The priority that a wish comes to: devices with fewer than three know no LOW, then no HIGH. */
    Priority effective(Priority wish) {
        return switch (wish) {
            case HIGH -> properties.priorities() >= 2 ? Priority.HIGH : Priority.NORMAL;
            case LOW -> properties.priorities() >= 3 ? Priority.LOW : Priority.NORMAL;
            case NORMAL -> Priority.NORMAL;
        };
    }

    /** The last work of every blocking stream. */
    void blockingTails(List<Work> to) {
        for (SimStream stream : streams) {
            if (stream.isBlocking() && stream.tail() != null) {
                to.add(stream.tail());
            }
        }
    }

    void forget(SimStream stream) {
        streams.remove(stream);
        if (stream.tail() == null) {
            giveLanes(stream.lane(), 1); // What can never end keeps its lane, or it would hold up the next owner.
        }
    }

    /**
     * Takes neighbouring lanes of the runtime, the lowest that are free; lane L runs on hardware queue L modulo their number.
     *
     * @param multiple of which the first is one
     * @return the first
     */
    int takeLanes(int count, int multiple) {
        int first = 0;
        for (int used = lanes.nextSetBit(first); used >= 0 && used < first + count; used = lanes.nextSetBit(first)) {
            first = (used / multiple + 1) * multiple;
        }
        lanes.set(first, first + count);
        return first;
    }

    /** Gives lanes back whose work is over. */
    void giveLanes(int first, int count) {
        lanes.clear(first, first + count);
    }

    @Override
    public EventDriver createEvent(EventOptions options) {
        platform.enter("create event");
        try {
            faults.requireAlive("create event");
            return new SimEvent(this);
        } finally {
            platform.leave();
        }
    }

    @Override
    public void synchronize() {
        platform.enter("synchronize");
        try {
            for (SimStream stream : List.copyOf(streams)) {
                platform.await("synchronize", this, stream.tail());
            }
            platform.await("synchronize", this, null);
            for (SimStream stream : streams) {
                SimStream.throwToWaiter("synchronize", stream, stream.failure());
            }
            if (unreported != null) {
                AcceleratorException cause = unreported;
                unreported = null;
                throw new AcceleratorException(
                        ErrorCode.STREAM_FAILED,
                        "synchronize",
                        "a stream of device " + ordinal + " that is closed by now had failed: " + cause.getMessage(),
                        cause);
            }
        } finally {
            platform.leave();
        }
    }

    // Peers.

    @Override
    public boolean canAccess(DeviceDriver peer) {
        int other = ((SimDevice) peer).ordinal;
        return other != ordinal && platform.machine().route(ordinal, other).addressable();
    }

    @Override
    public void enablePeerAccess(DeviceDriver peer) {
        platform.enter("enable peer access");
        try {
            int other = ((SimDevice) peer).ordinal;
            if (!canAccess(peer)) {
                throw new AcceleratorException(
                        ErrorCode.PEER_ACCESS,
                        "enable peer access",
                        "device " + ordinal + " cannot address the memory of device " + other);
            }
            if (access.get(other)) {
                throw new AcceleratorException(
                        ErrorCode.INVALID_STATE,
                        "enable peer access",
                        "device " + ordinal + " has access to device " + other + " already");
            }
            access.set(other);
        } finally {
            platform.leave();
        }
    }

    @Override
    public void disablePeerAccess(DeviceDriver peer) {
        platform.enter("disable peer access");
        try {
            int other = ((SimDevice) peer).ordinal;
            if (!access.get(other)) {
                throw new AcceleratorException(
                        ErrorCode.INVALID_STATE,
                        "disable peer access",
                        "device " + ordinal + " has no access to device " + other);
            }
            access.clear(other);
        } finally {
            platform.leave();
        }
    }

    // Ends.

    /** The device is gone: all its streams fail, and so does every later call. */
    void lose(AcceleratorException cause) {
        faults.lose(cause);
        for (SimStream stream : streams) {
            stream.fail(cause);
        }
    }

    /** A stream was closed after a failure that nobody was told of. */
    void noteUnreported(AcceleratorException cause) {
        if (unreported == null) {
            unreported = cause;
        }
    }

    /** Releases all memory. */
    void releaseAll() {
        allocations.forEach(SimMemory::release);
        allocations.clear();
        streams.clear();
    }
}

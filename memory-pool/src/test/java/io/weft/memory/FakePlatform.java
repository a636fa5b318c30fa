// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.DeviceProperties;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.Figures;
import io.weft.api.MemoryInfo;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.PlatformProperties;
import io.weft.api.PlatformUri;
import io.weft.api.Priority;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.VirtualMemoryDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A platform whose streams move only when the test says so. Work is a count: {@link FakeStream#issue} adds some, {@link FakeStream#complete} finishes it.
 * Memory is real bytes up to a limit, so that guards and poison can be seen; with {@code hollow} it is mere numbers.
 */
final class FakePlatform implements PlatformDriver {
    static final long PAGE = 2L << 20;

    final List<FakeDevice> devices = new ArrayList<>();
    final Platform platform;
    final boolean virtual;
    final boolean hollow;
    long now = 1_000_000_000;

    FakePlatform(int count, long memoryBytes, boolean virtual, boolean hollow) {
        this.virtual = virtual;
        this.hollow = hollow;
        for (int i = 0; i < count; i++) {
            devices.add(new FakeDevice(this, i, memoryBytes));
        }
        platform = new Platform(new PlatformUri("fake", "test", Map.of()), this);
    }

    @Override
    public PlatformProperties properties() {
        return new PlatformProperties("fake", "test", Figures.MODEL, Map.of());
    }

    @Override
    public List<? extends DeviceDriver> devices() {
        return devices;
    }

    @Override
    public Topology topology() {
        List<Link> links = new ArrayList<>();
        for (int from = 0; from < devices.size(); from++) {
            for (int to = 0; to < devices.size(); to++) {
                links.add(new Link(
                        from, to, from == to ? LinkKind.SELF : LinkKind.FABRIC, "fake", 1, 1, 1, 1, true, true));
            }
        }
        return new Topology(devices.size(), links, new int[devices.size()]);
    }

    @Override
    public Set<Capability> capabilities() {
        Set<Capability> all = EnumSet.of(Capability.SYMMETRIC_MEMORY);
        if (!hollow) {
            all.add(Capability.STORAGE);
        }
        if (virtual) {
            all.add(Capability.VIRTUAL_MEMORY);
        }
        return all;
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        if (type == VirtualMemoryDriver.class && virtual) {
            return Optional.of(type.cast(new FakeVirtualMemory()));
        }
        if (type == SymmetricMemoryDriver.class) {
            return Optional.of(type.cast(new FakeSymmetricMemory()));
        }
        return Optional.empty();
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public void close() {}

    static final class FakeMemory implements DeviceMemory {
        final FakeDevice device;
        final MemoryKind kind;
        final long bytes;
        final long address;
        final MemorySegment storage;
        final BitSet mapped;
        boolean freed;

        FakeMemory(FakeDevice device, MemoryKind kind, long bytes, boolean range) {
            this.device = device;
            this.kind = kind;
            this.bytes = bytes;
            this.address = device.nextAddress;
            device.nextAddress += (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
            this.mapped = range ? new BitSet() : null;
            this.storage =
                    device.owner.hollow || bytes > (256L << 20) ? null : MemorySegment.ofArray(new byte[(int) bytes]);
        }

        @Override
        public DeviceDriver device() {
            return device;
        }

        @Override
        public MemoryKind kind() {
            return kind;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public long address() {
            return address;
        }

        @Override
        public Optional<MemorySegment> hostSegment() {
            return kind == MemoryKind.HOST_PINNED ? Optional.ofNullable(storage) : Optional.empty();
        }
    }

    static final class FakeDevice implements DeviceDriver {
        final FakePlatform owner;
        final int ordinal;
        final long memoryBytes;
        final List<FakeStream> streams = new ArrayList<>();
        final FakeStream defaultStream;
        long nextAddress = 1L << 32;
        long held;
        int allocations;
        int frees;
        int openEvents;

        FakeDevice(FakePlatform owner, int ordinal, long memoryBytes) {
            this.owner = owner;
            this.ordinal = ordinal;
            this.memoryBytes = memoryBytes;
            this.defaultStream = new FakeStream(this);
        }

        @Override
        public DeviceProperties properties() {
            return new DeviceProperties(
                    ordinal, "fake", "fake", 1, memoryBytes, 1e12, Map.of(), Set.of(), 1, 4, 1, 512, "", 0, Map.of());
        }

        @Override
        public synchronized DeviceMemory allocate(MemoryKind kind, long bytes) {
            take(bytes);
            return new FakeMemory(this, kind, bytes, false);
        }

        void take(long bytes) {
            if (held + bytes > memoryBytes) {
                throw new AcceleratorException(ErrorCode.OUT_OF_MEMORY, "allocate", "the fake device is full");
            }
            held += bytes;
            allocations++;
        }

        @Override
        public synchronized void free(DeviceMemory memory) {
            FakeMemory fake = (FakeMemory) memory;
            if (fake.freed) {
                throw new IllegalStateException("freed twice");
            }
            fake.freed = true;
            if (fake.mapped == null) {
                held -= memory.bytes();
                frees++;
            } else if (!fake.mapped.isEmpty()) {
                throw new IllegalStateException("a range is freed with pages mapped");
            }
        }

        @Override
        public MemoryInfo memoryInfo() {
            return new MemoryInfo(memoryBytes, memoryBytes - held);
        }

        @Override
        public StreamDriver defaultStream() {
            return defaultStream;
        }

        @Override
        public synchronized StreamDriver createStream(StreamOptions options) {
            FakeStream stream = new FakeStream(this);
            streams.add(stream);
            return stream;
        }

        @Override
        public synchronized EventDriver createEvent(EventOptions options) {
            openEvents++;
            return new FakeEvent(this);
        }

        @Override
        public void write(DeviceMemory destination, long offset, MemorySegment source) {
            ((FakeMemory) destination)
                    .storage
                    .asSlice(offset, source.byteSize())
                    .copyFrom(source);
        }

        @Override
        public void read(MemorySegment destination, DeviceMemory source, long offset) {
            destination.copyFrom(((FakeMemory) source).storage.asSlice(offset, destination.byteSize()));
        }

        @Override
        public boolean canAccess(DeviceDriver peer) {
            return true;
        }

        @Override
        public void enablePeerAccess(DeviceDriver peer) {}

        @Override
        public void disablePeerAccess(DeviceDriver peer) {}

        @Override
        public synchronized void synchronize() {
            streams.forEach(FakeStream::completeAll);
            defaultStream.completeAll();
        }
    }

    static final class FakeStream implements StreamDriver {
        final FakeDevice device;
        long issued;
        long completed;
        boolean closed;
        int waits;

        FakeStream(FakeDevice device) {
            this.device = device;
        }

        synchronized long issue() {
            return ++issued;
        }

        synchronized void complete(long upTo) {
            completed = Math.max(completed, Math.min(upTo, issued));
        }

        synchronized void completeAll() {
            completed = issued;
        }

        synchronized boolean isDone(long work) {
            return completed >= work;
        }

        @Override
        public DeviceDriver device() {
            return device;
        }

        @Override
        public Enqueue enqueue(Command command) {
            issue();
            if (command instanceof Command.Copy copy && !device.owner.hollow) {
                Buffer from = (Buffer) copy.source().memory();
                Buffer to = (Buffer) copy.destination().memory();
                MemorySegment.copy(
                        ((FakeMemory) from.memory()).storage,
                        from.base() + copy.source().offset(),
                        ((FakeMemory) to.memory()).storage,
                        to.base() + copy.destination().offset(),
                        copy.source().bytes());
            }
            return Enqueue.ACCEPTED;
        }

        @Override
        public synchronized void record(EventDriver event) {
            if (closed) {
                throw new IllegalStateException("an event is recorded on a closed stream");
            }
            FakeEvent fake = (FakeEvent) event;
            if (fake.device != device) {
                throw new IllegalStateException("an event of another device is recorded");
            }
            fake.stream = this;
            fake.at = issued;
        }

        @Override
        public void waitFor(EventDriver event) {
            // The wait itself is modelled as the other stream being done: nothing of the fake runs on its own.
            waits++;
            FakeEvent fake = (FakeEvent) event;
            if (fake.stream != null) {
                fake.stream.complete(fake.at);
            }
        }

        @Override
        public boolean query() {
            return completed == issued;
        }

        @Override
        public void synchronize() {
            completeAll();
        }

        @Override
        public Priority effectivePriority() {
            return Priority.NORMAL;
        }

        @Override
        public void close() {
            completeAll();
            closed = true;
        }
    }

    static final class FakeEvent implements EventDriver {
        final FakeDevice device;
        FakeStream stream;
        long at;

        FakeEvent(FakeDevice device) {
            this.device = device;
        }

        @Override
        public DeviceDriver device() {
            return device;
        }

        @Override
        public boolean query() {
            return stream == null || stream.isDone(at);
        }

        @Override
        public void synchronize() {
            if (stream != null) {
                stream.complete(at);
            }
        }

        @Override
        public double timestampNanos() {
            return 0;
        }

        @Override
        public void close() {
            device.openEvents--;
        }
    }

    private static final class FakeVirtualMemory implements VirtualMemoryDriver {
        @Override
        public long pageBytes() {
            return PAGE;
        }

        @Override
        public DeviceMemory reserve(DeviceDriver device, long bytes) {
            return new FakeMemory((FakeDevice) device, MemoryKind.DEVICE, bytes, true);
        }

        @Override
        public void map(DeviceMemory range, long offset, long bytes) {
            FakeMemory fake = (FakeMemory) range;
            for (int page = (int) (offset / PAGE); page < (offset + bytes) / PAGE; page++) {
                if (fake.mapped.get(page)) {
                    throw new IllegalStateException("page " + page + " is mapped twice");
                }
            }
            fake.device.take(bytes);
            fake.mapped.set((int) (offset / PAGE), (int) ((offset + bytes) / PAGE));
        }

        @Override
        public void unmap(DeviceMemory range, long offset, long bytes) {
            FakeMemory fake = (FakeMemory) range;
            for (int page = (int) (offset / PAGE); page < (offset + bytes) / PAGE; page++) {
                if (!fake.mapped.get(page)) {
                    throw new IllegalStateException("page " + page + " is not mapped");
                }
            }
            fake.mapped.clear((int) (offset / PAGE), (int) ((offset + bytes) / PAGE));
            fake.device.held -= bytes;
            fake.device.frees++;
        }
    }

    private static final class FakeSymmetricMemory implements SymmetricMemoryDriver {
        @Override
        public long windowAlignment() {
            return 4096;
        }

        @Override
        public List<? extends DeviceMemory> reserve(List<? extends DeviceDriver> devices, long bytes) {
            return devices.stream()
                    .map(device -> device.allocate(MemoryKind.DEVICE, bytes))
                    .toList();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.MemoryKind;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.EventDriver;
import io.weft.spi.FaultDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.PerformanceModel;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.VirtualMemoryDriver;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The contract of the SPI, checked from outside: handles alive and of the right platform, ranges inside allocations, answers that keep their promises. */
final class ContractObserver implements DriverObserver {
    /** Which extension each capability promises. */
    private static final Map<Capability, Class<?>> EXTENSIONS = new EnumMap<>(Map.of(
            Capability.COLLECTIVES, CollectiveDriver.class,
            Capability.SYMMETRIC_MEMORY, SymmetricMemoryDriver.class,
            Capability.VIRTUAL_MEMORY, VirtualMemoryDriver.class,
            Capability.DEVICE_GRAPHS, GraphDriver.class,
            Capability.PERFORMANCE_MODEL, PerformanceModel.class,
            Capability.FAULT_INJECTION, FaultDriver.class));

    private final Set<DeviceMemory> memories = identitySet();
    private final Set<Object> handles = identitySet();

    private static <T> Set<T> identitySet() {
        return Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    @Override
    public void opened(PlatformDriver platform) {
        EXTENSIONS.forEach((capability, type) -> {
            boolean declared = platform.capabilities().contains(capability);
            boolean present = platform.extension(type).isPresent();
            if (declared != present) {
                throw broken(
                        "open",
                        capability + " is " + (declared ? "declared" : "not declared") + " and its extension "
                                + type.getSimpleName() + " is " + (present ? "present" : "missing"));
            }
        });
        int ordinal = 0;
        for (DeviceDriver device : platform.devices()) {
            long alignment = device.properties().allocationAlignment();
            if (device.properties().ordinal() != ordinal) {
                throw broken(
                        "open",
                        "device " + ordinal + " says that its ordinal is "
                                + device.properties().ordinal());
            }
            if (alignment < 128 || Long.bitCount(alignment) != 1) {
                throw broken(
                        "open",
                        "device " + ordinal + " aligns to " + alignment
                                + " bytes, which is no power of two of at least 128");
            }
            handles.add(device.defaultStream());
            ordinal++;
        }
        if (platform.topology().devices() != ordinal) {
            throw broken(
                    "open",
                    "the topology has " + platform.topology().devices() + " devices and the platform " + ordinal);
        }
    }

    @Override
    public void beforeAllocate(DeviceDriver device, MemoryKind kind, long bytes) {
        if (bytes < 1) {
            throw AcceleratorException.invalid("allocate", "size must be at least 1 byte, not " + bytes);
        }
    }

    @Override
    public void allocated(DeviceDriver device, DeviceMemory memory) {
        long alignment = device.properties().allocationAlignment();
        if (memory.address() % alignment != 0) {
            throw broken(
                    "allocate",
                    "address 0x" + Long.toHexString(memory.address()) + " is not a multiple of " + alignment);
        }
        synchronized (memories) {
            for (DeviceMemory other : memories) {
                boolean apart = memory.address() + memory.bytes() <= other.address()
                        || other.address() + other.bytes() <= memory.address();
                if (other.device().equals(memory.device()) && !apart) {
                    throw broken(
                            "allocate",
                            "the new allocation at 0x" + Long.toHexString(memory.address()) + " overlaps a live one");
                }
            }
            memories.add(memory);
        }
    }

    @Override
    public void beforeFree(DeviceDriver device, DeviceMemory memory) {
        if (!memories.remove(memory)) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "free",
                    "the memory at 0x" + Long.toHexString(memory.address()) + " is not live: double or foreign free");
        }
    }

    @Override
    public void beforeWrite(DeviceDriver device, DeviceMemory destination, long offset, long bytes) {
        range("write", destination, offset, bytes);
    }

    @Override
    public void beforeRead(DeviceDriver device, DeviceMemory source, long offset, long bytes) {
        range("read", source, offset, bytes);
    }

    private void range(String operation, DeviceMemory memory, long offset, long bytes) {
        if (offset < 0 || bytes > memory.bytes() - offset) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    operation,
                    bytes + " bytes at " + offset + " do not fit an allocation of " + memory.bytes());
        }
    }

    @Override
    public void streamCreated(StreamDriver stream, StreamOptions options) {
        handles.add(stream);
    }

    @Override
    public void beforeStreamClose(StreamDriver stream) {
        closing("stream", stream);
    }

    @Override
    public void eventCreated(EventDriver event, EventOptions options) {
        handles.add(event);
    }

    @Override
    public void beforeEventClose(EventDriver event) {
        closing("event", event);
    }

    @Override
    public void communicatorCreated(CommunicatorDriver communicator, int size) {
        handles.add(communicator);
    }

    @Override
    public void beforeCommunicatorClose(CommunicatorDriver communicator) {
        closing("communicator", communicator);
    }

    @Override
    public void beforeEnqueue(StreamDriver stream, Command command) {
        alive("stream", stream);
        if (command instanceof Command.Collective) {
            throw AcceleratorException.invalid("enqueue", "a collective is issued through its communicator");
        }
        command.reads().forEach(this::operand);
        command.writes().forEach(this::operand);
    }

    private void operand(BufferView view) {
        if (!(view.memory() instanceof Buffer buffer)) {
            throw AcceleratorException.invalid("enqueue", "an operand is a graph slot; streams need buffers");
        }
        range("enqueue", buffer.memory(), buffer.base() + view.offset(), view.end() - view.offset());
    }

    @Override
    public void beforeRecord(StreamDriver stream, EventDriver event) {
        alive("stream", stream);
        alive("event", event);
    }

    @Override
    public void beforeWait(StreamDriver stream, EventDriver event) {
        alive("stream", stream);
        alive("event", event);
    }

    @Override
    public void beforeCollective(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
        alive("communicator", communicator);
        group.forEach(part -> alive("stream", part.stream()));
    }

    private void alive(String what, Object handle) {
        if (!handles.contains(handle)) {
            throw new AcceleratorException(
                    ErrorCode.CLOSED, what, "the " + what + " was closed before or belongs to another platform");
        }
    }

    private void closing(String what, Object handle) {
        if (!handles.remove(handle)) {
            throw new AcceleratorException(
                    ErrorCode.CLOSED, "close", "the " + what + " was closed before or belongs to another platform");
        }
    }

    private static AcceleratorException broken(String operation, String message) {
        return new AcceleratorException(ErrorCode.INTERNAL, operation, "the backend breaks the SPI: " + message);
    }
}

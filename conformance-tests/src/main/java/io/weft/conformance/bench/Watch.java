// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.bench;

import io.weft.api.EventOptions;
import io.weft.api.MemoryKind;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import io.weft.spi.decorator.DriverObserver;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Sees what goes to the backend: what each device was last asked for, which a hang is explained with, and which handles are open. */
public final class Watch implements DriverObserver {
    private final Map<Integer, String> last = new TreeMap<>();
    private final IdentityHashMap<Object, String> open = new IdentityHashMap<>();

    /** What each device was last asked for, one line each. */
    public List<String> lastCalls() {
        synchronized (open) {
            List<String> lines = new ArrayList<>();
            last.forEach((device, call) -> lines.add("device " + device + " was last asked for: " + call));
            return lines;
        }
    }

    /** What is open, in words. */
    public List<String> openHandles() {
        synchronized (open) {
            return List.copyOf(open.values());
        }
    }

    /** Forgets what was asked for and what is open. */
    public void forget() {
        synchronized (open) {
            last.clear();
            open.clear();
        }
    }

    private void note(DeviceDriver device, String call) {
        synchronized (open) {
            last.put(device.properties().ordinal(), call);
        }
    }

    private void opened(Object handle, String what) {
        synchronized (open) {
            open.put(handle, what);
        }
    }

    private void closed(Object handle) {
        synchronized (open) {
            open.remove(handle);
        }
    }

    @Override
    public void beforeAllocate(DeviceDriver device, MemoryKind kind, long bytes) {
        note(device, "allocate " + bytes + " bytes of " + kind);
    }

    @Override
    public void allocated(DeviceDriver device, DeviceMemory memory) {
        opened(memory, memory.bytes() + " bytes of " + memory.kind() + " memory");
    }

    @Override
    public void beforeFree(DeviceDriver device, DeviceMemory memory) {
        note(device, "free " + memory.bytes() + " bytes");
        closed(memory);
    }

    @Override
    public void beforeWrite(DeviceDriver device, DeviceMemory destination, long offset, long bytes) {
        note(device, "host write of " + bytes + " bytes");
    }

    @Override
    public void beforeRead(DeviceDriver device, DeviceMemory source, long offset, long bytes) {
        note(device, "host read of " + bytes + " bytes");
    }

    @Override
    public void streamCreated(StreamDriver stream, StreamOptions options) {
        note(stream.device(), "create a stream");
        opened(stream, "stream");
    }

    @Override
    public void beforeStreamClose(StreamDriver stream) {
        note(stream.device(), "close a stream");
        closed(stream);
    }

    @Override
    public void eventCreated(EventDriver event, EventOptions options) {
        opened(event, "event");
    }

    @Override
    public void beforeEventClose(EventDriver event) {
        closed(event);
    }

    @Override
    public void beforeEnqueue(StreamDriver stream, Command command) {
        note(stream.device(), "enqueue " + command.getClass().getSimpleName());
    }

    @Override
    public void enqueued(StreamDriver stream, Command command, Enqueue result) {
        if (result == Enqueue.QUEUE_FULL) {
            note(stream.device(), "enqueue " + command.getClass().getSimpleName() + ", which found a full queue");
        }
    }

    @Override
    public void beforeRecord(StreamDriver stream, EventDriver event) {
        note(stream.device(), "record an event");
    }

    @Override
    public void beforeWait(StreamDriver stream, EventDriver event) {
        note(stream.device(), "wait for an event");
    }

    @Override
    public void synchronizedStream(StreamDriver stream) {
        note(stream.device(), "synchronize a stream, which returned");
    }

    @Override
    public void communicatorCreated(CommunicatorDriver communicator, int size) {
        opened(communicator, "communicator of " + size + " ranks");
    }

    @Override
    public void beforeCommunicatorClose(CommunicatorDriver communicator) {
        closed(communicator);
    }

    @Override
    public void beforeCollective(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
        for (CollectiveDriver.Part part : group) {
            Command.Collective command = part.command();
            note(
                    part.stream().device(),
                    command.kind() + " as rank " + command.rank() + " of " + command.ranks() + ", count "
                            + command.count());
        }
    }

    @Override
    public void beforeLaunch(CommandGraph graph) {
        synchronized (open) {
            for (Map.Entry<Integer, String> entry : last.entrySet()) {
                entry.setValue("launch of a graph of " + graph.size() + " nodes");
            }
        }
    }

    @Override
    public void beforeClose(PlatformDriver platform) {
        forget();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.BufferView;
import io.weft.api.EventOptions;
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
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** Says in one line what each call was. Handles are numbered in the order of their first appearance. */
final class TraceObserver implements DriverObserver {
    private final PlatformDriver platform;
    private final Consumer<String> sink;
    private final long start;
    private final IdentityHashMap<Object, String> names = new IdentityHashMap<>();

    TraceObserver(PlatformDriver platform, Consumer<String> sink) {
        this.platform = platform;
        this.sink = sink;
        this.start = platform.nanoTime();
    }

    @Override
    public void opened(PlatformDriver opened) {
        line("open " + opened.properties().machine() + " with "
                + opened.devices().size() + " devices");
    }

    @Override
    public void allocated(DeviceDriver device, DeviceMemory memory) {
        line("allocate " + memory.bytes() + " " + memory.kind() + " on device "
                + device.properties().ordinal() + " -> 0x" + Long.toHexString(memory.address()));
    }

    @Override
    public void beforeFree(DeviceDriver device, DeviceMemory memory) {
        line("free 0x" + Long.toHexString(memory.address()));
    }

    @Override
    public void streamCreated(StreamDriver stream, StreamOptions options) {
        line("create " + name("stream", stream) + " on device "
                + stream.device().properties().ordinal() + " " + options.priority());
    }

    @Override
    public void beforeStreamClose(StreamDriver stream) {
        line("close " + name("stream", stream));
    }

    @Override
    public void eventCreated(EventDriver event, EventOptions options) {
        line("create " + name("event", event));
    }

    @Override
    public void beforeEventClose(EventDriver event) {
        line("close " + name("event", event));
    }

    @Override
    public void enqueued(StreamDriver stream, Command command, Enqueue result) {
        line(name("stream", stream) + " " + describe(command) + " " + result);
    }

    @Override
    public void beforeRecord(StreamDriver stream, EventDriver event) {
        line(name("stream", stream) + " record " + name("event", event));
    }

    @Override
    public void beforeWait(StreamDriver stream, EventDriver event) {
        line(name("stream", stream) + " wait " + name("event", event));
    }

    @Override
    public void synchronizedStream(StreamDriver stream) {
        line(name("stream", stream) + " synchronized");
    }

    @Override
    public void communicatorCreated(CommunicatorDriver communicator, int size) {
        line("create " + name("communicator", communicator) + " of " + size + " ranks");
    }

    @Override
    public void beforeCollective(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
        for (CollectiveDriver.Part part : group) {
            line(name("communicator", communicator) + " rank " + part.command().rank() + " " + describe(part.command())
                    + " on " + name("stream", part.stream()));
        }
    }

    @Override
    public void beforeLaunch(CommandGraph graph) {
        line("launch graph of " + graph.size() + " nodes on " + graph.deviceCount() + " devices");
    }

    @Override
    public void beforeClose(PlatformDriver closing) {
        line("close " + closing.properties().machine());
    }

    private static String describe(Command command) {
        return switch (command) {
            case Command.Copy copy -> "copy " + copy.source().bytes() + " bytes " + copy.method();
            case Command.CopyStrided copy -> "strided copy " + shape(copy.source()) + " " + copy.method();
            case Command.Fill fill -> "fill " + shape(fill.destination());
            case Command.Gemm gemm ->
                "gemm [" + gemm.m() + ", " + gemm.n() + ", " + gemm.k() + "] x " + gemm.batch() + " "
                        + gemm.a().type();
            case Command.Reduce reduce -> "reduce " + reduce.inputs().size() + " x " + shape(reduce.destination());
            case Command.Collective part ->
                part.kind() + " of " + part.count() + (part.type() == null ? "" : " " + part.type());
        };
    }

    private static String shape(BufferView view) {
        return "[" + view.rows() + ", " + view.columns() + "] " + view.type();
    }

    private String name(String kind, Object handle) {
        synchronized (names) {
            return names.computeIfAbsent(handle, ignored -> kind + " " + names.size());
        }
    }

    private void line(String text) {
        sink.accept(String.format(Locale.ROOT, "[weft %12.3f us] %s", (platform.nanoTime() - start) / 1e3, text));
    }
}

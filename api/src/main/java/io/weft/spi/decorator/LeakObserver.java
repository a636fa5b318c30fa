// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.decorator;

import io.weft.api.EventOptions;
import io.weft.api.StreamOptions;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.EventDriver;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Consumer;

/** Remembers what is open and where it was opened. */
final class LeakObserver implements DriverObserver {
    private static final StackWalker WALKER = StackWalker.getInstance();

    private record Opened(long number, String what, String site) {}

    private final IdentityHashMap<Object, Opened> open = new IdentityHashMap<>();
    private final Consumer<String> report;
    private long count;

    LeakObserver(Consumer<String> report) {
        this.report = report;
    }

    @Override
    public void allocated(DeviceDriver device, DeviceMemory memory) {
        opened(
                memory,
                memory.bytes() + " bytes of " + memory.kind() + " memory on device "
                        + device.properties().ordinal());
    }

    @Override
    public void beforeFree(DeviceDriver device, DeviceMemory memory) {
        closed(memory);
    }

    @Override
    public void streamCreated(StreamDriver stream, StreamOptions options) {
        opened(
                stream,
                "stream " + options.name() + " on device "
                        + stream.device().properties().ordinal());
    }

    @Override
    public void beforeStreamClose(StreamDriver stream) {
        closed(stream);
    }

    @Override
    public void eventCreated(EventDriver event, EventOptions options) {
        opened(event, "event on device " + event.device().properties().ordinal());
    }

    @Override
    public void beforeEventClose(EventDriver event) {
        closed(event);
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
    public void beforeClose(PlatformDriver platform) {
        List<Opened> left;
        synchronized (open) {
            left = new ArrayList<>(open.values());
            open.clear();
        }
        left.sort((a, b) -> Long.compare(a.number(), b.number()));
        left.forEach(leak -> report.accept("leak: " + leak.what() + ", opened at " + leak.site()));
    }

    private void opened(Object handle, String what) {
        String site = WALKER.walk(
                frames -> frames.filter(frame -> !frame.getClassName().startsWith("io.weft.api.")
                                && !frame.getClassName().startsWith("io.weft.spi."))
                        .findFirst()
                        .map(frame -> frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber())
                        .orElse("unknown"));
        synchronized (open) {
            open.put(handle, new Opened(count++, what, site));
        }
    }

    private void closed(Object handle) {
        synchronized (open) {
            open.remove(handle);
        }
    }
}

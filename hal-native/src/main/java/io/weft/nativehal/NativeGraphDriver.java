// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.nativehal.driver.GraphCapture;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphPreparations;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Runs whole graphs, over one or several devices, as one launch of a captured graph. A graph is checked when it is prepared and captured when it is launched, as captures hold addresses. */
final class NativeGraphDriver implements GraphDriver {
    private final NativePlatform platform;
    private final GraphCapture capture;
    private final Set<NativeGraphExecutable> open = ConcurrentHashMap.newKeySet();

    NativeGraphDriver(NativePlatform platform, GraphCapture capture) {
        this.platform = platform;
        this.capture = capture;
    }

    @Override
    public NativeGraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices) {
        return instantiate(graph, devices, false);
    }

    @Override
    public NativeGraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices, boolean timed) {
        List<NativeDevice> real = devices(graph, devices);
        GraphPreparations.requireCommands(
                graph,
                real,
                (from, to) ->
                        platform.copyable(real.get(from).ordinal(), real.get(to).ordinal()),
                (command, device) -> {
                    if (command instanceof Command.Collective part) {
                        platform.vendor()
                                .collectives()
                                .ifPresent(library -> CommunicatorState.requireType(library, part));
                    }
                });
        boolean stamps =
                timed && capture.hasTimedGraphs() && platform.vendor().runtime().hasTiming();
        NativeGraphExecutable executable =
                new NativeGraphExecutable(this, platform, capture, new GraphPlan(graph), real, stamps);
        open.add(executable);
        return executable;
    }

    void forget(NativeGraphExecutable executable) {
        open.remove(executable);
    }

    void close() {
        List.copyOf(open).forEach(NativeGraphExecutable::close);
    }

    private List<NativeDevice> devices(CommandGraph graph, List<? extends DeviceDriver> devices) {
        GraphPreparations.requireDevices(graph, devices);
        List<NativeDevice> real = new ArrayList<>(devices.size());
        for (DeviceDriver driver : devices) {
            real.add(platform.own("instantiate graph", driver));
        }
        return real;
    }
}

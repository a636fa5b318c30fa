// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.nativehal.driver.GraphCapture;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GraphDriver;
import java.util.ArrayList;
import java.util.HashSet;
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
        for (int node = 0; node < graph.size(); node++) {
            try {
                check(graph, node, real);
            } catch (AcceleratorException refused) {
                throw new AcceleratorException(
                        refused.code(),
                        "instantiate graph",
                        "node " + node + " (" + graph.label(node) + "): " + refused.detail(),
                        refused);
            }
        }
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
        if (devices.size() != graph.deviceCount()) {
            throw AcceleratorException.invalid(
                    "instantiate graph", devices.size() + " devices are given for a graph over " + graph.deviceCount());
        }
        List<NativeDevice> real = new ArrayList<>(devices.size());
        Set<NativeDevice> seen = new HashSet<>();
        for (DeviceDriver driver : devices) {
            NativeDevice device = platform.own("instantiate graph", driver);
            if (!seen.add(device)) {
                throw AcceleratorException.invalid(
                        "instantiate graph", "device " + device.ordinal() + " is given twice");
            }
            real.add(device);
        }
        return real;
    }

    private void check(CommandGraph graph, int node, List<NativeDevice> devices) {
        Command command = graph.command(node);
        int index = graph.device(node);
        CommandIssuer.checkNumbers(command);
        switch (command) {
            case Command.Copy copy -> copyable(copy.destination(), copy.source(), index, devices);
            case Command.CopyStrided copy -> copyable(copy.destination(), copy.source(), index, devices);
            case Command.Gemm gemm -> {
                NativeDevice device = devices.get(index);
                if (!device.properties().gemmTypes().contains(gemm.a().type())) {
                    throw new AcceleratorException(
                            ErrorCode.UNSUPPORTED,
                            "gemm",
                            "device " + device.ordinal() + " has no " + gemm.a().type() + " GEMM; it has "
                                    + device.properties().gemmTypes());
                }
                own(command, index);
            }
            case Command.Collective part -> {
                platform.vendor().collectives().ifPresent(library -> CommunicatorState.requireType(library, part));
                own(command, index);
            }
            default -> own(command, index);
        }
    }

    private static void own(Command command, int index) {
        command.reads().forEach(view -> own(view, index));
        command.writes().forEach(view -> own(view, index));
    }

    private static void own(BufferView view, int index) {
        int owner = ((Slot) view.memory()).device();
        if (owner != index) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "graph",
                    "it runs on device " + index + " and uses memory of device " + owner + "; copy it first");
        }
    }

    private void copyable(BufferView destination, BufferView source, int index, List<NativeDevice> devices) {
        int to = ((Slot) destination.memory()).device();
        int from = ((Slot) source.memory()).device();
        if (to != index && from != index) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "copy",
                    "it runs on device " + index + " and copies from device " + from + " to device " + to);
        }
        if (!platform.copyable(devices.get(from).ordinal(), devices.get(to).ordinal())) {
            throw new AcceleratorException(
                    ErrorCode.PEER_ACCESS,
                    "copy",
                    "there is no copy path from device " + devices.get(from).ordinal() + " to device "
                            + devices.get(to).ordinal());
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.graph.CommandGraph;
import io.weft.spi.DeviceDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.GraphPreparations;
import java.util.ArrayList;
import java.util.List;

/** Runs whole graphs. A graph is checked once, when it is prepared; launches only bind it. */
final class SimGraphDriver implements GraphDriver {
    private final SimPlatform platform;

    SimGraphDriver(SimPlatform platform) {
        this.platform = platform;
    }

    @Override
    public GraphExecutable instantiate(CommandGraph graph, List<? extends DeviceDriver> devices) {
        platform.enter("instantiate graph");
        try {
            List<SimDevice> real = devices(graph, devices);
            GraphPreparations.requireCommands(
                    graph,
                    real,
                    (from, to) -> platform.machine()
                            .route(real.get(from).ordinal(), real.get(to).ordinal())
                            .copyable(),
                    (command, device) -> {});
            return new SimGraphExecutable(platform, graph, real, GraphPreparations.collectives(graph));
        } finally {
            platform.leave();
        }
    }

    private List<SimDevice> devices(CommandGraph graph, List<? extends DeviceDriver> devices) {
        GraphPreparations.requireDevices(graph, devices);
        List<SimDevice> real = new ArrayList<>(devices.size());
        for (DeviceDriver driver : devices) {
            if (!(driver instanceof SimDevice device) || device.platform() != platform) {
                throw new AcceleratorException(
                        ErrorCode.WRONG_DEVICE, "instantiate graph", "a device belongs to another platform");
            }
            device.faults().requireAlive("instantiate graph");
            real.add(device);
        }
        return real;
    }
}

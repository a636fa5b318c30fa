// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.Device;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Stream;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Timeline;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.StreamDriver;
import java.util.List;
import java.util.Optional;

/** Launches a graph as one device graph. */
final class DeviceGraphRunner implements GraphRunner {
    private final GraphExecutable executable;
    private final Event[] entered;
    private final Event together;
    private GraphBindings bindings;
    private List<Stream> lastOrder = List.of();

    DeviceGraphRunner(GraphDriver driver, CommandGraph graph, List<Device> devices, boolean timed) {
        executable =
                driver.instantiate(graph, devices.stream().map(Device::driver).toList(), timed);
        entered = new Event[devices.size()];
        for (int device = 0; device < entered.length; device++) {
            entered[device] = devices.get(device).createEvent(EventOptions.untimed());
        }
        together = devices.getFirst().createEvent(EventOptions.untimed());
    }

    @Override
    public void bind(GraphBindings next) {
        next.requireComplete();
        bindings = next;
    }

    @Override
    public void launch(List<Stream> order) {
        if (!executable.joinsDevices()) {
            join(order);
        }
        launchIdle(order);
    }

    @Override
    public void launchIdle(List<Stream> order) {
        List<StreamDriver> drivers = order.stream().map(Stream::driver).toList();
        executable.launch(bindings, drivers);
        lastOrder = order;
    }

    /** One star of events, for a driver that starts each device behind its own stream only. */
    private void join(List<Stream> order) {
        Stream first = order.getFirst();
        for (int device = 1; device < entered.length; device++) {
            order.get(device).record(entered[device]);
            first.waitFor(entered[device]);
        }
        if (entered.length > 1) {
            first.record(together);
            for (int device = 1; device < entered.length; device++) {
                order.get(device).waitFor(together);
            }
        }
    }

    @Override
    public Optional<Timeline> timeline() {
        lastOrder.forEach(Stream::synchronize);
        return executable.lastTimeline();
    }

    @Override
    public void close() {
        lastOrder.forEach(Stream::synchronize);
        executable.close();
        for (Event event : entered) {
            event.close();
        }
        together.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.StreamOptions;
import io.weft.api.graph.CommandGraph;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.EventDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.StreamDriver;
import io.weft.spi.decorator.DriverObserver;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** Enforces what a device has of streams and events, and what operators the library has. Safe for any thread. */
final class BudgetObserver implements DriverObserver {
    private final List<DeviceBudget> budgets = new ArrayList<>();
    private final OperatorRules operators;
    private final boolean composes;
    private final AtomicLong composed = new AtomicLong();
    private final Set<EventDriver> recorded =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
    private final Map<GraphExecutable, int[]> graphs = Collections.synchronizedMap(new IdentityHashMap<>());

    BudgetObserver(HcclFamily family, int devices, boolean composes) {
        for (int device = 0; device < devices; device++) {
            budgets.add(DeviceBudget.of(device, family));
        }
        this.operators = new OperatorRules(family);
        this.composes = composes;
    }

    private DeviceBudget budget(DeviceDriver device) {
        return budgets.get(device.properties().ordinal());
    }

    @Override
    public void streamCreated(StreamDriver stream, StreamOptions options) {
        Budget streams = budget(stream.device()).streams();
        if (!streams.take(1)) {
            stream.close();
            throw noStream("create stream", stream.device(), streams, 1);
        }
    }

    private static AcceleratorException noStream(String operation, DeviceDriver device, Budget streams, int wanted) {
        return HcclFailure.NO_STREAM.of(new AcceleratorException(
                ErrorCode.VENDOR,
                operation,
                "device " + device.properties().ordinal() + " has " + (streams.limit() - streams.used()) + " of its "
                        + streams.limit() + " streams left, and " + wanted
                        + (wanted == 1 ? " is" : " are") + " wanted",
                "close streams, or release prepared graphs, which hold one for each lane",
                null,
                null));
    }

    @Override
    public void beforeStreamClose(StreamDriver stream) {
        budget(stream.device()).streams().give(1);
    }

    @Override
    public void eventCreated(EventDriver event, EventOptions options) {
        // The hardware's number is taken when it is recorded.
    }

    @Override
    public void beforeRecord(StreamDriver stream, EventDriver event) {
        if (!recorded.add(event)) {
            return;
        }
        Budget events = budget(event.device()).events();
        if (!events.take(1)) {
            recorded.remove(event);
            throw HcclFailure.NO_EVENT.of(new AcceleratorException(
                    ErrorCode.VENDOR,
                    "record",
                    "device " + event.device().properties().ordinal() + " has none of its " + events.limit()
                            + " events left",
                    "close events that are not needed any more",
                    null,
                    null));
        }
    }

    @Override
    public void beforeEventClose(EventDriver event) {
        if (recorded.remove(event)) {
            budget(event.device()).events().give(1);
        }
    }

    @Override
    public void graphInstantiated(
            GraphExecutable executable, CommandGraph graph, List<? extends DeviceDriver> devices) {
        int[] wanted = lanes(graph, devices);
        for (int device = 0; device < wanted.length; device++) {
            if (!budgets.get(device).streams().take(wanted[device])) {
                for (int before = 0; before < device; before++) {
                    budgets.get(before).streams().give(wanted[before]);
                }
                executable.close();
                int ordinal = device;
                DeviceDriver shortOne = devices.stream()
                        .filter(one -> one.properties().ordinal() == ordinal)
                        .findFirst()
                        .orElseThrow();
                throw noStream("instantiate", shortOne, budgets.get(device).streams(), wanted[device]);
            }
        }
        graphs.put(executable, wanted);
    }

    /** Streams that a captured graph holds on each device: one for each lane. */
    private int[] lanes(CommandGraph graph, List<? extends DeviceDriver> devices) {
        BitSet[] lanes = new BitSet[budgets.size()];
        int[] count = new int[lanes.length];
        for (int node = 0; node < graph.size(); node++) {
            int device = devices.get(graph.device(node)).properties().ordinal();
            if (lanes[device] == null) {
                lanes[device] = new BitSet();
            }
            lanes[device].set(graph.lane(node));
        }
        for (int device = 0; device < lanes.length; device++) {
            count[device] = lanes[device] == null ? 0 : lanes[device].cardinality();
        }
        return count;
    }

    @Override
    public void beforeGraphClose(GraphExecutable executable) {
        int[] held = graphs.remove(executable);
        if (held != null) {
            for (int device = 0; device < held.length; device++) {
                budgets.get(device).streams().give(held[device]);
            }
        }
    }

    @Override
    public void beforeCollective(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
        for (CollectiveDriver.Part part : group) {
            if (!composes) {
                operators.requireNative(part.command());
            }
            if (operators.isComposed(part.command())) {
                composed.incrementAndGet();
            }
        }
    }

    /** The budgets by device. */
    List<DeviceBudget> budgets() {
        return List.copyOf(budgets);
    }

    /** Parts so far whose operator the library lacks. */
    long composed() {
        return composed.get();
    }
}

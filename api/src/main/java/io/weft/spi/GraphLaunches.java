// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import java.util.List;

/**
 * What every backend has to refuse before it launches a graph, in one place: a vendor's library does not look at it, and writes to memory that is gone. A backend calls it first in {@link GraphExecutable#launch}; what only it can know (closed
 * streams, lost devices) stays its own.
 */
public final class GraphLaunches {
    private static final String OPERATION = "launch graph";

    private GraphLaunches() {}

    /**
     * Checks that bindings and streams fit a prepared graph.
     *
     * @param devices the backend's device for each of the graph's device indices
     * @throws AcceleratorException INVALID_ARGUMENT for the bindings of another graph or a wrong number of streams, INVALID_STATE for a slot without a buffer, CLOSED for a buffer that was closed, WRONG_DEVICE for a buffer or a stream of another
     *     device
     */
    public static void requireFitting(
            CommandGraph graph,
            List<? extends DeviceDriver> devices,
            GraphBindings bindings,
            List<? extends StreamDriver> streams) {
        if (bindings.graph() != graph) {
            throw AcceleratorException.invalid(OPERATION, "the bindings belong to another graph");
        }
        bindings.requireComplete();
        List<Slot> slots = graph.slots();
        for (int i = 0; i < slots.size(); i++) {
            Slot slot = slots.get(i);
            DeviceDriver device = devices.get(slot.device());
            DeviceMemory memory = bindings.require(slot).memory();
            if (!memory.device().equals(device)) {
                throw new AcceleratorException(
                        ErrorCode.WRONG_DEVICE,
                        OPERATION,
                        "slot " + slot.name() + " belongs to device "
                                + device.properties().ordinal() + " and its buffer to device "
                                + bindings.require(slot).device().ordinal());
            }
        }
        if (streams.size() != devices.size()) {
            throw AcceleratorException.invalid(
                    OPERATION, streams.size() + " streams are given for " + devices.size() + " devices");
        }
        for (int i = 0; i < streams.size(); i++) {
            DeviceDriver device = devices.get(i);
            if (!streams.get(i).device().equals(device)) {
                throw new AcceleratorException(
                        ErrorCode.WRONG_DEVICE,
                        OPERATION,
                        "stream " + i + " belongs to device "
                                + streams.get(i).device().properties().ordinal() + ", the graph's device " + i
                                + " is device " + device.properties().ordinal());
            }
        }
    }
}

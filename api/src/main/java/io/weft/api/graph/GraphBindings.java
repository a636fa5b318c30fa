// SPDX-License-Identifier: Apache-2.0
package io.weft.api.graph;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.ErrorCode;
import java.util.Arrays;

/** The buffers that a graph's slots stand for in one run. Not for several threads at once while it is filled. */
public final class GraphBindings {
    private final CommandGraph graph;
    private final Buffer[] buffers;

    /** No slot bound yet. */
    public GraphBindings(CommandGraph graph) {
        this.graph = graph;
        this.buffers = new Buffer[graph.slots().size()];
    }

    /** A copy that can be changed apart from the original. */
    public GraphBindings copy() {
        GraphBindings other = new GraphBindings(graph);
        System.arraycopy(buffers, 0, other.buffers, 0, buffers.length);
        return other;
    }

    /** The graph whose slots these are. */
    public CommandGraph graph() {
        return graph;
    }

    /**
     * Binds a slot.
     *
     * @throws AcceleratorException {@link ErrorCode#OUT_OF_BOUNDS} when the buffer is smaller than the slot
     */
    public GraphBindings bind(Slot slot, Buffer buffer) {
        if (buffer.bytes() < slot.bytes()) {
            throw new AcceleratorException(
                    ErrorCode.OUT_OF_BOUNDS,
                    "bind",
                    "slot " + slot.name() + " of device " + slot.device() + " needs " + slot.bytes()
                            + " bytes and the buffer has " + buffer.bytes());
        }
        buffers[slot.index()] = buffer;
        return this;
    }

    /** The buffer of a slot, or null when it is not bound. */
    public Buffer buffer(int slot) {
        return buffers[slot];
    }

    /**
     * The buffer of a slot.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_STATE} when it is not bound
     */
    public Buffer require(Slot slot) {
        Buffer buffer = buffers[slot.index()];
        if (buffer == null) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_STATE,
                    "bind",
                    "slot " + slot.name() + " of device " + slot.device() + " has no buffer");
        }
        return buffer;
    }

    /** Checks that every slot is bound to an open buffer. */
    public void requireComplete() {
        for (Slot slot : graph.slots()) {
            require(slot).requireOpen("graph launch");
        }
    }

    @Override
    public String toString() {
        return "GraphBindings" + Arrays.toString(buffers);
    }
}

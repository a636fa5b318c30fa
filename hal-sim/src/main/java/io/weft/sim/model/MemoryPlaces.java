// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.Memory;
import io.weft.api.graph.Slot;

/** Tells where a memory lives. Called often; must not allocate. */
@FunctionalInterface
public interface MemoryPlaces {
    /** Pinned host memory. */
    int HOST = -1;

    /** For graphs: a slot lives on its own device. */
    MemoryPlaces OF_SLOTS = memory -> ((Slot) memory).device();

    /** The device's ordinal, or {@link #HOST}. */
    int place(Memory memory);
}

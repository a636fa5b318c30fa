// SPDX-License-Identifier: Apache-2.0
package io.weft.api.graph;

import io.weft.api.Memory;
import java.util.Objects;

/**
 * A buffer to be named when a graph runs. A graph speaks of slots only, so one graph serves many sets of buffers, and can be estimated
 * with no memory at all.
 *
 * @param index position among the graph's slots
 * @param device index of the graph's device (rank) that owns the memory
 * @param name for people, such as {@code A.shard}
 * @param bytes size in bytes
 * @param role what it is for
 */
public record Slot(int index, int device, String name, long bytes, Role role) implements Memory {
    /** What a slot is for. Communication and compute workspaces never share a memory segment. */
    public enum Role {
        /** Given by the caller and only read. */
        INPUT,
        /** Given by the caller and written. */
        OUTPUT,
        /** Workspace that copies and collectives write. */
        COMMUNICATION,
        /** Workspace that only compute writes. */
        COMPUTE;

        /** Whether the executor, not the caller, provides the buffer. */
        public boolean isWorkspace() {
            return this == COMMUNICATION || this == COMPUTE;
        }
    }

    public Slot {
        Objects.requireNonNull(name);
        Objects.requireNonNull(role);
    }
}

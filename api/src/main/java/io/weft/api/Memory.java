// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.api.graph.Slot;

/**
 * Something that a {@link BufferView} can look at: a real {@link Buffer}, or a {@link Slot} of a command graph which a buffer is
 * bound to when the graph runs.
 */
public sealed interface Memory permits Buffer, Slot {
    /** Size in bytes. */
    long bytes();
}

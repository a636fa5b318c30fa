// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.AcceleratorException;

/**
 * Hears what becomes of operations. Called while the runtime advances time, never inside {@code submit}; one call at a time, in the order of virtual time.
 * It may submit and cancel operations, but must not advance time. Of an operation that succeeds, {@link #started} comes before {@link #completed}; whatever
 * depends on it starts after {@code completed} has returned.
 */
public interface RuntimeListener {
    /** Its dependencies are done and it has got its queue or engine: it may read its operands now. */
    default void started(int operation) {}

    /** Its effects are complete. {@link CommandRuntime#startedPs} and {@link CommandRuntime#endedPs} may be asked here. */
    void completed(int operation);

    /** It ended without effect, by an injected fault or because its collective was aborted. Operations after it are released all the same. */
    default void failed(int operation, AcceleratorException cause) {}
}

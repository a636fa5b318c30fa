// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

/** Where an operation stands. */
public enum OperationState {
    /** Something that it depends on, its lane, its queue or its collective's other parts are not there yet. */
    WAITING,
    /** It holds its queue or engine. */
    RUNNING,
    /** Its effects are complete. */
    DONE,
    /** It ended without effect. */
    FAILED,
    /** It was taken back. */
    CANCELLED;

    /** Whether nothing more will happen to it. */
    public boolean isFinal() {
        return this != WAITING && this != RUNNING;
    }
}

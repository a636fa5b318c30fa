// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

/** What became of a request to a group. Every one but {@link #OK} leaves the group as it was. */
public enum GroupResult {
    /** Done. */
    OK,
    /** All semaphores of the group are taken; give one back first. */
    NO_SEMAPHORE,
    /** The event ring is full; the oldest launch must end first. */
    RING_FULL,
    /** The group has as many windows as it may have. */
    NO_WINDOW,
    /** The range lies over a window of the group that is already there. */
    WINDOW_OVERLAP,
    /** The token belongs to another group; groups never give or take one another's resources. */
    FOREIGN,
    /** The token was given back before, or was never handed out. */
    STALE,
    /** The group was closed. */
    CLOSED
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import io.weft.api.AcceleratorException;

/**
 * Something that happens to a path: others' traffic, a link that goes away, or comes back.
 *
 * @param path index of the path
 * @param atNanos from the transfer's start
 * @param share of its bandwidth that is left from then on, 0 (the link is down) to 1
 */
public record PathEvent(int path, double atNanos, double share) {
    public PathEvent {
        if (path < 0 || !(atNanos >= 0) || !(share >= 0 && share <= 1)) {
            throw AcceleratorException.invalid(
                    "path event",
                    "path " + path + " at " + atNanos + " ns with a share of " + share
                            + "; accepted are times of 0 or more and shares of 0 to 1");
        }
    }

    /** The link goes away. */
    public static PathEvent down(int path, double atNanos) {
        return new PathEvent(path, atNanos, 0);
    }

    /** All of the bandwidth is there again. */
    public static PathEvent up(int path, double atNanos) {
        return new PathEvent(path, atNanos, 1);
    }
}

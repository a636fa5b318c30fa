// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import java.util.List;

/** Decides where the next chunk goes: to the path on which it will arrive first. Pure; not for several threads at once. */
final class Striping {
    /** Nothing can take a chunk now. */
    static final int NONE = -1;
    /** Share of a path's bandwidth taken by others from which on it gets one chunk at a time, to learn when it is free again. */
    static final double CONGESTED = 0.7;

    private final List<PathState> paths;

    Striping(List<PathState> paths) {
        this.paths = paths;
    }

    /**
     * The path for a chunk.
     *
     * @param bytes of the chunk
     * @param except a path that shall not have it, or {@link #NONE}
     */
    int choose(long bytes, int except) {
        int best = NONE;
        for (int i = 0; i < paths.size(); i++) {
            if (i != except && takes(i) && (best == NONE || arrival(i, bytes) < arrival(best, bytes))) {
                best = i;
            }
        }
        return best;
    }

    private boolean takes(int path) {
        PathState state = paths.get(path);
        return state.hasRoom() && (state.congestion() < CONGESTED || state.inFlight() == 0);
    }

    private double arrival(int path, long bytes) {
        return paths.get(path).arrivalNanos(bytes);
    }

    /** Whether any path may still carry something, now or later. */
    boolean isHopeless() {
        return paths.stream().allMatch(PathState::isDead);
    }
}

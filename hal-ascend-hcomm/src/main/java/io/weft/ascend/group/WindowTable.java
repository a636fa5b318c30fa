// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

import io.weft.api.AcceleratorException;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/** The memory windows of one group. Two groups may each have a window over the same memory; neither sees the other's. Safe for any thread. */
public final class WindowTable {
    /** Windows of a group; enough for a library's own two buffers, a workspace and a dozen user ranges. */
    public static final int SIZE = 16;

    private final int group;
    private final MemoryWindow[] windows = new MemoryWindow[SIZE];
    private long refused;
    private GroupResult last = GroupResult.OK;

    WindowTable(int group) {
        this.group = group;
    }

    /**
     * Adds a window.
     *
     * @param bytes 1 or more
     * @return the window, or empty when there is no place or it would lie over another, which is counted; {@link #lastResult()} says which
     */
    public synchronized Optional<MemoryWindow> add(long address, long bytes) {
        if (bytes < 1) {
            throw AcceleratorException.invalid("window", "a window must have at least 1 byte, not " + bytes);
        }
        int free = -1;
        for (int i = SIZE - 1; i >= 0; i--) {
            if (windows[i] == null) {
                free = i;
            } else if (windows[i].overlaps(address, bytes)) {
                return refuse(GroupResult.WINDOW_OVERLAP);
            }
        }
        if (free < 0) {
            return refuse(GroupResult.NO_WINDOW);
        }
        windows[free] = new MemoryWindow(group, free, address, bytes);
        last = GroupResult.OK;
        return Optional.of(windows[free]);
    }

    private Optional<MemoryWindow> refuse(GroupResult why) {
        refused++;
        last = why;
        return Optional.empty();
    }

    /** Removes a window: {@link GroupResult#OK}, {@link GroupResult#FOREIGN} or {@link GroupResult#STALE}. */
    public synchronized GroupResult remove(MemoryWindow window) {
        if (window.group() != group) {
            return GroupResult.FOREIGN;
        }
        if (!window.equals(windows[window.index()])) {
            return GroupResult.STALE;
        }
        windows[window.index()] = null;
        return GroupResult.OK;
    }

    /** The window in which a range lies, if any. */
    public synchronized Optional<MemoryWindow> find(long address, long bytes) {
        return Arrays.stream(windows)
                .filter(Objects::nonNull)
                .filter(window -> window.contains(address, bytes))
                .findFirst();
    }

    /** What the last {@link #add} came to. */
    public synchronized GroupResult lastResult() {
        return last;
    }

    /** Windows now. */
    public synchronized int used() {
        return (int) Arrays.stream(windows).filter(Objects::nonNull).count();
    }

    /** How often a window was refused. */
    public synchronized long refused() {
        return refused;
    }
}

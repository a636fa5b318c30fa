// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

import io.weft.api.AcceleratorException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The groups of one device. Safe for any thread. */
public final class GroupTable {
    private final Map<Integer, Group> groups = new LinkedHashMap<>();
    private int numbers;

    /** A table without groups. */
    public GroupTable() {}

    /** Makes a group, which takes nothing from those that are there. */
    public synchronized Group open(String name, int rank, int ranks) {
        if (ranks < 1 || rank < 0 || rank >= ranks) {
            throw AcceleratorException.invalid("group", "rank " + rank + " must lie in 0.." + (ranks - 1));
        }
        Group group = new Group(++numbers, name, rank, ranks);
        groups.put(group.number(), group);
        return group;
    }

    /** Closes a group; later launches are refused. Closing twice is allowed. */
    public synchronized void close(Group group) {
        group.close();
        groups.remove(group.number());
    }

    /** The groups that are open, in the order in which they were made. */
    public synchronized List<GroupStatistics> statistics() {
        return groups.values().stream().map(Group::statistics).toList();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.CollectiveKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The collective library's choices for some operations.
 *
 * @param kinds which operations; empty means all that no other entry names
 * @param ranges by ascending size, the last one serving everything above; or, with {@code fastest}, any ways with the sizes that they serve
 * @param fastest whether the library takes the way that takes the least time on an idle machine, among those that serve a size
 */
public record CollectiveModel(Set<CollectiveKind> kinds, List<CollectiveRange> ranges, boolean fastest) {
    public CollectiveModel {
        kinds = Set.copyOf(kinds);
        ranges = List.copyOf(ranges);
    }

    /** Choices by size alone. */
    public CollectiveModel(Set<CollectiveKind> kinds, List<CollectiveRange> ranges) {
        this(kinds, ranges, false);
    }

    /** The ways among which the library chooses for a size: one, or with {@link #fastest()} one or more. */
    public List<CollectiveRange> ways(long bytes) {
        if (!fastest) {
            for (CollectiveRange range : ranges) {
                if (bytes <= range.maxBytes()) {
                    return List.of(range);
                }
            }
            return List.of(ranges.getLast());
        }
        List<CollectiveRange> ways = new ArrayList<>(ranges.size());
        for (CollectiveRange range : ranges) {
            if (range.serves(bytes)) {
                ways.add(range);
            }
        }
        return ways;
    }
}

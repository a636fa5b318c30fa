// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.CollectiveKind;
import java.util.List;
import java.util.Set;

/**
 * The collective library's choices for some operations.
 *
 * @param kinds which operations; empty means all that no other entry names
 * @param ranges by ascending size; the last one serves everything above
 */
public record CollectiveModel(Set<CollectiveKind> kinds, List<CollectiveRange> ranges) {
    public CollectiveModel {
        kinds = Set.copyOf(kinds);
        ranges = List.copyOf(ranges);
    }

    /** The range of a size. */
    public CollectiveRange range(long bytes) {
        for (CollectiveRange range : ranges) {
            if (bytes <= range.maxBytes()) {
                return range;
            }
        }
        return ranges.get(ranges.size() - 1);
    }
}

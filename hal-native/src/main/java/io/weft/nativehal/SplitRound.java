// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** One split of a communicator, in which every rank takes part by giving a colour. Guarded by the communicator's lock. */
final class SplitRound {
    private final int size;
    private final Map<Integer, Integer> colors = new TreeMap<>();
    private final Map<Integer, Integer> keys = new HashMap<>();
    private final Map<Integer, List<Integer>> groups = new TreeMap<>();
    private Map<Integer, CommunicatorState> made;

    SplitRound(int size) {
        this.size = size;
    }

    /** Whether one of the ranks has given its colour. */
    boolean has(Set<Integer> ranks) {
        return ranks.stream().anyMatch(colors::containsKey);
    }

    void add(Map<Integer, Integer> theirColors, Map<Integer, Integer> theirKeys) {
        colors.putAll(theirColors);
        theirColors.keySet().forEach(rank -> keys.put(rank, theirKeys.getOrDefault(rank, 0)));
    }

    boolean isComplete() {
        return colors.size() == size;
    }

    boolean isFinished() {
        return made != null;
    }

    List<Integer> missing() {
        List<Integer> absent = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            if (!colors.containsKey(rank)) {
                absent.add(rank);
            }
        }
        return absent;
    }

    /** Makes the communicators of all colours, from old ranks in their new order. */
    void finish(Function<Map<Integer, List<Integer>>, Map<Integer, CommunicatorState>> maker) {
        colors.forEach((rank, color) -> {
            if (color >= 0) {
                groups.computeIfAbsent(color, ignored -> new ArrayList<>()).add(rank);
            }
        });
        groups.values()
                .forEach(ranks -> ranks.sort(Comparator.comparing((Integer rank) -> keys.get(rank))
                        .thenComparing(Comparator.naturalOrder())));
        made = maker.apply(groups);
    }

    /** Where ranks went, those that take part. */
    Map<Integer, NativeCommunicator.Place> places(Set<Integer> ranks) {
        Map<Integer, NativeCommunicator.Place> places = new TreeMap<>();
        for (int rank : ranks) {
            int color = colors.get(rank);
            if (color >= 0) {
                places.put(
                        rank,
                        new NativeCommunicator.Place(
                                made.get(color), groups.get(color).indexOf(rank)));
            }
        }
        return places;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** One split of a communicator, as the colours of its ranks come in. Confined to the platform's lock. */
final class SplitRound {
    private final int size;
    private final Map<Integer, Integer> colors = new HashMap<>();
    private final Map<Integer, Integer> keys = new HashMap<>();
    private Map<Integer, CommunicatorState> result;

    SplitRound(int size) {
        this.size = size;
    }

    /** Whether one of these ranks has taken part already. */
    boolean has(Set<Integer> ranks) {
        return ranks.stream().anyMatch(colors::containsKey);
    }

    /** A member gives its ranks' colours. A rank without a key keeps its old order. */
    void add(Map<Integer, Integer> memberColors, Map<Integer, Integer> memberKeys) {
        colors.putAll(memberColors);
        memberColors.keySet().forEach(rank -> keys.put(rank, memberKeys.getOrDefault(rank, 0)));
    }

    boolean isComplete() {
        return colors.size() == size;
    }

    /** Ranks that have not given a colour. */
    List<Integer> missing() {
        List<Integer> absent = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            if (!colors.containsKey(rank)) {
                absent.add(rank);
            }
        }
        return absent;
    }

    /** The old ranks of each colour in their new order. */
    Map<Integer, List<Integer>> groups() {
        Map<Integer, List<Integer>> groups = new TreeMap<>();
        for (int rank = 0; rank < size; rank++) {
            int color = colors.get(rank);
            if (color >= 0) {
                groups.computeIfAbsent(color, ignored -> new ArrayList<>()).add(rank);
            }
        }
        groups.values()
                .forEach(ranks ->
                        ranks.sort(Comparator.<Integer>comparingInt(keys::get).thenComparingInt(rank -> rank)));
        return groups;
    }

    /** The new communicators by colour, null until all colours are known. */
    Map<Integer, CommunicatorState> result() {
        return result;
    }

    void result(Map<Integer, CommunicatorState> made) {
        result = made;
    }
}

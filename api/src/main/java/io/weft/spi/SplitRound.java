// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * One split of a communicator, as the colours of its ranks come in from several callers, in one place for every backend. Not safe for several threads at once: whoever owns it has a lock.
 *
 * @param <C> a backend's communicator
 */
public final class SplitRound<C> {
    private final int size;
    private final Map<Integer, Integer> colors = new HashMap<>();
    private final Map<Integer, Integer> keys = new HashMap<>();
    private Map<Integer, C> made;

    /** A round of a communicator of so many ranks. */
    public SplitRound(int size) {
        this.size = size;
    }

    /** Whether one of these ranks has given its colour; it belongs to a later round then. */
    public boolean has(Set<Integer> ranks) {
        return ranks.stream().anyMatch(colors::containsKey);
    }

    /** Some ranks give their colours, below 0 for none. A rank without a key keeps its old order. */
    public void add(Map<Integer, Integer> theirColors, Map<Integer, Integer> theirKeys) {
        colors.putAll(theirColors);
        theirColors.keySet().forEach(rank -> keys.put(rank, theirKeys.getOrDefault(rank, 0)));
    }

    /** Whether all ranks have given their colours. */
    public boolean isComplete() {
        return colors.size() == size;
    }

    /** Ranks that have not. */
    public List<Integer> missing() {
        List<Integer> absent = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            if (!colors.containsKey(rank)) {
                absent.add(rank);
            }
        }
        return absent;
    }

    /** The old ranks of each colour in their new order, once all colours are known. */
    public Map<Integer, List<Integer>> groups() {
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

    /** The new communicators by colour, null until they were {@link #made(Map) made}. */
    public Map<Integer, C> made() {
        return made;
    }

    /** The communicators of all colours were made. */
    public void made(Map<Integer, C> communicators) {
        made = Map.copyOf(communicators);
    }
}

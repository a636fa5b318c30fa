// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import java.util.List;

/** Names ranks in messages. */
final class Ranks {
    private static final int NAMED = 16;

    private Ranks() {}

    /** Such as {@code rank 3} or {@code ranks 0, 1, 2 and 5}; long lists are cut short. */
    static String name(List<Integer> ranks) {
        if (ranks.size() == 1) {
            return "rank " + ranks.get(0);
        }
        StringBuilder text = new StringBuilder("ranks ");
        int shown = Math.min(ranks.size(), NAMED);
        for (int i = 0; i < shown; i++) {
            boolean last = i == ranks.size() - 1;
            text.append(i == 0 ? "" : last ? " and " : ", ").append(ranks.get(i));
        }
        if (shown < ranks.size()) {
            text.append(" and ").append(ranks.size() - shown).append(" more");
        }
        return text.toString();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Ways over direct xGMI links. The firmware's route between two GPUs without a link of their own is not stated anywhere; the driver's weight gives its length. Of all ways of that
 * length or less the widest is taken, which agrees with every pair of the published MI250 bandwidth matrix: its three-hop pairs go a longer way on double links and are
 * twice as fast as a shorter way on single ones.
 */
final class XgmiRoutes {
    /** No machine has longer ways; it bounds the search on odd files. */
    private static final int MOST_HOPS = 64;

    private final int[][] width;

    /** @param width parallel links of each directed pair, 0 without a link of its own; 1 where the number is not known */
    XgmiRoutes(int[][] width) {
        this.width = width;
    }

    /** The GPUs of a way, its ends among them, of at most so many hops and as wide as can be; the shorter one, and then the one through lower numbers, of equals. Null without one. */
    List<Integer> widest(int from, int to, int hops) {
        int gpus = width.length;
        int limit = Math.min(hops, Math.min(MOST_HOPS, gpus - 1));
        int[][] best = new int[limit + 1][gpus];
        int[][] before = new int[limit + 1][gpus];
        best[0][from] = Integer.MAX_VALUE;
        for (int[] row : before) {
            Arrays.fill(row, -1);
        }
        for (int step = 1; step <= limit; step++) {
            for (int at = 0; at < gpus; at++) {
                for (int next = 0; best[step - 1][at] > 0 && next < gpus; next++) {
                    int narrowest = Math.min(best[step - 1][at], width[at][next]);
                    if (narrowest > best[step][next]) {
                        best[step][next] = narrowest;
                        before[step][next] = at;
                    }
                }
            }
        }
        int chosen = -1;
        for (int step = 1; step <= limit; step++) {
            if (best[step][to] > 0 && (chosen < 0 || best[step][to] > best[chosen][to])) {
                chosen = step;
            }
        }
        if (chosen < 0) {
            return null;
        }
        List<Integer> way = new ArrayList<>(List.of(to));
        int at = to;
        for (int step = chosen; step > 0; step--) {
            at = before[step][at];
            way.addFirst(at);
        }
        return way;
    }

    /** Fewest hops, 0 without a way. */
    int[] fewest(int from) {
        int[] hops = new int[width.length];
        List<Integer> reached = new ArrayList<>(List.of(from));
        for (int i = 0; i < reached.size(); i++) {
            int at = reached.get(i);
            for (int next = 0; next < width.length; next++) {
                if (width[at][next] > 0 && next != from && hops[next] == 0) {
                    hops[next] = hops[at] + 1;
                    reached.add(next);
                }
            }
        }
        return hops;
    }

    /** The narrowest place of a way. */
    int narrowest(List<Integer> way) {
        int narrowest = Integer.MAX_VALUE;
        for (int i = 1; i < way.size(); i++) {
            narrowest = Math.min(narrowest, width[way.get(i - 1)][way.get(i)]);
        }
        return narrowest;
    }
}

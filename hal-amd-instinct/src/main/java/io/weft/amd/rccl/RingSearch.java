// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import io.weft.api.topology.LinkKind;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Lays rings as RCCL does: through every GPU once, over links that there are, no link in more rings than it has lanes of its own. A ring is run in both directions. Where
 * no ring of links leads through all GPUs, as with two hives, one ring goes hive by hive.
 */
public final class RingSearch {
    /** Steps of the search for one ring; with 16 GPUs of a real node a ring is found within hundreds. */
    private static final int MOST_STEPS = 200_000;

    private final int n;
    /** Parallel links that are left for further rings, by pair. */
    private final int[][] left;

    private final boolean[] used;
    private final int[] path;
    private int steps;

    private RingSearch(int[][] widths) {
        n = widths.length;
        left = new int[n][];
        for (int i = 0; i < n; i++) {
            left[i] = widths[i].clone();
        }
        used = new boolean[n];
        path = new int[n];
    }

    /**
     * Rings over links of some widths.
     *
     * @param widths parallel links between two GPUs, 0 where there are none; symmetric
     * @return each ring as its GPUs in order, forward and then backward; empty when fewer than three GPUs, or a full mesh of equal links, which needs no search
     */
    public static List<int[]> rings(int[][] widths) {
        int n = widths.length;
        if (n < 3 || isEvenMesh(widths)) {
            return List.of();
        }
        RingSearch search = new RingSearch(widths);
        List<int[]> rings = new ArrayList<>();
        for (int[] ring = search.next(); ring != null; ring = search.next()) {
            rings.add(ring);
            rings.add(reversed(ring));
        }
        if (rings.isEmpty()) {
            int[] ring = new RingSearch(widths).hiveByHive();
            rings.add(ring);
            rings.add(reversed(ring));
        }
        return rings;
    }

    /** Rings over a machine's own links, not those of PCIe and networks. */
    public static List<int[]> rings(Machine machine) {
        int n = machine.deviceCount();
        int[][] widths = new int[n][n];
        for (LinkModel link : machine.links()) {
            boolean fabric = link.kind() == LinkKind.FABRIC || link.kind() == LinkKind.IN_PACKAGE;
            if (fabric && link.from() < n && link.to() < n) {
                widths[link.from()][link.to()] += link.width();
                widths[link.to()][link.from()] += link.width();
            }
        }
        return rings(widths);
    }

    private static boolean isEvenMesh(int[][] widths) {
        for (int i = 0; i < widths.length; i++) {
            for (int j = 0; j < widths.length; j++) {
                if (i != j && widths[i][j] != widths[0][1]) {
                    return false;
                }
            }
        }
        return widths[0][1] > 0;
    }

    /** The next ring over what links are left, or null. */
    private int[] next() {
        java.util.Arrays.fill(used, false);
        steps = 0;
        path[0] = 0;
        used[0] = true;
        if (!extend(1)) {
            return null;
        }
        int[] ring = path.clone();
        for (int i = 0; i < n; i++) {
            take(ring[i], ring[(i + 1) % n]);
        }
        return ring;
    }

    private void take(int a, int b) {
        left[a][b]--;
        left[b][a]--;
    }

    private boolean extend(int length) {
        if (length == n) {
            return left[path[n - 1]][path[0]] > 0;
        }
        if (++steps > MOST_STEPS) {
            return false;
        }
        int at = path[length - 1];
        for (int to : byWidth(at)) {
            used[to] = true;
            path[length] = to;
            if (extend(length + 1)) {
                return true;
            }
            used[to] = false;
        }
        return false;
    }

    /** GPUs that can come next: the widest links first, so that packages stay together and single links are left for further rings. */
    private List<Integer> byWidth(int at) {
        List<Integer> next = new ArrayList<>();
        for (int to = 0; to < n; to++) {
            if (!used[to] && left[at][to] > 0) {
                next.add(to);
            }
        }
        next.sort((a, b) -> Integer.compare(left[at][b], left[at][a]));
        return next;
    }

    /** One ring that leaves a hive only when all of it was visited. */
    private int[] hiveByHive() {
        java.util.Arrays.fill(used, false);
        List<Integer> order = new ArrayList<>();
        for (int first = 0; first < n; first++) {
            if (!used[first]) {
                int at = first;
                while (at >= 0) {
                    used[at] = true;
                    order.add(at);
                    List<Integer> more = byWidth(at);
                    at = more.isEmpty() ? -1 : more.getFirst();
                }
            }
        }
        return order.stream().mapToInt(Integer::intValue).toArray();
    }

    private static int[] reversed(int[] ring) {
        List<Integer> order = new ArrayList<>();
        for (int device : ring) {
            order.add(device);
        }
        Collections.reverse(order);
        return order.stream().mapToInt(Integer::intValue).toArray();
    }
}

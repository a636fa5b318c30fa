// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import java.util.Arrays;

/**
 * The resources a solve must still look at, ordered by (level, number). A binary heap of primitives with places, so
 * that a level can be lowered.
 */
final class LevelHeap {
    private static final int ABSENT = -1;

    private double[] level = new double[16];
    private int[] resource = new int[16];
    private int[] place = new int[16];
    private int known;
    private int size;

    /** Makes room for resource numbers below {@code count}. */
    void ensure(int count) {
        if (count > place.length) {
            int length = Math.max(count, 2 * place.length);
            place = Arrays.copyOf(place, length);
            level = Arrays.copyOf(level, length);
            resource = Arrays.copyOf(resource, length);
        }
        while (known < count) {
            place[known++] = ABSENT;
        }
    }

    int size() {
        return size;
    }

    double minLevel() {
        return level[0];
    }

    /** Inserts a resource, or lowers its level; a higher level than the present one is ignored. */
    void lower(int r, double value) {
        int at = place[r];
        if (at == ABSENT) {
            at = size++;
        } else if (value >= level[at]) {
            return;
        }
        while (at > 0) {
            int parent = (at - 1) >>> 1;
            if (before(level[parent], resource[parent], value, r)) {
                break;
            }
            put(at, level[parent], resource[parent]);
            at = parent;
        }
        put(at, value, r);
    }

    int poll() {
        int top = resource[0];
        place[top] = ABSENT;
        int last = --size;
        if (last > 0) {
            double value = level[last];
            int r = resource[last];
            int at = 0;
            while (true) {
                int child = 2 * at + 1;
                if (child >= last) {
                    break;
                }
                int right = child + 1;
                if (right < last && before(level[right], resource[right], level[child], resource[child])) {
                    child = right;
                }
                if (before(value, r, level[child], resource[child])) {
                    break;
                }
                put(at, level[child], resource[child]);
                at = child;
            }
            put(at, value, r);
        }
        return top;
    }

    void clear() {
        for (int i = 0; i < size; i++) {
            place[resource[i]] = ABSENT;
        }
        size = 0;
    }

    /** Forgets the resources, too. */
    void forget() {
        known = 0;
        size = 0;
    }

    private static boolean before(double a, int ra, double b, int rb) {
        return a < b || (a == b && ra < rb);
    }

    private void put(int at, double value, int r) {
        level[at] = value;
        resource[at] = r;
        place[r] = at;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/** A number for each granule at which a block started, 0 for others. Two levels, as {@link SpanMap} has. Guarded by the arena's lock. */
final class BlockMap {
    private static final int STEP_SHIFT = 7;
    private static final int STEP = 1 << STEP_SHIFT;

    private int[][] steps = new int[64][];

    int at(int granule) {
        int[] numbers = steps[granule >>> STEP_SHIFT];
        return numbers == null ? 0 : numbers[granule & (STEP - 1)];
    }

    void set(int granule, int number) {
        int[] numbers = steps[granule >>> STEP_SHIFT];
        if (numbers == null) {
            numbers = new int[STEP];
            steps[granule >>> STEP_SHIFT] = numbers;
        }
        numbers[granule & (STEP - 1)] = number;
    }

    /** Makes room for granules below this one. */
    void ensure(int granules) {
        int length = (granules + STEP - 1) >> STEP_SHIFT;
        if (length > steps.length) {
            steps = Arrays.copyOf(steps, Math.max(length, 2 * steps.length));
        }
    }
}

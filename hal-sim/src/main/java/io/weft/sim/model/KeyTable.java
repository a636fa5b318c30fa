// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import java.util.Arrays;

/** Numbers the distinct int keys that it is shown 0, 1, 2, ... without objects. Not for several threads at once. */
final class KeyTable {
    private static final int FREE = -1;

    private int[] keys = new int[64];
    private int[] numbers = new int[64];
    private int count;

    KeyTable() {
        Arrays.fill(numbers, FREE);
    }

    void clear() {
        if (count > 0) {
            Arrays.fill(numbers, FREE);
            count = 0;
        }
    }

    int count() {
        return count;
    }

    /** The key's number; a new one when it has not been seen. */
    int number(int key) {
        int mask = keys.length - 1;
        int at = hash(key) & mask;
        while (numbers[at] != FREE) {
            if (keys[at] == key) {
                return numbers[at];
            }
            at = (at + 1) & mask;
        }
        if (2 * count >= keys.length) {
            grow();
            return number(key);
        }
        keys[at] = key;
        numbers[at] = count;
        return count++;
    }

    private void grow() {
        int[] oldKeys = keys;
        int[] oldNumbers = numbers;
        keys = new int[2 * oldKeys.length];
        numbers = new int[keys.length];
        Arrays.fill(numbers, FREE);
        int mask = keys.length - 1;
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldNumbers[i] != FREE) {
                int at = hash(oldKeys[i]) & mask;
                while (numbers[at] != FREE) {
                    at = (at + 1) & mask;
                }
                keys[at] = oldKeys[i];
                numbers[at] = oldNumbers[i];
            }
        }
    }

    private static int hash(int key) {
        int mixed = key * 0x9E3779B9;
        return mixed ^ mixed >>> 15;
    }
}

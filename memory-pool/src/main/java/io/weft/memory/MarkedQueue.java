// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/** Addresses that wait for one stream to pass a tag, first in first out; tags never go down. Guarded by the arena's lock. */
final class MarkedQueue {
    private long[] addresses = new long[16];
    private int[] tags = new int[16];
    private int head;
    private int count;

    void add(long address, int tag) {
        if (count == addresses.length) {
            long[] moreAddresses = Arrays.copyOf(addresses, 2 * count);
            int[] moreTags = Arrays.copyOf(tags, 2 * count);
            for (int i = 0; i < count; i++) {
                moreAddresses[i] = addresses[(head + i) & (count - 1)];
                moreTags[i] = tags[(head + i) & (count - 1)];
            }
            addresses = moreAddresses;
            tags = moreTags;
            head = 0;
        }
        int at = (head + count++) & (addresses.length - 1);
        addresses[at] = address;
        tags[at] = tag;
    }

    boolean isEmpty() {
        return count == 0;
    }

    int size() {
        return count;
    }

    int firstTag() {
        return tags[head];
    }

    long firstAddress() {
        return addresses[head];
    }

    void removeFirst() {
        head = (head + 1) & (addresses.length - 1);
        count--;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import io.weft.api.Buffer;
import java.util.Arrays;

/** Buffers by number, since a replay tells memory by numbers. Used by one thread. */
final class Handles {
    private Buffer[] buffers = new Buffer[256];
    /** Numbers that stand for nothing. */
    private int[] spare = new int[256];

    private int spares;
    private int count;

    long add(Buffer buffer) {
        int number;
        if (spares > 0) {
            number = spare[--spares];
        } else {
            number = count++;
            if (number == buffers.length) {
                buffers = Arrays.copyOf(buffers, 2 * number);
                spare = Arrays.copyOf(spare, 2 * number);
            }
        }
        buffers[number] = buffer;
        return number;
    }

    Buffer get(long number) {
        return buffers[(int) number];
    }

    Buffer remove(long number) {
        Buffer buffer = buffers[(int) number];
        buffers[(int) number] = null;
        spare[spares++] = (int) number;
        return buffer;
    }

    void closeAll() {
        for (int i = 0; i < count; i++) {
            if (buffers[i] != null) {
                buffers[i].close();
                buffers[i] = null;
            }
        }
    }
}

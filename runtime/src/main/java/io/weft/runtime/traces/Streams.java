// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import java.util.HashMap;
import java.util.Map;

/** Streams of a recording, which are handles of its process, numbered from 0 as they come. */
final class Streams {
    private static final int MOST = 4096;

    private final Map<Long, Integer> numbers = new HashMap<>();

    /** The number of a stream; -1 when there are too many for them to be streams. */
    int number(long handle) {
        Integer known = numbers.get(handle);
        if (known == null) {
            if (numbers.size() == MOST) {
                return -1;
            }
            known = numbers.size();
            numbers.put(handle, known);
        }
        return known;
    }
}

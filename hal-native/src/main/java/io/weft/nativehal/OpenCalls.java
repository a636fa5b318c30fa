// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Collectives that some but not all of a communicator's ranks have issued. Nobody may wait for them without end. Safe for any thread. */
final class OpenCalls {
    private final Map<Object, Supplier<String>> calls = new LinkedHashMap<>();
    private final AtomicInteger size = new AtomicInteger();

    boolean isEmpty() {
        return size.get() == 0;
    }

    /** A call that waits for ranks; the text says which. */
    void add(Object call, Supplier<String> text) {
        synchronized (calls) {
            calls.put(call, text);
            size.set(calls.size());
        }
    }

    /** It waits no longer. */
    void remove(Object call) {
        synchronized (calls) {
            calls.remove(call);
            size.set(calls.size());
        }
    }

    /** What is missing, for people. */
    String describe() {
        Supplier<String> first;
        synchronized (calls) {
            first = calls.isEmpty() ? null : calls.values().iterator().next();
        }
        // Not under the lock: it asks a communicator, whose lock may be held by one who adds a call.
        return first == null ? "nothing is missing any more" : first.get();
    }
}

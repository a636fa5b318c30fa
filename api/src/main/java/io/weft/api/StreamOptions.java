// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Objects;

/**
 * How a stream is made.
 *
 * @param priority the wish
 * @param blocking whether the stream joins the default stream both ways: work on the default stream waits for work issued before on
 *     blocking streams of the same device, and the reverse. A non-blocking stream never joins it.
 * @param name a name for traces, may be empty
 */
public record StreamOptions(Priority priority, boolean blocking, String name) {
    public StreamOptions {
        Objects.requireNonNull(priority);
        Objects.requireNonNull(name);
    }

    /** A non-blocking stream of normal priority. */
    public static StreamOptions defaults() {
        return new StreamOptions(Priority.NORMAL, false, "");
    }

    public StreamOptions withPriority(Priority wanted) {
        return new StreamOptions(wanted, blocking, name);
    }

    public StreamOptions withBlocking(boolean wanted) {
        return new StreamOptions(priority, wanted, name);
    }

    public StreamOptions withName(String wanted) {
        return new StreamOptions(priority, blocking, wanted);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A device's default stream, which joins its blocking streams both ways. The vendor's streams join nothing, so it is done with events: work on the default stream waits for every blocking stream that was used since, and work on a blocking stream waits for
 * the default stream if that was used since. Safe for any thread.
 */
final class DefaultStream {
    /** A blocking stream: the event that is recorded on it, how often it was used, and what each side has seen of the other. */
    private static final class Joined {
        private final long event;
        private long uses;
        private long seenByDefault;
        private long seenOfDefault;

        Joined(long event) {
            this.event = event;
        }
    }

    private final AclRuntime runtime;
    private final long handle;
    private final long event;
    private final Map<Long, Joined> streams = new LinkedHashMap<>();
    private long uses;

    DefaultStream(AclRuntime runtime, long handle) {
        this.runtime = runtime;
        this.handle = handle;
        this.event = runtime.createEvent(false);
    }

    long handle() {
        return handle;
    }

    synchronized void add(long stream) {
        Joined joined = new Joined(runtime.createEvent(false));
        joined.seenOfDefault = -1;
        streams.put(stream, joined);
    }

    synchronized void remove(long stream) {
        Joined gone = streams.remove(stream);
        if (gone != null) {
            runtime.destroyEvent(gone.event);
        }
    }

    /** Something is about to be issued to the default stream. */
    synchronized void beforeDefault() {
        streams.forEach((stream, joined) -> {
            if (joined.uses != joined.seenByDefault) {
                joined.seenByDefault = joined.uses;
                runtime.mark(joined.event, stream);
                runtime.calls().check("join", AclFunction.STREAM_WAIT_EVENT, handle, joined.event);
            }
        });
        uses++;
    }

    /** Something is about to be issued to a blocking stream. */
    synchronized void beforeBlocking(long stream) {
        Joined joined = streams.get(stream);
        if (joined == null) {
            return;
        }
        if (joined.seenOfDefault != uses) {
            joined.seenOfDefault = uses;
            runtime.mark(event, handle);
            runtime.calls().check("join", AclFunction.STREAM_WAIT_EVENT, stream, event);
        }
        joined.uses++;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.ascend.group.Group;
import io.weft.ascend.group.GroupResult;
import io.weft.ascend.group.Launch;
import io.weft.ascend.group.LaunchDescriptor;
import java.util.ArrayDeque;
import java.util.IdentityHashMap;

/** One rank's group and what it has in flight, by stream. Confined to the platform's lock. */
final class GroupLaunches {
    private final Group group;
    private final IdentityHashMap<Object, ArrayDeque<InFlight>> inFlight = new IdentityHashMap<>();
    private long messageBytes;
    private long mostBytes;

    /** A launch and the bytes of its messages. */
    private record InFlight(Launch launch, long bytes) {}

    GroupLaunches(Group group) {
        this.group = group;
    }

    Group group() {
        return group;
    }

    /** Bytes of the buffers that launches in flight use: their messages, as far as the buffers hold them. */
    long bufferBytes() {
        return Math.min(messageBytes, mostBytes);
    }

    /**
     * One more launch on a stream; false when the group has no room for it now.
     *
     * @param bytes of its messages
     * @param buffers bytes of the group's buffers
     */
    boolean begin(Object stream, LaunchDescriptor descriptor, long bytes, long buffers) {
        mostBytes = buffers;
        ArrayDeque<InFlight> launches = inFlight.computeIfAbsent(stream, ignored -> new ArrayDeque<>());
        Launch launch = new Launch(launches.isEmpty());
        if (group.launch(descriptor, launch) != GroupResult.OK) {
            if (launches.isEmpty()) {
                inFlight.remove(stream);
            }
            return false;
        }
        launches.addLast(new InFlight(launch, bytes));
        messageBytes += bytes;
        return true;
    }

    /** The oldest launch of a stream has ended; launches of one stream end in their order. */
    void end(Object stream) {
        ArrayDeque<InFlight> launches = inFlight.get(stream);
        if (launches == null) {
            return;
        }
        InFlight oldest = launches.removeFirst();
        messageBytes -= oldest.bytes();
        if (launches.isEmpty()) {
            inFlight.remove(stream);
        }
        group.end(oldest.launch());
    }
}

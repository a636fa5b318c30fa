// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/**
 * A descriptor of a channel between two ranks. The vendor's initialisers fill it with ones before they set fields, and the library takes ones for not set; a descriptor of zeros would ask for protocol 0 on address 0.
 */
public final class ChannelDescriptor {
    /** Size of the structure. */
    public static final int BYTES = 496;

    /** Bytes at the beginning that say size and version; the caller's own. */
    public static final int HEADER_BYTES = 16;

    private static final long AT_REMOTE_RANK = 16;
    private static final long AT_PROTOCOL = 20;
    private static final long AT_NOTIFIES = 344;

    private ChannelDescriptor() {}

    /** Protocols of a channel. */
    public enum Protocol {
        HCCS(0),
        ROCE(1),
        PCIE(2),
        SIO(3);

        private final int number;

        Protocol(int number) {
            this.number = number;
        }
    }

    /** A descriptor in which the rank, the protocol and the number of notifies are set; everything else holds ones, the header too. */
    public static MemorySegment in(SegmentAllocator allocator, int remoteRank, Protocol protocol, int notifies) {
        MemorySegment memory = allocator.allocate(BYTES, Long.BYTES);
        memory.fill((byte) 0xff);
        memory.set(ValueLayout.JAVA_INT, AT_REMOTE_RANK, remoteRank);
        memory.set(ValueLayout.JAVA_INT, AT_PROTOCOL, protocol.number);
        memory.set(ValueLayout.JAVA_INT, AT_NOTIFIES, notifies);
        return memory;
    }
}

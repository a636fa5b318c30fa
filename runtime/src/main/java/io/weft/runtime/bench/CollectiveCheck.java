// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Runs one call on known data and counts what is wrong in what the ranks got. */
final class CollectiveCheck {
    private final Communicator communicator;
    private final CollectiveShape shape;
    private final CollectiveData data;

    CollectiveCheck(Communicator communicator, CollectiveShape shape, long seed) {
        this.communicator = communicator;
        this.shape = shape;
        this.data = new CollectiveData(shape, seed);
    }

    /** Elements that are wrong, over all ranks. */
    long wrong() {
        try (RankBuffers buffers = new RankBuffers(communicator, shape)) {
            prepare(buffers);
            buffers.call();
            buffers.synchronize();
            return count(buffers);
        }
    }

    /** Clears what ranks get and fills what they send; in this order, as both may be one. */
    void prepare(RankBuffers buffers) {
        for (int rank = 0; rank < shape.ranks(); rank++) {
            int mine = rank;
            through(buffers.receive(rank), (host, view) -> {
                host.fill((byte) 0xA5);
                write(view, host);
            });
            through(buffers.send(rank), (host, view) -> {
                data.fill(host, mine);
                write(view, host);
            });
        }
    }

    /** Counts what is wrong after the call. */
    long count(RankBuffers buffers) {
        long[] wrong = new long[1];
        for (int rank = 0; rank < shape.ranks(); rank++) {
            int mine = rank;
            through(buffers.receive(rank), (host, view) -> {
                ((Buffer) view.memory()).read(host, view.offset());
                wrong[0] += data.wrong(host, mine);
            });
        }
        return wrong[0];
    }

    private static void write(BufferView view, MemorySegment host) {
        ((Buffer) view.memory()).write(view.offset(), host);
    }

    @FunctionalInterface
    private interface Use {
        void of(MemorySegment host, BufferView view);
    }

    /** Host memory as large as a view, for a while; nothing for an empty one. */
    private static void through(BufferView view, Use use) {
        if (view.isEmpty()) {
            return;
        }
        try (Arena arena = Arena.ofShared()) {
            use.of(arena.allocate(view.bytes(), 64), view);
        }
    }
}

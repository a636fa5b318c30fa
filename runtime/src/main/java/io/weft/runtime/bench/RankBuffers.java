// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.Stream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A stream and the buffers of one shape for every rank of a communicator, whose ranks are all local. Closed by its owner. */
final class RankBuffers implements AutoCloseable {
    private final Communicator communicator;
    private final CollectiveShape shape;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final List<Stream> streams = new ArrayList<>();
    private final List<BufferView> sends = new ArrayList<>();
    private final List<BufferView> receives = new ArrayList<>();

    RankBuffers(Communicator communicator, CollectiveShape shape) {
        this.communicator = communicator;
        this.shape = shape;
        try {
            for (int rank = 0; rank < shape.ranks(); rank++) {
                Stream stream = communicator.device(rank).createStream();
                opened.push(stream);
                streams.add(stream);
                if (shape.inPlace()) {
                    Buffer one = allocate(rank, shape.bytes(rank));
                    sends.add(shape.send(rank, one));
                    receives.add(shape.receive(rank, one));
                } else {
                    int bytes = shape.type().bytes();
                    sends.add(shape.send(rank, allocate(rank, shape.sendElements(rank) * bytes)));
                    receives.add(shape.receive(rank, allocate(rank, shape.receiveElements(rank) * bytes)));
                }
            }
        } catch (RuntimeException failure) {
            close();
            throw failure;
        }
    }

    private Buffer allocate(int rank, long bytes) {
        // A rank may have nothing to send; a buffer has at least one byte all the same.
        Buffer buffer = communicator.device(rank).allocate(Math.max(1, bytes));
        opened.push(buffer);
        return buffer;
    }

    BufferView send(int rank) {
        return sends.get(rank);
    }

    BufferView receive(int rank) {
        return receives.get(rank);
    }

    /** Issues one call on all ranks. */
    void call() {
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < shape.ranks(); rank++) {
                for (CollectiveShape.Part part : shape.parts(rank, sends.get(rank), receives.get(rank), 0)) {
                    group.add(part.command(), streams.get(rank));
                }
            }
        }
    }

    /** Waits until all that was issued is complete. */
    void synchronize() {
        streams.forEach(Stream::synchronize);
    }

    @Override
    public void close() {
        RuntimeException first = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (RuntimeException failure) {
                first = first == null ? failure : first;
            } catch (Exception odd) {
                throw new IllegalStateException(odd); // neither streams nor buffers throw checked exceptions
            }
        }
        if (first != null) {
            throw first;
        }
    }
}

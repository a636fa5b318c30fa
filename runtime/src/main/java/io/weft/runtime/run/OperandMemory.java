// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.run;

import io.weft.api.Buffer;
import io.weft.api.Communicator;
import io.weft.memory.PoolRecording;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/** Operands and results of a run, straight from the devices, whose refusals say more than a pool's could. Those of rank 0 are recorded. Closes what it gave. */
final class OperandMemory implements AutoCloseable {
    private final Communicator communicator;
    private final Optional<PoolRecording.Source> source;
    private final Deque<Buffer> buffers = new ArrayDeque<>();
    private final Deque<Long> recorded = new ArrayDeque<>();

    OperandMemory(Communicator communicator, Optional<PoolRecording> recording) {
        this.communicator = communicator;
        this.source = recording.map(PoolRecording::source);
    }

    Buffer allocate(int rank, long bytes) {
        Buffer buffer = communicator.device(rank).allocate(bytes);
        buffers.push(buffer);
        if (rank == 0 && source.isPresent()) {
            recorded.push(buffer.address());
            source.get()
                    .allocate(
                            buffer.address(), bytes, 0, communicator.platform().nanoTime());
        }
        return buffer;
    }

    @Override
    public void close() {
        for (long address : recorded) {
            source.orElseThrow().free(address, 0, communicator.platform().nanoTime());
        }
        for (Buffer buffer : buffers) {
            if (!buffer.isClosed()) { // verification closes what it was given
                buffer.close();
            }
        }
    }
}

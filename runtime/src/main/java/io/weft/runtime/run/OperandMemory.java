// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.run;

import io.weft.api.Buffer;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.memory.DevicePool;
import io.weft.memory.PoolOptions;
import io.weft.memory.PoolRecording;
import io.weft.memory.PoolRole;
import io.weft.memory.PoolUse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Operands and results of a run, from a pool of each rank's device. They are freed in the order of the default stream, when the run has been waited for. The pool of
 * rank 0 is recorded. Closes what it gave.
 */
final class OperandMemory implements AutoCloseable {
    private final List<DevicePool> pools = new ArrayList<>();
    private final Deque<Buffer> buffers = new ArrayDeque<>();

    OperandMemory(Communicator communicator, Optional<PoolRecording> recording) {
        PoolOptions options = PoolOptions.defaults().withName("operands").withRole(PoolRole.COMPUTE);
        try {
            for (int rank = 0; rank < communicator.size(); rank++) {
                pools.add(DevicePool.open(communicator.device(rank), options));
            }
        } catch (RuntimeException | Error failure) {
            close();
            throw failure;
        }
        recording.ifPresent(pools.getFirst()::startRecording);
    }

    Buffer allocate(int rank, long bytes) {
        Device device = pools.get(rank).device();
        Buffer buffer = pools.get(rank).allocate(bytes, device.defaultStream());
        buffers.push(buffer);
        return buffer;
    }

    PoolUse use(int rank) {
        return pools.get(rank).use();
    }

    @Override
    public void close() {
        for (Buffer buffer : buffers) {
            if (!buffer.isClosed()) { // verification closes what it was given
                buffer.close();
            }
        }
        buffers.clear();
        pools.forEach(DevicePool::close);
    }
}

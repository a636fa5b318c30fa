// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.Buffer;
import io.weft.api.Stream;

/** Ties a buffer to its pool: closing the buffer frees the block on the stream it was allocated on, unless another one was named before. */
final class PooledBlock implements Buffer.Owner {
    final DevicePool pool;
    final long address;
    final Stream stream;
    /** The stream named by {@link DevicePool#free}; null for the allocating one. Written before the buffer is closed, by the thread that closes it. */
    Stream freeing;

    PooledBlock(DevicePool pool, long address, Stream stream) {
        this.pool = pool;
        this.address = address;
        this.stream = stream;
    }

    @Override
    public void release(Buffer buffer) {
        pool.release(this, freeing == null ? stream : freeing);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.Buffer;

/** Ties a buffer to its pool: closing the buffer frees the block on the stream it was allocated on, unless another one was named before. */
final class PooledBlock implements Buffer.Owner {
    final DevicePool pool;
    /** Where the core's block starts; in checking mode the buffer starts behind a guard. */
    final long address;
    /** The stream on which the block will be freed. Written before the buffer is closed, by the thread that closes it. */
    int stream;
    /** In checking mode where it was allocated, else null. */
    final Throwable site;

    PooledBlock(DevicePool pool, long address, int stream, Throwable site) {
        this.pool = pool;
        this.address = address;
        this.stream = stream;
        this.site = site;
    }

    @Override
    public void release(Buffer buffer) {
        pool.release(this, buffer);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import java.util.List;

/** Memory pools in stream order. */
public interface MemoryPools {
    /**
     * A memory pool of a device that keeps what is freed, open to peers.
     *
     * @param peers devices that shall reach it
     */
    long createPool(int ordinal, List<Integer> peers);

    /** Releases a pool. */
    void destroyPool(long pool);

    /** Memory from a pool, in the order of a stream. */
    long allocateFromPool(long pool, long bytes, long stream);

    /** Gives memory back to its pool, in the order of a stream. */
    void freeInOrder(long address, long stream);
}

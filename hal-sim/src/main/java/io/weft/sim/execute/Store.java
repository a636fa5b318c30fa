// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import java.lang.foreign.MemorySegment;

/** Memory by address. What backs an address may move while nobody looks, so it is asked for each time. */
public interface Store {
    /** Address of its first byte; no two live stores of a platform share an address. */
    long address();

    /** Size in bytes. */
    long bytes();

    /**
     * The host memory behind a range, for one use under the platform's lock.
     *
     * @throws io.weft.api.AcceleratorException when there is none: the memory was given back, or no page is mapped there
     */
    MemorySegment backing(long offset, long length);
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import java.util.List;

/** Virtual memory: addresses and the memory behind them apart. */
public interface PageDriver {
    /** Bytes of one page of a device. */
    long pageBytes(int ordinal);

    /** Memory without an address. */
    long createPages(int ordinal, long bytes);

    /** Gives memory back once nothing maps it. */
    void releasePages(long handle);

    /** Addresses without memory. */
    long reserve(long bytes, long alignment);

    /** Gives addresses back. */
    void release(long address, long bytes);

    /** Puts memory behind addresses; no device may use it before {@link #letIn}. */
    void map(long address, long bytes, long handle);

    /** Lets devices read and write mapped memory. */
    void letIn(long address, long bytes, List<Integer> devices);

    /** Takes the memory behind addresses away. */
    void unmap(long address, long bytes);
}

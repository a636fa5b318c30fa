// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

/**
 * A range of device memory that one group may move.
 *
 * @param group number of the group that owns it
 * @param index its place in the group's table
 * @param address its first byte's device address
 * @param bytes its length
 */
public record MemoryWindow(int group, int index, long address, long bytes) {
    /** Whether a range lies in it. */
    public boolean contains(long from, long length) {
        return from >= address && length >= 0 && length <= bytes && from - address <= bytes - length;
    }

    boolean overlaps(long from, long length) {
        return from < address + bytes && address < from + length;
    }
}

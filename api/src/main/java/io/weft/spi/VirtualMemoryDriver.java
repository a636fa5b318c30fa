// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

/** Extension: address ranges whose pages are mapped on demand. */
public interface VirtualMemoryDriver {
    /** Bytes of one page, a power of two. */
    long pageBytes();

    /** Reserves an address range without memory behind it. The returned memory may be used where pages are mapped; it is freed by its device, which unmaps what is mapped. */
    DeviceMemory reserve(DeviceDriver device, long bytes);

    /** Puts memory behind a range. Offset and size are multiples of the page size; no page may be mapped twice. */
    void map(DeviceMemory range, long offset, long bytes);

    /** Takes the memory of a range back. Offset and size are multiples of the page size; every page must be mapped. */
    void unmap(DeviceMemory range, long offset, long bytes);
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/**
 * Device memory at one moment.
 *
 * @param totalBytes all memory that can be allocated
 * @param freeBytes what is free now
 */
public record MemoryInfo(long totalBytes, long freeBytes) {}

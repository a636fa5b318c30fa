// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/** Where a buffer lives. */
public enum MemoryKind {
    /** The device's own memory. */
    DEVICE,
    /** Host memory that the device's engines can reach without staging; the host may read and write it directly. */
    HOST_PINNED
}

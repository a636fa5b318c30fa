// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/** What carries out a copy. */
public enum CopyMethod {
    /** The backend's own table decides by size and path. */
    AUTO,
    /** A copy engine, beside compute. */
    ENGINE,
    /** A kernel, which takes compute units. */
    KERNEL
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

/** A vendor's library of matrix products. */
public interface GemmLibrary {
    /** A handle of the current device. */
    long open();

    /** Releases a handle. */
    void close(long handle);

    /**
     * How a shape is carried out on the current device; decided once for each shape. Never null: what the library lacks is not {@link GemmPlan#isNative() native}.
     *
     * @param workspaceLimit bytes that one product may use while it runs
     */
    GemmPlan plan(long handle, GemmShape shape, long workspaceLimit);
}

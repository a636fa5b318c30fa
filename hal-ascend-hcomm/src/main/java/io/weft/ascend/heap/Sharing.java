// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

import io.weft.ascend.hccl.HcclFamily;

/** How a rank's memory becomes reachable for another rank. */
public enum Sharing {
    /** Both are in one process: by address, with one-way peer access. */
    ADDRESS,
    /** By IPC key and one-way peer access: other processes of the same server. */
    IPC_KEY,
    /** By a symmetric window that the library registers. */
    WINDOW;

    /**
     * How it is done.
     *
     * @param family of the devices
     * @param sameProcess whether both ranks are in one process
     */
    public static Sharing between(HcclFamily family, boolean sameProcess) {
        if (family.nativeWindows()) {
            return WINDOW;
        }
        return sameProcess ? ADDRESS : IPC_KEY;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

/** Kinds of path, as far as their failures differ. */
public enum PathKind {
    /** Between devices of a server; the driver hears of a lost link at once. */
    HCCS(false),
    /** Through the host's bridges; the driver hears of a lost link at once. */
    PCIE(false),
    /** Over a network card; a lost link shows when retries are used up. */
    ROCE(true);

    private final boolean retries;

    PathKind(boolean retries) {
        this.retries = retries;
    }

    /** Whether the hardware sends again by itself and reports a loss only after that. */
    public boolean retries() {
        return retries;
    }
}

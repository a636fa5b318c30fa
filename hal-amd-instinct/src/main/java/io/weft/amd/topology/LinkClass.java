// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import java.util.Locale;

/** What a link is, whoever says it. The native enums map to it by table and never to one another. */
public enum LinkClass {
    /** The device itself. */
    SELF,
    /** AMD's GPU fabric, direct or through other GPUs. */
    XGMI,
    /** PCIe, with whatever switches and sockets lie on the way. */
    PCIE,
    /** Something else that leads there. */
    OTHER,
    /** No path. */
    NONE,
    /** The source does not say. */
    UNKNOWN;

    /** The word in a table of {@code rocm-smi} or {@code amd-smi}. */
    static LinkClass ofWord(String word) {
        return switch (word.toUpperCase(Locale.ROOT)) {
            case "SELF", "X", "0" -> SELF;
            case "XGMI" -> XGMI;
            case "PCIE", "PCI" -> PCIE;
            case "N/A", "NA", "-", "UNKNOWN" -> UNKNOWN;
            case "INTERNAL" -> OTHER;
            default -> UNKNOWN;
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import java.util.Locale;

/** Which family of machines a device belongs to; each joins its devices in its own way. */
public enum Generation {
    /** 910A: eight devices in two halves of four. */
    ATLAS_800("910A"),
    /** 910B: eight devices in a full mesh. */
    A2("A2"),
    /** 910C: two dies in a package, packages on switches, super pods of up to 48 servers. */
    A3("A3"),
    /** 950: a unified bus, described by a topology file. */
    A5("950"),
    /** Nothing read says. */
    UNKNOWN("unknown");

    private final String label;

    Generation(String label) {
        this.label = label;
    }

    /** Its name for people. */
    public String label() {
        return label;
    }

    /**
     * The family of a chip by the name that {@code npu-smi info} prints. {@code 910B} alone is a chip of the first family; {@code 910B1} to {@code 910B4} are the second's.
     */
    public static Generation ofChip(String name) {
        String chip = name.toUpperCase(Locale.ROOT).replaceFirst("^ASCEND\\s*", "");
        if (chip.matches("910B[1-4].*")) {
            return A2;
        }
        if (chip.matches("910_93\\d\\d.*") || chip.matches("910C.*") || chip.equals("910")) {
            return chip.equals("910") ? UNKNOWN : A3;
        }
        if (chip.matches("910(A|B|PRO[AB]|PREMIUMA)")) {
            return ATLAS_800;
        }
        return chip.startsWith("950") ? A5 : UNKNOWN;
    }

    /** The family whose rank tables have a version; 1.0 serves two of them. */
    static Generation ofTable(String version) {
        return switch (version) {
            case "legacy" -> ATLAS_800;
            case "1.2" -> A3;
            case "2.0" -> A5;
            default -> UNKNOWN;
        };
    }
}

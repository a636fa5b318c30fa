// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.api.topology.LinkKind;
import java.util.Locale;
import java.util.Optional;

/**
 * What joins two devices. The words are those of {@code npu-smi info -t topo}; DCMI and the driver's HAL number the same words differently (npu-smi's source), and the runtime's topology mask has a third
 * numbering. They map to this by table and never to one another.
 */
public enum LinkClass {
    /** The device itself. */
    SELF("X", 0, -1, 0, LinkKind.SELF),
    /** Across PCIe and NUMA nodes. */
    SYS("SYS", 1, 4, 0x10, LinkKind.HOST),
    /** Across PCIe and a processor's host bridge. */
    PHB("PHB", 2, 3, 0x8, LinkKind.PCIE),
    /** A link of the cache-coherent fabric of their own. */
    HCCS("HCCS", 3, 0, 0x1, LinkKind.FABRIC),
    /** Several PCIe switches. */
    PXB("PXB", 4, 2, 0x4, LinkKind.PCIE),
    /** One PCIe switch. */
    PIX("PIX", 5, 1, 0x2, LinkKind.PCIE),
    /** Both dies of one package. */
    SIO("SIO", 6, 5, 0x20, LinkKind.IN_PACKAGE),
    /** Through switches of the fabric. */
    HCCS_SW("HCCS_SW", 7, 6, 0x40, LinkKind.SWITCHED_FABRIC),
    /** The unified bus of the 950. */
    UB("UB", 8, 7, 0, LinkKind.FABRIC),
    /** The network cards of both. */
    ROCE("RoCE", -1, -1, 0, LinkKind.NETWORK),
    /** No source says. */
    UNKNOWN("NA", -1, -1, 0, LinkKind.NONE);

    private final String word;
    private final int dcmi;
    private final int hal;
    private final int mask;
    private final LinkKind kind;

    LinkClass(String word, int dcmi, int hal, int mask, LinkKind kind) {
        this.word = word;
        this.dcmi = dcmi;
        this.hal = hal;
        this.mask = mask;
        this.kind = kind;
    }

    /** Its word in the table of {@code npu-smi}. */
    public String word() {
        return word;
    }

    /** DCMI's number, -1 when it has none. */
    public int dcmi() {
        return dcmi;
    }

    /** The driver's number, -1 when it has none. */
    public int hal() {
        return hal;
    }

    /** The bit of the runtime's device topology mask, 0 when it has none. */
    public int mask() {
        return mask;
    }

    /** The neutral kind. */
    public LinkKind kind() {
        return kind;
    }

    /** Whether it leads over PCIe. */
    public boolean isPcie() {
        return this == PIX || this == PXB || this == PHB || this == SYS;
    }

    /** The class of a table's cell; empty when the word is none. */
    public static Optional<LinkClass> ofWord(String cell) {
        String upper = cell.toUpperCase(Locale.ROOT);
        for (LinkClass linkClass : values()) {
            if (linkClass.word.equals(upper)) {
                return Optional.of(linkClass);
            }
        }
        return Optional.empty();
    }

    /** The class of DCMI's number. */
    public static Optional<LinkClass> ofDcmi(int number) {
        for (LinkClass linkClass : values()) {
            if (number >= 0 && linkClass.dcmi == number) {
                return Optional.of(linkClass);
            }
        }
        return Optional.empty();
    }

    /** The class of the driver's number. */
    public static Optional<LinkClass> ofHal(int number) {
        for (LinkClass linkClass : values()) {
            if (number >= 0 && linkClass.hal == number) {
                return Optional.of(linkClass);
            }
        }
        return Optional.empty();
    }
}

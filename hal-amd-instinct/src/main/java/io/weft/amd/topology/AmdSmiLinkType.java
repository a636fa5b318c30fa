// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

/** Link type of the AMD SMI library, {@code amdsmi_link_type_t}. The numbers for PCIe and xGMI are swapped in {@link AmdSmiIoLinkType}. */
public enum AmdSmiLinkType {
    /** Inside a device. */
    INTERNAL(0, LinkClass.OTHER),
    /** The GPU fabric. */
    XGMI(1, LinkClass.XGMI),
    /** PCI Express. */
    PCIE(2, LinkClass.PCIE),
    /** No link. */
    NOT_APPLICABLE(3, LinkClass.NONE),
    /** Not stated. */
    UNKNOWN(4, LinkClass.UNKNOWN);

    private final int value;
    private final LinkClass linkClass;

    AmdSmiLinkType(int value, LinkClass linkClass) {
        this.value = value;
        this.linkClass = linkClass;
    }

    /** The number in that interface. */
    public int value() {
        return value;
    }

    /** What it means, whoever says it. */
    public LinkClass linkClass() {
        return linkClass;
    }

    /** The constant of a number; null for a number that has none. */
    public static AmdSmiLinkType of(long value) {
        for (AmdSmiLinkType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return null;
    }
}

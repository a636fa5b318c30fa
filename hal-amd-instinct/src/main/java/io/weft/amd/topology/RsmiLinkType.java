// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

/** Link type of the ROCm SMI library, {@code RSMI_IO_LINK_TYPE}. */
public enum RsmiLinkType {
    /** Not stated. */
    UNDEFINED(0, LinkClass.UNKNOWN),
    /** PCI Express. */
    PCIE(1, LinkClass.PCIE),
    /** The GPU fabric. */
    XGMI(2, LinkClass.XGMI);

    private final int value;
    private final LinkClass linkClass;

    RsmiLinkType(int value, LinkClass linkClass) {
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
    public static RsmiLinkType of(long value) {
        for (RsmiLinkType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return null;
    }
}

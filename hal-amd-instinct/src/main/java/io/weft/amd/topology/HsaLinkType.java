// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

/** Link type of ROCr, {@code hsa_amd_link_info_type_t}; also what {@code hipExtGetLinkTypeAndHopCount} answers. */
public enum HsaLinkType {
    /** Between host sockets. */
    HYPERTRANSPORT(0, LinkClass.OTHER),
    /** Between host sockets. */
    QPI(1, LinkClass.OTHER),
    /** PCI Express. */
    PCIE(2, LinkClass.PCIE),
    /** Never seen on Instinct. */
    INFINIBAND(3, LinkClass.OTHER),
    /** The GPU fabric. */
    XGMI(4, LinkClass.XGMI);

    private final int value;
    private final LinkClass linkClass;

    HsaLinkType(int value, LinkClass linkClass) {
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
    public static HsaLinkType of(long value) {
        for (HsaLinkType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return null;
    }
}

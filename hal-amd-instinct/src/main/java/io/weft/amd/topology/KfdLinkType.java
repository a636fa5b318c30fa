// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

/** Type of an IO link in the kernel driver's {@code io_links/N/properties}; source: {@code CRAT_IOLINK_TYPE_*} in the kernel's {@code kfd_crat.h}, also {@code HSA_IOLINKTYPE} of libhsakmt. */
public enum KfdLinkType {
    /** Not stated. */
    UNDEFINED(0, LinkClass.UNKNOWN),
    /** Between host sockets. */
    HYPERTRANSPORT(1, LinkClass.OTHER),
    /** PCI Express. */
    PCIE(2, LinkClass.PCIE),
    /** Never seen on Instinct. */
    AMBA(3, LinkClass.OTHER),
    /** Never seen on Instinct. */
    MIPI(4, LinkClass.OTHER),
    /** Between host sockets. */
    QPI(5, LinkClass.OTHER),
    /** Reserved. */
    RESERVED1(6, LinkClass.UNKNOWN),
    /** Reserved. */
    RESERVED2(7, LinkClass.UNKNOWN),
    /** Never seen on Instinct. */
    RAPID_IO(8, LinkClass.OTHER),
    /** Never seen on Instinct. */
    INFINIBAND(9, LinkClass.OTHER),
    /** Reserved. */
    RESERVED3(10, LinkClass.UNKNOWN),
    /** The GPU fabric. */
    XGMI(11, LinkClass.XGMI),
    /** Never seen on Instinct. */
    XGOP(12, LinkClass.OTHER),
    /** Never seen on Instinct. */
    GZ(13, LinkClass.OTHER),
    /** Never seen on Instinct. */
    ETHERNET_RDMA(14, LinkClass.OTHER),
    /** Never seen on Instinct. */
    RDMA_OTHER(15, LinkClass.OTHER),
    /** Anything else. */
    OTHER(16, LinkClass.OTHER);

    private final int value;
    private final LinkClass linkClass;

    KfdLinkType(int value, LinkClass linkClass) {
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
    public static KfdLinkType of(long value) {
        for (KfdLinkType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return null;
    }
}

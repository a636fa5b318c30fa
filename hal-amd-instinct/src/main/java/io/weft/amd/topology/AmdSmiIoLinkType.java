// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

/** IO link type of the AMD SMI library, {@code amdsmi_io_link_type_t}. The numbers for PCIe and xGMI are swapped in {@link AmdSmiLinkType}: mixing them up made RCCL take xGMI for PCIe (ROCm/rocm-systems PR 5297). */
public enum AmdSmiIoLinkType {
    /** Not stated. */
    UNDEFINED(0, LinkClass.UNKNOWN),
    /** PCI Express. */
    PCIE(1, LinkClass.PCIE),
    /** The GPU fabric. */
    XGMI(2, LinkClass.XGMI);

    private final int value;
    private final LinkClass linkClass;

    AmdSmiIoLinkType(int value, LinkClass linkClass) {
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
    public static AmdSmiIoLinkType of(long value) {
        for (AmdSmiIoLinkType type : values()) {
            if (type.value == value) {
                return type;
            }
        }
        return null;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.spi.input.PciAddress;

/** A PCI address packed into a number, as AMD's interfaces do it, each in its own way. A wrong reading of one of them once cost 70 % of RCCL's bandwidth (ROCm/rocm-systems PR 3272). */
public final class Bdf {
    private Bdf() {}

    /** From the SMI libraries' 64-bit identifier: the domain in the upper half, then as the kernel packs the rest. */
    public static PciAddress ofBdfId(long id) {
        return PciAddress.ofLocation(id >>> 32, id & 0xffff_ffffL);
    }

    /** From RCCL's {@code busId} number: domain, bus, device and function in 20, 8, 8 and 4 bits from the top, as its log prints in hexadecimal. */
    public static PciAddress ofRcclBusId(long id) {
        return new PciAddress(
                (int) (id >> 20 & 0x7fff_ffff), (int) (id >> 12 & 0xff), (int) (id >> 4 & 0x1f), (int) (id & 7));
    }

    /** The SMI libraries' identifier. */
    public static long bdfId(PciAddress address) {
        return (long) address.domain() << 32 | address.location();
    }

    /** RCCL's {@code busId}. */
    public static long rcclBusId(PciAddress address) {
        return (long) address.domain() << 20
                | (long) address.bus() << 12
                | (long) address.device() << 4
                | address.function();
    }
}

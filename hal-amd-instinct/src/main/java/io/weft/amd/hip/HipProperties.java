// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * What a device is, out of {@code hipDeviceProp_t}, of which there are two layouts: one of before HIP 6, which the plain function fills in every version, and R0600. Offsets by compiling both headers.
 *
 * @param name product name
 * @param memoryBytes device memory
 * @param clockKilohertz of compute
 * @param memoryKilohertz clock of memory
 * @param memoryBits width of its bus
 * @param computeUnits units
 * @param l2Bytes last cache before memory's own
 * @param gcnArchitecture such as {@code gfx942:sramecc+:xnack-}
 * @param domain PCI domain
 * @param bus PCI bus
 * @param device PCI device
 * @param ecc whether errors in memory are corrected
 */
record HipProperties(
        String name,
        long memoryBytes,
        int clockKilohertz,
        int memoryKilohertz,
        int memoryBits,
        int computeUnits,
        int l2Bytes,
        String gcnArchitecture,
        int domain,
        int bus,
        int device,
        boolean ecc) {
    /** Size of the layout of before HIP 6, R0000. */
    static final long R0000_BYTES = 792;
    /** Size of the layout of HIP 6 and later. */
    static final long R0600_BYTES = 1472;

    static HipProperties ofR0000(MemorySegment out) {
        return new HipProperties(
                text(out, 0),
                out.get(ValueLayout.JAVA_LONG, 256),
                integer(out, 308),
                integer(out, 312),
                integer(out, 316),
                integer(out, 336),
                integer(out, 340),
                text(out, 396),
                integer(out, 364),
                integer(out, 368),
                integer(out, 372),
                integer(out, 740) != 0);
    }

    static HipProperties ofR0600(MemorySegment out) {
        return new HipProperties(
                text(out, 0),
                out.get(ValueLayout.JAVA_LONG, 288),
                integer(out, 348),
                integer(out, 608),
                integer(out, 612),
                integer(out, 388),
                integer(out, 616),
                text(out, 1160),
                integer(out, 592),
                integer(out, 584),
                integer(out, 588),
                integer(out, 580) != 0);
    }

    /** The chip without its settings, such as {@code gfx942}. */
    String architecture() {
        int colon = gcnArchitecture.indexOf(':');
        return colon < 0 ? gcnArchitecture : gcnArchitecture.substring(0, colon);
    }

    private static int integer(MemorySegment out, long at) {
        return out.get(ValueLayout.JAVA_INT, at);
    }

    /** Names are arrays of 256 characters. */
    private static String text(MemorySegment out, long at) {
        int length = 0;
        while (length < 256 && out.get(ValueLayout.JAVA_BYTE, at + length) != 0) {
            length++;
        }
        return new String(out.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}

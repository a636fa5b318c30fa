// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

/**
 * The identifier of a die in a super pod: 32 bits, of which the server has 10, the chip 4, the die 2 and the device 16, from the top. Found in real A3 rank tables, where chip is device / 2 and die is device % 2.
 *
 * @param server 0 to 1023
 * @param chip 0 to 15
 * @param die 0 to 3
 * @param device 0 to 65535
 */
public record SuperDeviceId(int server, int chip, int die, int device) {
    /** The largest packed value. */
    public static final long MAX = 0xffff_ffffL;

    public SuperDeviceId {
        if (server < 0
                || server > 1023
                || chip < 0
                || chip > 15
                || die < 0
                || die > 3
                || device < 0
                || device > 65_535) {
            throw new IllegalArgumentException(
                    "no super device: server " + server + ", chip " + chip + ", die " + die + ", device " + device);
        }
    }

    /** Takes it apart. Only the low 32 bits count. */
    public static SuperDeviceId of(long packed) {
        return new SuperDeviceId(
                (int) (packed >> 22 & 0x3ff), (int) (packed >> 18 & 0xf), (int) (packed >> 16 & 0x3), (int)
                        (packed & 0xffff));
    }

    /** Puts it together. */
    public long packed() {
        return (long) server << 22 | (long) chip << 18 | (long) die << 16 | device;
    }

    /** Whether chip and die follow from the device's number, as on every A3 server seen. */
    public boolean isConsistent() {
        return chip == device / 2 && die == device % 2;
    }

    /** The address of its virtual network card in the super pod; only for the 48 servers that such a pod has. */
    public String virtualAddress() {
        return "192." + server + "." + (2 + die) + "." + (199 - device);
    }
}

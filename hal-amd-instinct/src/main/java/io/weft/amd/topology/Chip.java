// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import java.util.Locale;
import java.util.Map;

/** Names of chips. Sources: AMD's PCI ids ({@code amdgpu_drv.c}), KFD's {@code gfx_target_version}, and the {@code gcn} attribute of RCCL's files. */
public final class Chip {
    private static final Map<Integer, String> PRODUCTS = Map.ofEntries(
            Map.entry(0x66a1, "MI50/MI60"),
            Map.entry(0x66a0, "MI50/MI60"),
            Map.entry(0x738c, "MI100"),
            Map.entry(0x7408, "MI250X"),
            Map.entry(0x740c, "MI250"),
            Map.entry(0x740f, "MI210"),
            Map.entry(0x74a0, "MI300A"),
            Map.entry(0x74a1, "MI300X"),
            Map.entry(0x74a2, "MI308X"),
            Map.entry(0x74a5, "MI325X"),
            Map.entry(0x74b5, "MI300X VF"),
            Map.entry(0x75a0, "MI350X/MI355X"),
            Map.entry(0x75a8, "MI350P"));

    private Chip() {}

    /** The product of a PCI device id, empty when unknown. */
    public static String product(long deviceId) {
        return PRODUCTS.getOrDefault((int) deviceId, "");
    }

    /** The architecture of KFD's number, such as {@code gfx90a} of 90010: major, minor and stepping, the last one hexadecimal. Empty for 0. */
    public static String ofTargetVersion(long version) {
        if (version <= 0 || version > 9_999_999) {
            return "";
        }
        return "gfx" + version / 10_000 + version / 100 % 100 + Long.toHexString(version % 100);
    }

    /** The architecture of RCCL's {@code gcn}: a name in newer files; in older ones a number, where 910 stands for gfx90a and 940 for gfx942. */
    public static String ofGcn(String gcn) {
        String name = gcn.strip().toLowerCase(Locale.ROOT);
        int colon = name.indexOf(':');
        name = colon < 0 ? name : name.substring(0, colon);
        return switch (name) {
            case "" -> "";
            case "910" -> "gfx90a";
            case "940" -> "gfx942";
            default -> name.startsWith("gfx") ? name : name.matches("\\d{3,4}") ? "gfx" + name : "";
        };
    }

    /** Nominal MB/s of one xGMI link and direction, from data sheets; 0 for a chip that is not listed. */
    public static long xgmiMegabytesPerSecond(String gfx) {
        return switch (gfx) {
            case "gfx908" -> 46_000; // MI100: 23 GT/s, 16 lanes
            case "gfx90a" -> 50_000; // MI200: 25 GT/s, 16 lanes
            case "gfx942" -> 64_000; // MI300: 32 GT/s, 16 lanes
            case "gfx950" -> 76_800; // MI350: 38.4 GT/s, 16 lanes
            default -> 0;
        };
    }
}

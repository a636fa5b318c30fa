// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import java.util.Locale;

/**
 * Families of Ascend training hardware, as far as the libraries' rules differ. Limits of streams and events: the vendor's runtime documentation.
 */
public enum HcclFamily {
    /** 910A and its family: two groups of four devices in a server. */
    A910A("910A", 2048, 65_535, false, false, false),
    /** Atlas A2: 910B. */
    A2("Atlas A2", 1984, 65_536, true, false, false),
    /** Atlas A3: 910C, two dies in a package. */
    A3("Atlas A3", 1984, 65_536, true, true, true),
    /** 950. */
    A950("950", 1984, 65_536, true, true, false);

    private final String label;
    private final int streams;
    private final int events;
    private final boolean bf16;
    private final boolean nativeWindows;
    private final boolean fabricHandles;

    HcclFamily(String label, int streams, int events, boolean bf16, boolean nativeWindows, boolean fabricHandles) {
        this.label = label;
        this.streams = streams;
        this.events = events;
        this.bf16 = bf16;
        this.nativeWindows = nativeWindows;
        this.fabricHandles = fabricHandles;
    }

    /** The family of a device by its name, such as {@code Ascend 910B3}; {@link #A2} where the name says nothing, as the most common one. */
    public static HcclFamily ofDevice(String name) {
        String key = name.toUpperCase(Locale.ROOT);
        if (key.contains("910A") || key.contains("910PRO") || key.contains("910PREMIUM")) {
            return A910A;
        }
        if (key.contains("910C") || key.contains("910_93")) {
            return A3;
        }
        return key.contains("ASCEND 950") || key.contains("ASCEND950") ? A950 : A2;
    }

    /** As people write it. */
    public String label() {
        return label;
    }

    /** Streams of a device, the default stream included. */
    public int streams() {
        return streams;
    }

    /** Events of a device. */
    public int events() {
        return events;
    }

    /** Whether collectives know bf16. */
    public boolean bf16() {
        return bf16;
    }

    /** Whether the library registers symmetric windows; elsewhere memory is shared by IPC keys and one-way peer access. */
    public boolean nativeWindows() {
        return nativeWindows;
    }

    /** Whether memory handles reach other servers. */
    public boolean fabricHandles() {
        return fabricHandles;
    }
}

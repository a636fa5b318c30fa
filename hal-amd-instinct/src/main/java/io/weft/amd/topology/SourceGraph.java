// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.api.Finding;
import io.weft.spi.input.PciAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** What one source says, nothing added. Filled by one reader on one thread, then only read. */
final class SourceGraph {
    final SourceKind kind;
    /** The file or folder, for people. */
    final String place;

    final List<GpuClaim> gpus = new ArrayList<>();
    final List<CardClaim> cards = new ArrayList<>();
    final List<Finding> findings = new ArrayList<>();
    private final TreeMap<Long, PairClaim> pairs = new TreeMap<>();

    SourceGraph(SourceKind kind, String place) {
        this.kind = kind;
        this.place = place;
    }

    /** What is said about the path from one GPU of {@link #gpus} to another; made when it is first asked for. */
    PairClaim pair(int from, int to) {
        return pairs.computeIfAbsent((long) from << 32 | to, key -> new PairClaim());
    }

    /** What is said about it, or null. */
    PairClaim said(int from, int to) {
        return pairs.get((long) from << 32 | to);
    }

    /** Whether it names GPUs by address, not only by number. */
    boolean hasAddresses() {
        return gpus.stream().allMatch(gpu -> gpu.address != null);
    }

    void note(Finding.Severity severity, String check, String seen) {
        findings.add(Finding.of(severity, check, place + ": " + seen));
    }

    /** A GPU. Fields are null, empty or negative while nothing was said. */
    static final class GpuClaim {
        /** The source's own number for it. */
        int index = -1;

        PciAddress address;
        String product = "";
        String gfx = "";
        int computeUnits = -1;
        int numa = -1;
        int server;
        /** The driver's hive; null when the source knows no hives, empty when the GPU is in none. */
        String hive;

        int hostEngines = -1;
        int fabricEngines = -1;
        String uniqueId = "";
        /** PCIe GT/s and lanes. */
        double pcieSpeed = Double.NaN;

        int pcieLanes = -1;
        /** Addresses of the bridges above it, from the host down. */
        List<String> bridges = List.of();

        /** Its name in messages. */
        String name() {
            return address != null ? address.toString() : "GPU" + index;
        }
    }

    /** A directed pair. Negative, null and UNKNOWN while nothing was said. */
    static final class PairClaim {
        LinkClass linkClass = LinkClass.UNKNOWN;
        long weight = -1;
        /** The SMI tools' abstract hops: 1 xGMI, 2 one host socket, 3 two. */
        int smiHops = -1;
        /** MB/s of one link, and of all of them; 0 and 0 when there is no link of its own. */
        long minBandwidth = -1;

        long maxBandwidth = -1;
        /** Parallel links, when the source counts them itself. */
        int count = -1;

        Boolean accessible;
        /** Recommended copy engines, one bit each; 0 when there is no recommendation. */
        long engines = -1;

        boolean statesBandwidth() {
            return minBandwidth >= 0 && maxBandwidth >= 0;
        }
    }

    /** A network card. */
    static final class CardClaim {
        String name = "";
        String address = "";
        int numa = -1;
        int server;
        double gigabytesPerSecond = Double.NaN;
        List<String> bridges = List.of();
    }
}

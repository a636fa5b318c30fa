// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.api.Finding;
import io.weft.spi.input.PciAddress;
import java.util.List;

/**
 * The GPUs of a machine and how they reach one another: what all sources say together. Immutable.
 *
 * @param sources what was read
 * @param gpus by ordinal
 * @param pairs by source and destination ordinal; null on the diagonal
 * @param cards network cards
 * @param findings what is odd, contradictions first
 */
public record GpuGraph(
        List<String> sources, List<Gpu> gpus, List<List<Pair>> pairs, List<Card> cards, List<Finding> findings) {
    public GpuGraph {
        sources = List.copyOf(sources);
        gpus = List.copyOf(gpus);
        cards = List.copyOf(cards);
        findings = List.copyOf(findings);
    }

    /**
     * A GPU.
     *
     * @param ordinal its number here
     * @param address PCI address, null when no source names it
     * @param product such as {@code MI300X}, empty when unknown
     * @param gfx architecture, empty when unknown
     * @param computeUnits -1 when unknown
     * @param numa host NUMA node, -1 when unknown
     * @param server 0, unless an RCCL file describes several hosts
     * @param hive number of its hive from 0, -1 when it is in none
     * @param hostEngines SDMA engines for host traffic, -1 when unknown
     * @param fabricEngines SDMA engines for xGMI, -1 when unknown
     * @param uniqueId the driver's, hexadecimal; empty when unknown
     * @param pcieSpeed GT/s of its PCIe link, NaN when unknown
     * @param pcieLanes lanes of its PCIe link, -1 when unknown
     * @param bridges what is above it on PCIe, from the host down
     */
    public record Gpu(
            int ordinal,
            PciAddress address,
            String product,
            String gfx,
            int computeUnits,
            int numa,
            int server,
            int hive,
            int hostEngines,
            int fabricEngines,
            String uniqueId,
            double pcieSpeed,
            int pcieLanes,
            List<String> bridges) {
        public Gpu {
            bridges = List.copyOf(bridges);
        }

        /** Its name in messages. */
        public String name() {
            return address == null ? "GPU" + ordinal : address.toString();
        }
    }

    /**
     * A directed pair.
     *
     * @param linkClass what joins them
     * @param direct whether they have xGMI links of their own
     * @param hops xGMI hops, from the weight or the shortest way; for PCIe 2 within a socket and 3 across; 0 when unknown
     * @param width parallel links at the narrowest place, 0 when unknown
     * @param linkMegabytes nominal MB/s of one link, 0 when unknown
     * @param via GPUs that it leads through
     * @param weight the driver's weight, -1 when unknown
     * @param stated the bandwidth as the source writes it, empty when it does not
     * @param engines recommended SDMA engines, one bit each; -1 when unknown
     * @param accessible whether peer access works, null when no source says
     */
    public record Pair(
            LinkClass linkClass,
            boolean direct,
            int hops,
            int width,
            long linkMegabytes,
            List<Integer> via,
            long weight,
            String stated,
            long engines,
            Boolean accessible) {
        public Pair {
            via = List.copyOf(via);
        }

        /** Nominal GB/s one way, NaN when unknown. */
        public double gigabytesPerSecond() {
            return width == 0 || linkMegabytes == 0 ? Double.NaN : width * linkMegabytes / 1e3;
        }
    }

    /**
     * A network card.
     *
     * @param nearest the GPUs closest to it on PCIe
     */
    public record Card(
            String name, String address, int server, int numa, double gigabytesPerSecond, List<Integer> nearest) {
        public Card {
            nearest = List.copyOf(nearest);
        }
    }

    /** The pair, null for one GPU with itself. */
    public Pair pair(int from, int to) {
        return pairs.get(from).get(to);
    }

    /** Number of hives. */
    public int hives() {
        return gpus.stream().mapToInt(Gpu::hive).max().orElse(-1) + 1;
    }
}

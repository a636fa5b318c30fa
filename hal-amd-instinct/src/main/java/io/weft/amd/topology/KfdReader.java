// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.amd.topology.SourceGraph.CardClaim;
import io.weft.amd.topology.SourceGraph.GpuClaim;
import io.weft.amd.topology.SourceGraph.PairClaim;
import io.weft.api.Finding;
import io.weft.spi.input.PciAddress;
import io.weft.spi.input.ToolText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the kernel driver's sysfs tree, {@code /sys/class/kfd/kfd/topology/nodes}: of this machine, or copied from another one. Where the rest of {@code /sys} was copied too,
 * it also reads NUMA nodes and PCIe links of the GPUs, and network cards.
 */
final class KfdReader {
    static final String ACCEPTED =
            "a folder that is or holds sys/class/kfd/kfd/topology/nodes, with a numbered folder for each node";

    /** Where the nodes may lie below the folder given, the likeliest first. */
    private static final List<String> PLACES = List.of(
            "sys/class/kfd/kfd/topology/nodes",
            "sys/devices/virtual/kfd/kfd/topology/nodes",
            "class/kfd/kfd/topology/nodes",
            "kfd/kfd/topology/nodes",
            "kfd/topology/nodes",
            "topology/nodes",
            "nodes",
            "");

    private static final int MAX_PROPERTIES = 64 << 10;
    private static final int MOST_LINKS = 4096;
    private static final Pattern RATE = Pattern.compile("^(\\d{1,5}(?:\\.\\d+)?)\\s*Gb/sec.*");
    private static final Pattern SPEED = Pattern.compile("^(\\d{1,3}(?:\\.\\d+)?)\\s*GT/s.*");

    private final SourceGraph graph;
    private final Path nodes;
    /** The root of the machine's files, or null when only the nodes are there. */
    private final Path root;

    private final Map<Long, Integer> gpuOfNode = new HashMap<>();
    /** CPU nodes by KFD's number, in order: NUMA nodes are numbered alike. */
    private final TreeMap<Long, Integer> numaOfNode = new TreeMap<>();

    private KfdReader(Path given, Path nodes) {
        this.nodes = nodes;
        graph = new SourceGraph(SourceKind.KFD, given.toString());
        root = root(nodes);
    }

    /** Where the nodes are below a folder; empty when they are not there. */
    static Optional<Path> nodes(Path folder) {
        for (String place : PLACES) {
            Path candidate = place.isEmpty() ? folder : folder.resolve(place);
            if (Files.isDirectory(candidate) && !numbered(candidate).isEmpty()) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    static SourceGraph read(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw ToolText.refused(
                    folder,
                    (Files.exists(folder) ? "is a file" : "there is no such folder") + "; accepted is " + ACCEPTED);
        }
        Path nodes = nodes(folder)
                .orElseThrow(() -> ToolText.refused(folder, "holds no KFD topology; accepted is " + ACCEPTED));
        KfdReader reader = new KfdReader(folder, nodes);
        reader.read();
        return reader.graph;
    }

    private static Path root(Path nodes) {
        Path absolute = nodes.toAbsolutePath().normalize();
        for (String suffix : PLACES.subList(0, 2)) {
            if (absolute.endsWith(suffix)) {
                Path root = absolute;
                for (int i = Path.of(suffix).getNameCount(); i > 0; i--) {
                    root = root.getParent();
                }
                return root;
            }
        }
        return null;
    }

    private static List<Path> numbered(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> entry.getFileName().toString().matches("\\d{1,9}"))
                    .sorted((a, b) -> Integer.compare(number(a), number(b)))
                    .limit(MOST_LINKS)
                    .toList();
        } catch (IOException unreadable) {
            return List.of();
        }
    }

    private static int number(Path folder) {
        return Integer.parseInt(folder.getFileName().toString());
    }

    private void read() {
        Map<Long, Map<String, Long>> all = new TreeMap<>();
        List<Long> hidden = new ArrayList<>();
        for (Path node : numbered(nodes)) {
            Map<String, Long> properties = properties(node.resolve("properties"));
            if (properties.isEmpty()) {
                hidden.add((long) number(node));
                continue;
            }
            all.put((long) number(node), properties);
        }
        if (!hidden.isEmpty()) {
            graph.note(
                    Finding.Severity.WARNING,
                    "kfd-nodes",
                    "the properties of node " + hidden.toString().replaceAll("[\\[\\]]", "")
                            + " are empty or cannot be read, as in a container that may not use those devices; they "
                            + "are left out");
        }
        for (Map.Entry<Long, Map<String, Long>> node : all.entrySet()) {
            if (value(node.getValue(), "cpu_cores_count") > 0) {
                numaOfNode.put(node.getKey(), numaOfNode.size());
            }
            if (value(node.getValue(), "simd_count") > 0) {
                if (graph.gpus.size() == MatrixTable.MOST_GPUS) {
                    throw SmiTables.tooMany(nodes);
                }
                gpuOfNode.put(node.getKey(), graph.gpus.size());
                graph.gpus.add(gpu(node.getKey(), node.getValue()));
            }
        }
        if (graph.gpus.isEmpty()) {
            throw ToolText.refused(
                    nodes,
                    "of " + all.size() + " nodes none is a GPU (simd_count above 0); the driver sees no GPU, or the "
                            + "copy is incomplete");
        }
        for (long node : all.keySet()) {
            links(node, "io_links");
            links(node, "p2p_links");
        }
        networkCards();
    }

    private GpuClaim gpu(long node, Map<String, Long> properties) {
        GpuClaim gpu = new GpuClaim();
        gpu.index = graph.gpus.size();
        long location = value(properties, "location_id");
        if (properties.containsKey("location_id")) {
            gpu.address = PciAddress.ofLocation(Math.max(0, value(properties, "domain")), location);
            for (GpuClaim other : graph.gpus) {
                if (gpu.address.equals(other.address)) {
                    graph.note(
                            Finding.Severity.PROBLEM,
                            "kfd-nodes",
                            "node " + node + " has the same address as an earlier one, " + gpu.address);
                }
            }
        }
        gpu.product = Chip.product(value(properties, "device_id"));
        gpu.gfx = Chip.ofTargetVersion(value(properties, "gfx_target_version"));
        long simds = value(properties, "simd_count");
        long perUnit = Math.max(1, value(properties, "simd_per_cu"));
        gpu.computeUnits = (int) Math.min(simds / perUnit, Integer.MAX_VALUE);
        Long hive = properties.get("hive_id");
        gpu.hive = hive == null ? null : hive == 0 ? "" : Long.toUnsignedString(hive);
        gpu.hostEngines = (int) value(properties, "num_sdma_engines", -1);
        gpu.fabricEngines = (int) value(properties, "num_sdma_xgmi_engines", -1);
        long unique = value(properties, "unique_id");
        gpu.uniqueId = unique == 0 ? "" : Long.toHexString(unique);
        if (root != null && gpu.address != null) {
            Path device = root.resolve("sys/bus/pci/devices").resolve(gpu.address.toString());
            text(device.resolve("numa_node"))
                    .filter(text -> text.matches("\\d{1,6}"))
                    .ifPresent(text -> gpu.numa = Integer.parseInt(text));
            text(device.resolve("current_link_speed")).ifPresent(text -> {
                Matcher speed = SPEED.matcher(text);
                gpu.pcieSpeed = speed.matches() ? Double.parseDouble(speed.group(1)) : Double.NaN;
            });
            text(device.resolve("current_link_width"))
                    .filter(text -> text.matches("\\d{1,2}"))
                    .ifPresent(text -> gpu.pcieLanes = Integer.parseInt(text));
            gpu.bridges = bridges(device);
        }
        return gpu;
    }

    private void links(long node, String kind) {
        Integer from = gpuOfNode.get(node);
        if (from == null) {
            return;
        }
        long nearest = Long.MAX_VALUE;
        Path folder = nodes.resolve(Long.toString(node)).resolve(kind);
        for (Path entry : Files.isDirectory(folder) ? numbered(folder) : List.<Path>of()) {
            Map<String, Long> link = properties(entry.resolve("properties"));
            if (link.isEmpty()) {
                continue;
            }
            String name = "node " + node + " " + kind + "/" + entry.getFileName();
            if (value(link, "node_from", node) != node) {
                graph.note(
                        Finding.Severity.PROBLEM,
                        "kfd-links",
                        name + " says that it starts at node " + value(link, "node_from") + "; it is left out");
                continue;
            }
            long target = value(link, "node_to", -1);
            Integer to = gpuOfNode.get(target);
            if (to != null) {
                if (!to.equals(from)) {
                    link(graph.pair(from, to), link, name);
                }
            } else if (numaOfNode.containsKey(target)) {
                long weight = value(link, "weight", Long.MAX_VALUE - 1);
                if (weight < nearest) {
                    nearest = weight;
                    GpuClaim gpu = graph.gpus.get(from);
                    gpu.numa = gpu.numa >= 0 && root != null ? gpu.numa : numaOfNode.get(target);
                }
            }
        }
    }

    private void link(PairClaim pair, Map<String, Long> link, String name) {
        long number = value(link, "type", -1);
        KfdLinkType type = KfdLinkType.of(number);
        if (type == null) {
            graph.note(
                    Finding.Severity.WARNING,
                    "kfd-links",
                    name + " is of type " + number + ", which no kernel header names");
        }
        LinkClass linkClass = type == null ? LinkClass.UNKNOWN : type.linkClass();
        if (pair.linkClass == LinkClass.XGMI && linkClass != LinkClass.XGMI) {
            // The way over PCIe beside the fabric; the fabric is used.
            return;
        }
        pair.linkClass = linkClass;
        pair.weight = value(link, "weight", -1);
        pair.minBandwidth = value(link, "min_bandwidth", -1);
        pair.maxBandwidth = value(link, "max_bandwidth", -1);
        pair.engines = value(link, "recommended_sdma_engine_id_mask", -1);
        if (pair.maxBandwidth < pair.minBandwidth) {
            graph.note(
                    Finding.Severity.PROBLEM,
                    "kfd-links",
                    name + " states a largest bandwidth of " + pair.maxBandwidth + " MB/s below its smallest of "
                            + pair.minBandwidth);
            pair.minBandwidth = -1;
            pair.maxBandwidth = -1;
        }
    }

    private void networkCards() {
        if (root == null) {
            return;
        }
        Path cards = root.resolve("sys/class/infiniband");
        if (!Files.isDirectory(cards)) {
            return;
        }
        try (Stream<Path> entries = Files.list(cards)) {
            for (Path entry : entries.sorted().limit(MatrixTable.MOST_GPUS).toList()) {
                CardClaim card = new CardClaim();
                card.name = entry.getFileName().toString();
                text(entry.resolve("device/numa_node"))
                        .filter(text -> text.matches("\\d{1,6}"))
                        .ifPresent(text -> card.numa = Integer.parseInt(text));
                text(entry.resolve("ports/1/rate")).ifPresent(text -> {
                    Matcher rate = RATE.matcher(text);
                    card.gigabytesPerSecond = rate.matches() ? Double.parseDouble(rate.group(1)) / 8 : Double.NaN;
                });
                card.bridges = bridges(entry.resolve("device"));
                if (!card.bridges.isEmpty()) {
                    card.address = realName(entry.resolve("device"));
                }
                graph.cards.add(card);
            }
        } catch (IOException unreadable) {
            graph.note(Finding.Severity.NOTE, "network-cards", cards + " cannot be listed");
        }
    }

    /** The PCI addresses above a device, from its real place in {@code /sys/devices}; none when that was not copied. */
    private static List<String> bridges(Path device) {
        List<String> bridges = new ArrayList<>();
        try {
            Path real = device.toRealPath();
            for (Path part : real) {
                if (part.toString().matches("pci[0-9a-f]{4,8}:[0-9a-f]{2}")
                        || PciAddress.parse(part.toString()).isPresent()) {
                    bridges.add(part.toString());
                }
            }
            if (!bridges.isEmpty()) {
                bridges.removeLast();
            }
        } catch (IOException absent) {
            bridges.clear();
        }
        return bridges;
    }

    private static String realName(Path link) {
        try {
            return link.toRealPath().getFileName().toString();
        } catch (IOException absent) {
            return "";
        }
    }

    private static Optional<String> text(Path file) {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try (InputStream in = Files.newInputStream(file)) {
            return Optional.of(new String(in.readNBytes(MAX_PROPERTIES), StandardCharsets.UTF_8).strip());
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** A file of keys and unsigned numbers; keys whose value is none are left out. */
    private static Map<String, Long> properties(Path file) {
        Map<String, Long> properties = new LinkedHashMap<>();
        for (String line : text(file).orElse("").split("\\R", -1)) {
            String[] words = line.strip().split("\\s+", -1);
            if (words.length == 2 && words[1].matches("\\d{1,20}")) {
                try {
                    properties.put(words[0], Long.parseUnsignedLong(words[1]));
                } catch (NumberFormatException tooLarge) {
                    // No number of the driver's: as if the line were not there.
                    properties.remove(words[0]);
                }
            }
        }
        return properties;
    }

    private static long value(Map<String, Long> properties, String key) {
        return value(properties, key, 0);
    }

    private static long value(Map<String, Long> properties, String key, long otherwise) {
        return properties.getOrDefault(key, otherwise);
    }
}

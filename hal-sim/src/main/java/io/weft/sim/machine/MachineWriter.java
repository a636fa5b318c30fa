// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.topology.LinkKind;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/**
 * Writes a machine as a document that {@link MachineReader} reads back to the same numbers, bit by bit. Equal devices in a row become one entry, and links that a shape describes become one.
 *
 * <p>Numbers have the shortest decimal form that is read back exactly. Comments are given by key; keys are written as messages of the reader name them, such as {@code devices[0].memory.efficiency}.
 */
public final class MachineWriter {
    private static final double GIGA = 1e9;
    private static final double TERA = 1e12;
    private static final double GIB = 1L << 30;
    private static final double MIB = 1L << 20;
    private static final int DIGITS = 17;
    private static final int COMMENT_COLUMN = 44;

    private final Machine machine;
    private final Map<String, String> comments;
    private final StringBuilder out = new StringBuilder(4096);

    private MachineWriter(Machine machine, Map<String, String> comments) {
        this.machine = machine;
        this.comments = comments;
    }

    /** The document without comments. */
    public static String write(Machine machine) {
        return write(machine, List.of(), Map.of());
    }

    /**
     * The document.
     *
     * @param header lines of the comment at its top
     * @param comments what stands beside numbers, by key; keys that are not written are let pass
     */
    public static String write(Machine machine, List<String> header, Map<String, String> comments) {
        MachineWriter writer = new MachineWriter(machine, comments);
        for (String line : header) {
            writer.out.append(("# " + oneLine(line)).stripTrailing()).append('\n');
        }
        writer.document();
        return writer.out.toString();
    }

    private void document() {
        line("", "machine", text(machine.name()), "machine");
        if (!machine.description().isEmpty()) {
            line("", "description", text(machine.description()), "description");
        }
        if (!machine.vendor().isEmpty()) {
            line("", "vendor", text(machine.vendor()), "vendor");
        }
        if (machine.forwardingEfficiency() != 1) {
            line("", "forwarding_efficiency", number(machine.forwardingEfficiency(), 1), "forwarding_efficiency");
        }
        if (machine.forwardingDuplexEfficiency() != 1) {
            line(
                    "",
                    "forwarding_duplex_efficiency",
                    number(machine.forwardingDuplexEfficiency(), 1),
                    "forwarding_duplex_efficiency");
        }
        out.append("\ndevices:\n");
        int entry = 0;
        for (int first = 0; first < machine.deviceCount(); entry++) {
            int count = 1;
            while (first + count < machine.deviceCount() && follows(first, first + count)) {
                count++;
            }
            device(entry, first, count);
            first += count;
        }
        if (!machine.switches().isEmpty()) {
            out.append("\nswitches:\n");
            machine.switches()
                    .forEach(name -> out.append("  - ").append(text(name)).append('\n'));
        }
        if (!machine.links().isEmpty()) {
            out.append("\nlinks:\n");
            links();
        }
        if (!machine.fixedRoutes().isEmpty()) {
            out.append("\nroutes:\n");
            // Every route stands there in both directions, and one of them says it.
            for (int i = 0; i < machine.fixedRoutes().size(); i += 2) {
                List<String> path = new ArrayList<>();
                for (int vertex : machine.fixedRoutes().get(i)) {
                    String name = machine.vertexName(vertex);
                    path.add(vertex < machine.deviceCount() ? name : text(name));
                }
                out.append("  - {path: [").append(String.join(", ", path)).append("]}\n");
            }
        }
        out.append("\ncollectives:\n");
        collectives();
    }

    // Devices.

    /** Whether a device can stand in the entry of another. */
    private boolean follows(int first, int other) {
        DeviceModel a = machine.device(first);
        DeviceModel b = machine.device(other);
        return a.node() == b.node() && a.busId().isEmpty() == b.busId().isEmpty() && alike(a, b);
    }

    /** Whether two devices differ at most in their place. */
    static boolean alike(DeviceModel a, DeviceModel b) {
        return moved(a).equals(moved(b));
    }

    private static DeviceModel moved(DeviceModel d) {
        return new DeviceModel(
                d.name(),
                d.architecture(),
                0,
                d.numaNode(),
                "",
                d.computeUnits(),
                d.clockGhz(),
                d.gemm(),
                d.memory(),
                d.copyEngines(),
                d.kernels(),
                d.launch(),
                d.hostLink(),
                d.fp8(),
                d.extra());
    }

    private void device(int entry, int first, int count) {
        DeviceModel device = machine.device(first);
        String key = "devices[" + entry + "]";
        out.append("  - count: ").append(count).append('\n');
        String in = "    ";
        line(in, "name", text(device.name()), key + ".name");
        line(in, "architecture", text(device.architecture()), key + ".architecture");
        line(in, "node", Integer.toString(device.node()), key + ".node");
        line(in, "numa_node", Integer.toString(device.numaNode()), key + ".numa_node");
        line(in, "fp8", device.fp8().name().toLowerCase(Locale.ROOT), key + ".fp8");
        if (!device.busId().isEmpty()) {
            List<String> ids = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                ids.add(text(machine.device(first + i).busId()));
            }
            line(in, "bus_ids", "[" + String.join(", ", ids) + "]", key + ".bus_ids");
        }
        if (!device.extra().isEmpty()) {
            out.append(in).append("extra:\n");
            device.extra().forEach((name, value) -> line(in + "  ", text(name), text(value), key + ".extra." + name));
        }
        compute(in, key + ".compute", device);
        memory(in, key + ".memory", device.memory());
        engines(in, key + ".copy_engines", device.copyEngines());
        kernels(in, key + ".kernels", device.kernels());
        launch(in, key + ".launch", device.launch());
        HostLinkModel host = device.hostLink();
        out.append(in).append("host_link:\n");
        numbers(
                in + "  ",
                key + ".host_link",
                Map.entry("to_device_gb_per_s", number(host.toDevice(), GIGA)),
                Map.entry("from_device_gb_per_s", number(host.fromDevice(), GIGA)),
                Map.entry("latency_ns", number(host.latencyNanos(), 1)));
    }

    private void compute(String in, String key, DeviceModel device) {
        out.append(in).append("compute:\n");
        String inside = in + "  ";
        line(inside, "units", Integer.toString(device.computeUnits()), key + ".units");
        line(inside, "clock_ghz", number(device.clockGhz(), 1), key + ".clock_ghz");
        out.append(inside).append("peak_tflops:\n");
        Map<String, Double> peaks = new LinkedHashMap<>();
        for (ElementType type : ElementType.values()) {
            Double flops = device.gemm().peakFlops().get(type);
            if (flops != null) {
                peaks.put(type.isFp8() ? "fp8" : type.label(), flops);
            }
        }
        peaks.forEach((type, flops) -> line(inside + "  ", type, number(flops, TERA), key + ".peak_tflops." + type));
        String above = comments.get(key + ".tiles");
        if (above != null) {
            out.append(inside).append("# ").append(oneLine(above)).append('\n');
        }
        out.append(inside).append("tiles:\n");
        int i = 0;
        for (TileModel tile : device.gemm().tiles()) {
            String text = "- {rows: " + tile.rows() + ", columns: " + tile.columns() + ", efficiency: "
                    + number(tile.efficiency(), 1) + "}";
            commented(inside + "  " + text, key + ".tiles[" + i++ + "].efficiency");
        }
        numbers(
                inside,
                key,
                Map.entry("prologue_k", Integer.toString(device.gemm().prologueK())),
                Map.entry("max_split_k", Integer.toString(device.gemm().maxSplitK())),
                Map.entry("split_k_exposed", number(device.gemm().splitKExposed(), 1)),
                Map.entry("wave_quantisation", number(device.gemm().waveQuantisation(), 1)),
                Map.entry("accumulate_ns_per_kib", number(device.gemm().accumulateNanosPerKib(), 1)),
                Map.entry("concurrency_efficiency", number(device.gemm().concurrencyEfficiency(), 1)));
    }

    private void memory(String in, String key, MemoryModel memory) {
        out.append(in).append("memory:\n");
        numbers(
                in + "  ",
                key,
                Map.entry("size_gib", whole(memory.bytes(), GIB)),
                Map.entry("bandwidth_gb_per_s", number(memory.bandwidth(), GIGA)),
                Map.entry("efficiency", number(memory.efficiency(), 1)),
                Map.entry("last_level_cache_mib", whole(memory.cacheBytes(), MIB)),
                Map.entry("allocation_alignment_bytes", Long.toString(memory.allocationAlignment())));
    }

    private void engines(String in, String key, CopyEngineModel engines) {
        out.append(in).append("copy_engines:\n");
        String map = engines.map().isEmpty() ? "per-peer" : engines.map().toString();
        numbers(
                in + "  ",
                key,
                Map.entry("count", Integer.toString(engines.count())),
                Map.entry("host_engines", Integer.toString(engines.hostEngines())),
                Map.entry("bandwidth_gb_per_s", number(engines.bandwidth(), GIGA)),
                Map.entry("setup_ns", number(engines.setupNanos(), 1)),
                Map.entry("auto_from_bytes", Long.toString(engines.autoFromBytes())),
                Map.entry("strided_row_overhead_bytes", Integer.toString(engines.rowOverheadBytes())),
                Map.entry("map", map));
    }

    private void kernels(String in, String key, KernelModel kernels) {
        out.append(in).append("kernels:\n");
        numbers(
                in + "  ",
                key,
                Map.entry("hardware_queues", Integer.toString(kernels.hardwareQueues())),
                Map.entry("priorities", Integer.toString(kernels.priorities())),
                Map.entry("start_ns", number(kernels.startNanos(), 1)),
                Map.entry("bandwidth_gb_per_s_per_unit", number(kernels.bandwidthPerUnit(), GIGA)),
                Map.entry("bytes_per_unit", number(kernels.bytesPerUnit(), 1)),
                Map.entry("max_units", Integer.toString(kernels.maxUnits())),
                Map.entry("peer_copy_units", Integer.toString(kernels.peerCopyUnits())),
                Map.entry("strided_row_overhead_bytes", Integer.toString(kernels.rowOverheadBytes())),
                Map.entry("earlier_weight", number(kernels.earlierWeight(), 1)),
                Map.entry("element_ns", number(kernels.elementNanos(), 1)));
    }

    private void launch(String in, String key, LaunchModel launch) {
        out.append(in).append("launch:\n");
        numbers(
                in + "  ",
                key,
                Map.entry("graph_ns", number(launch.graphNanos(), 1)),
                Map.entry("graph_device_ns", number(launch.graphDeviceNanos(), 1)),
                Map.entry("graph_lane_ns", number(launch.graphLaneNanos(), 1)),
                Map.entry("eager_ns", number(launch.eagerNanos(), 1)),
                Map.entry("signal_ns", number(launch.signalNanos(), 1)),
                Map.entry("issue_kernel_ns", number(launch.issueKernelNanos(), 1)),
                Map.entry("issue_copy_ns", number(launch.issueCopyNanos(), 1)),
                Map.entry("issue_event_ns", number(launch.issueEventNanos(), 1)));
    }

    // Links.

    private static LinkModel without(LinkModel link) {
        return new LinkModel(
                link.kind(),
                link.name(),
                0,
                0,
                link.bandwidth(),
                link.reverseBandwidth(),
                link.efficiency(),
                link.duplexEfficiency(),
                link.latencyNanos(),
                link.width(),
                link.copyable(),
                link.addressable());
    }

    private void links() {
        List<LinkModel> links = machine.links();
        int entry = 0;
        for (int first = 0; first < links.size(); entry++) {
            LinkModel kind = without(links.get(first));
            int end = first + 1;
            while (end < links.size() && without(links.get(end)).equals(kind)) {
                end++;
            }
            List<LinkModel> run = links.subList(first, end);
            int taken = shape(run);
            String ends = taken > 1 ? ends(run.subList(0, taken)) : between(run.getFirst());
            link(entry, kind, ends);
            first += taken;
        }
    }

    /** How many links from the first on one shape describes: a star around a switch, or a mesh of all devices. */
    private int shape(List<LinkModel> run) {
        int devices = machine.deviceCount();
        int to = run.getFirst().to();
        if (to >= devices && run.getFirst().from() < devices) {
            int count = 0;
            while (count < run.size()
                    && run.get(count).to() == to
                    && run.get(count).from() < devices) {
                count++;
            }
            return count;
        }
        int pairs = devices * (devices - 1) / 2;
        if (run.size() < pairs || devices < 3) {
            return 1;
        }
        int at = 0;
        for (int i = 0; i < devices; i++) {
            for (int j = i + 1; j < devices; j++) {
                LinkModel link = run.get(at++);
                if (link.from() != i || link.to() != j) {
                    return 1;
                }
            }
        }
        return pairs;
    }

    private String ends(List<LinkModel> run) {
        int to = run.getFirst().to();
        if (to < machine.deviceCount()) {
            return "    mesh: all\n";
        }
        TreeSet<Integer> sorted = new TreeSet<>();
        List<String> devices = new ArrayList<>();
        boolean ascending = true;
        for (LinkModel link : run) {
            ascending &= sorted.isEmpty() || link.from() > sorted.last();
            sorted.add(link.from());
            devices.add(Integer.toString(link.from()));
        }
        boolean all = ascending && sorted.size() == machine.deviceCount();
        return "    attach: " + (all ? "all" : "[" + String.join(", ", devices) + "]") + "\n    to: "
                + text(machine.vertexName(to)) + "\n";
    }

    private String between(LinkModel link) {
        return "    between: [" + end(link.from()) + ", " + end(link.to()) + "]\n";
    }

    private String end(int vertex) {
        return vertex < machine.deviceCount() ? Integer.toString(vertex) : text(machine.vertexName(vertex));
    }

    private void link(int entry, LinkModel link, String ends) {
        String key = "links[" + entry + "]";
        String kind = link.kind() == LinkKind.IN_PACKAGE
                ? "in-package"
                : link.kind().name().toLowerCase(Locale.ROOT);
        out.append("  - kind: ").append(kind).append('\n');
        String in = "    ";
        line(in, "name", text(link.name()), key + ".name");
        out.append(ends);
        line(in, "bandwidth_gb_per_s", number(link.bandwidth(), GIGA), key + ".bandwidth_gb_per_s");
        if (link.reverseBandwidth() != link.bandwidth()) {
            line(
                    in,
                    "reverse_bandwidth_gb_per_s",
                    number(link.reverseBandwidth(), GIGA),
                    key + ".reverse_bandwidth_gb_per_s");
        }
        numbers(
                in,
                key,
                Map.entry("efficiency", number(link.efficiency(), 1)),
                Map.entry("duplex_efficiency", number(link.duplexEfficiency(), 1)),
                Map.entry("latency_ns", number(link.latencyNanos(), 1)),
                Map.entry("width", Integer.toString(link.width())),
                Map.entry("copyable", Boolean.toString(link.copyable())),
                Map.entry("addressable", Boolean.toString(link.addressable())));
    }

    // Collectives.

    private void collectives() {
        int entry = 0;
        for (CollectiveModel model : machine.collectiveModels()) {
            String key = "collectives[" + entry++ + "]";
            String dash = "  - ";
            if (!model.kinds().isEmpty()) {
                List<String> kinds = new ArrayList<>();
                for (CollectiveKind kind : CollectiveKind.values()) {
                    if (model.kinds().contains(kind)) {
                        kinds.add(kind.name().toLowerCase(Locale.ROOT).replace('_', '-'));
                    }
                }
                out.append(dash)
                        .append("operations: [")
                        .append(String.join(", ", kinds))
                        .append("]\n");
                dash = "    ";
            }
            if (model.fastest()) {
                out.append(dash).append("choose: fastest\n");
                dash = "    ";
            }
            out.append(dash).append("ranges:\n");
            int i = 0;
            for (CollectiveRange range : model.ranges()) {
                String upTo = range.maxBytes() == Long.MAX_VALUE ? "" : "up_to_bytes: " + range.maxBytes() + ", ";
                String above = model.fastest() && range.minBytes() > 0 ? "above_bytes: " + range.minBytes() + ", " : "";
                String protocol = range.protocol().isEmpty() ? "" : ", protocol: " + text(range.protocol());
                commented(
                        "      - {" + above + upTo + "algorithm: "
                                + range.algorithm().name().toLowerCase(Locale.ROOT) + protocol + ", channels: "
                                + range.channels() + ", base_ns: " + number(range.baseNanos(), 1) + ", step_ns: "
                                + number(range.stepNanos(), 1) + ", compute_units: " + range.computeUnits()
                                + ", efficiency: " + number(range.efficiency(), 1) + "}",
                        key + ".ranges[" + i++ + "]");
            }
        }
    }

    // Text.

    @SafeVarargs
    private void numbers(String in, String key, Map.Entry<String, String>... values) {
        for (Map.Entry<String, String> value : values) {
            line(in, value.getKey(), value.getValue(), key + "." + value.getKey());
        }
    }

    private void line(String in, String name, String value, String key) {
        commented(in + name + ": " + value, key);
    }

    private void commented(String text, String key) {
        out.append(text);
        String comment = comments.get(key);
        if (comment != null) {
            out.append(" ".repeat(Math.max(2, COMMENT_COLUMN - text.length())))
                    .append("# ")
                    .append(oneLine(comment));
        }
        out.append('\n');
    }

    private static String oneLine(String text) {
        return text.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
    }

    /** A string that no reader takes for something else: quoted unless it is plainly a word. */
    private static String text(String value) {
        if (value.matches("[A-Za-z][A-Za-z0-9 _./()-]*[A-Za-z0-9)]|[A-Za-z]")
                && !value.matches("(?i)true|false|yes|no|on|off|null|all")) {
            return value;
        }
        return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ") + '"';
    }

    /** The shortest decimal that, times the unit, is the number. */
    static String number(double value, double unit) {
        double scaled = value / unit;
        for (double near : new double[] {scaled, Math.nextUp(scaled), Math.nextDown(scaled)}) {
            for (int digits = 1; digits <= DIGITS; digits++) {
                String text = plain(new BigDecimal(near).round(new MathContext(digits)));
                if (Double.parseDouble(text) * unit == value) {
                    return text;
                }
            }
        }
        return plain(new BigDecimal(scaled)); // off by the last bit: no decimal times the unit gives the number
    }

    /** The shortest decimal whose product with the unit is cut to a whole number. */
    private static String whole(long value, double unit) {
        for (int digits = 1; digits <= DIGITS; digits++) {
            String text = plain(new BigDecimal(value / unit).round(new MathContext(digits)));
            if ((long) (Double.parseDouble(text) * unit) == value) {
                return text;
            }
        }
        return plain(new BigDecimal(value / unit));
    }

    private static String plain(BigDecimal value) {
        return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.topology.LinkKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Reads machine documents. The keys are described in the documents that ship with the simulator ({@code mesh-8.yaml} has all of them, each with its
 * source). Every fault is a BAD_DOCUMENT that names file, line, key, what was found and what was expected.
 */
public final class MachineReader {
    private static final long MAX_BYTES = 16L << 20;
    private static final int MAX_LINKS = 1 << 22;
    private static final double GIGA = 1e9;
    private static final int MAX_UNITS = 1 << 20;

    private final String source;
    private final Map<String, Integer> switches = new HashMap<>();

    private MachineReader(String source) {
        this.source = source;
    }

    /**
     * Reads a file.
     *
     * @throws AcceleratorException BAD_DOCUMENT
     */
    public static Machine read(Path file) {
        try {
            return parse(file.toString(), load(file));
        } catch (BadDocument bad) {
            throw bad.refusal();
        }
    }

    /**
     * Reads a document that is in memory.
     *
     * @param source what messages call it
     * @throws AcceleratorException BAD_DOCUMENT
     */
    public static Machine read(String source, String text) {
        try {
            return parse(source, text);
        } catch (BadDocument bad) {
            throw bad.refusal();
        }
    }

    private static Machine parse(String source, String text) {
        DocumentNode.Entries root = DocumentParser.parse(source, text);
        return new MachineReader(source).machine(new DocumentSection(source, "", root));
    }

    private static String load(Path file) {
        String source = file.toString();
        if (Files.isDirectory(file)) {
            throw new BadDocument(source, "this is a directory; expected a machine document (YAML file)");
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes((int) MAX_BYTES + 1);
        } catch (NoSuchFileException missing) {
            throw new BadDocument(source, "there is no such file; expected a machine document (YAML file)");
        } catch (AccessDeniedException denied) {
            throw new BadDocument(source, "this file may not be read; give read permission or name another one");
        } catch (IOException failed) {
            throw new BadDocument(source, "cannot be read: " + failed.getMessage());
        }
        if (bytes.length > MAX_BYTES) {
            throw new BadDocument(source, "the document is larger than 16 MiB; expected a machine document");
        }
        return decode(source, bytes);
    }

    private static String decode(String source, byte[] bytes) {
        var decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(bytes.length + 1);
        CoderResult result = decoder.decode(in, out, true);
        try {
            if (result.isError()) {
                result.throwException();
            }
        } catch (CharacterCodingException wrong) {
            int line = 1;
            for (int i = 0; i < in.position(); i++) {
                line += bytes[i] == '\n' ? 1 : 0;
            }
            throw new BadDocument(
                    source, line, "byte " + in.position() + " is not UTF-8; expected a text file in UTF-8");
        }
        String text = out.flip().toString();
        return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    // The document.

    private Machine machine(DocumentSection root) {
        Machine.Builder machine = Machine.builder(root.text("machine"))
                .description(root.text("description", ""))
                .vendor(root.text("vendor", ""))
                .forwardingEfficiency(root.share("forwarding_efficiency", 1))
                .forwardingDuplexEfficiency(root.share("forwarding_duplex_efficiency", 1));
        List<DocumentSection> devices = root.sections("devices");
        if (devices.isEmpty()) {
            throw root.fault("devices", "the list is empty; expected at least one device");
        }
        List<DocumentSection> mapped = new ArrayList<>();
        for (DocumentSection device : devices) {
            devices(machine, device, mapped);
        }
        checkEngineMaps(machine.deviceCount(), mapped);
        if (root.has("switches")) {
            for (DocumentNode node : root.list("switches")) {
                if (!(node instanceof DocumentNode.Scalar name) || name.text().isBlank()) {
                    throw new BadDocument(source, node.line(), "switches: found " + node.found() + ", expected a name");
                }
                try {
                    switches.put(name.text(), machine.switchNode(name.text()));
                } catch (AcceleratorException twice) {
                    throw new BadDocument(source, node.line(), "switches: " + twice.detail());
                }
            }
        }
        if (root.has("links")) {
            int links = 0;
            for (DocumentSection link : root.sections("links")) {
                links = links(machine, link, links);
            }
        }
        if (root.has("routes")) {
            for (DocumentSection route : root.sections("routes")) {
                route(machine, route);
            }
        }
        List<DocumentSection> collectives = root.sections("collectives");
        for (DocumentSection collective : collectives) {
            machine.collective(collective(collective));
        }
        root.end();
        try {
            return machine.build();
        } catch (AcceleratorException wrong) {
            boolean unreachable = wrong.detail().startsWith("no path");
            throw root.fault(unreachable && root.has("links") ? "links" : "collectives", wrong.detail());
        }
    }

    private void devices(Machine.Builder machine, DocumentSection device, List<DocumentSection> mapped) {
        long count = device.whole("count", 1, Integer.MAX_VALUE, 1);
        if (machine.deviceCount() + count > Machine.MAX_DEVICES) {
            throw device.fault(
                    device.has("count") ? "count" : "name",
                    "the machine would have " + (machine.deviceCount() + count) + " devices; expected at most "
                            + Machine.MAX_DEVICES);
        }
        long node = device.whole("node", 0, Machine.MAX_DEVICES, 0);
        long perNode = device.whole("devices_per_node", 1, Machine.MAX_DEVICES, count);
        long numa = device.whole("numa_node", -1, 1024, -1);
        String name = device.text("name");
        String architecture = device.text("architecture");
        Fp8Encoding fp8 = Fp8Encoding.valueOf(
                device.choice("fp8", "ocp", "fnuz", "both", "none").toUpperCase(Locale.ROOT));
        List<String> busIds = busIds(device, count);
        Map<String, String> extra = new LinkedHashMap<>();
        if (device.has("extra")) {
            DocumentSection facts = device.section("extra");
            for (String key : facts.keys()) {
                extra.put(key, facts.text(key));
            }
        }
        DocumentSection compute = device.section("compute");
        int units = (int) compute.whole("units", 1, MAX_UNITS);
        double clock = compute.positive("clock_ghz");
        GemmModel gemm = gemm(compute, fp8);
        compute.end();
        MemoryModel memory = memory(device.section("memory"));
        DocumentSection engineSection = device.section("copy_engines");
        CopyEngineModel engines = engines(engineSection);
        if (!engines.map().isEmpty()) {
            mapped.add(engineSection);
        }
        KernelModel kernels = kernels(device.section("kernels"), units);
        LaunchModel launch = launch(device.section("launch"));
        HostLinkModel host = host(device.section("host_link"));
        device.end();
        for (int i = 0; i < count; i++) {
            DeviceModel model = new DeviceModel(
                    name,
                    architecture,
                    (int) (node + i / perNode),
                    (int) numa,
                    busIds.isEmpty() ? "" : busIds.get(i),
                    units,
                    clock,
                    gemm,
                    memory,
                    engines,
                    kernels,
                    launch,
                    host,
                    fp8,
                    extra);
            try {
                machine.device(model);
            } catch (AcceleratorException wrong) {
                throw device.section("memory").fault("allocation_alignment_bytes", wrong.detail());
            }
        }
    }

    private List<String> busIds(DocumentSection device, long count) {
        List<String> ids = new ArrayList<>();
        if (!device.has("bus_ids")) {
            return ids;
        }
        for (DocumentNode node : device.list("bus_ids")) {
            if (!(node instanceof DocumentNode.Scalar id)) {
                throw device.fault("bus_ids", "found " + node.found() + ", expected an address such as 0000:0c:00.0");
            }
            ids.add(id.text());
        }
        if (ids.size() != count) {
            throw device.fault("bus_ids", "found " + ids.size() + " addresses, expected one for each of " + count);
        }
        if (Set.copyOf(ids).size() < ids.size()) {
            throw device.fault("bus_ids", "one address stands twice; expected a different one for each device");
        }
        return ids;
    }

    private static GemmModel gemm(DocumentSection compute, Fp8Encoding fp8) {
        Map<ElementType, Double> peaks = new EnumMap<>(ElementType.class);
        DocumentSection peak = compute.section("peak_tflops");
        double tera = 1e12;
        for (ElementType type : List.of(ElementType.FP32, ElementType.FP16, ElementType.BF16, ElementType.INT8)) {
            if (peak.has(type.label())) {
                peaks.put(type, peak.positive(type.label()) * tera);
            }
        }
        if (peak.has("fp8")) {
            double flops = peak.positive("fp8") * tera;
            switch (fp8) {
                case OCP -> {
                    peaks.put(ElementType.FP8_E4M3, flops);
                    peaks.put(ElementType.FP8_E5M2, flops);
                }
                case FNUZ -> {
                    peaks.put(ElementType.FP8_E4M3_FNUZ, flops);
                    peaks.put(ElementType.FP8_E5M2_FNUZ, flops);
                }
                case BOTH -> {
                    peaks.put(ElementType.FP8_E4M3, flops);
                    peaks.put(ElementType.FP8_E5M2, flops);
                    peaks.put(ElementType.FP8_E4M3_FNUZ, flops);
                    peaks.put(ElementType.FP8_E5M2_FNUZ, flops);
                }
                case NONE ->
                    throw peak.fault("fp8", "this device has no 8-bit floats (fp8: none); expected no such peak");
            }
        }
        peak.end();
        if (peaks.isEmpty()) {
            throw peak.fault("found no element type, expected at least one of fp32, fp16, bf16, fp8, int8");
        }
        List<TileModel> tiles = new ArrayList<>();
        for (DocumentSection tile : compute.sections("tiles")) {
            tiles.add(new TileModel(
                    (int) tile.whole("rows", 1, 65536),
                    (int) tile.whole("columns", 1, 65536),
                    tile.share("efficiency")));
            tile.end();
        }
        if (tiles.isEmpty()) {
            throw compute.fault("tiles", "the list is empty; expected at least one tile");
        }
        return new GemmModel(
                peaks,
                tiles,
                (int) compute.whole("prologue_k", 0, 1 << 20),
                (int) compute.whole("max_split_k", 1, 1024, 1),
                compute.part("split_k_exposed"),
                compute.share("wave_quantisation", 1),
                compute.notNegative("accumulate_ns_per_kib", 0),
                compute.share("concurrency_efficiency", 1));
    }

    private static MemoryModel memory(DocumentSection memory) {
        MemoryModel model = new MemoryModel(
                (long) (memory.positive("size_gib") * (1L << 30)),
                memory.positive("bandwidth_gb_per_s") * GIGA,
                memory.share("efficiency"),
                (long) (memory.notNegative("last_level_cache_mib", 0) * (1L << 20)),
                memory.whole("allocation_alignment_bytes", 128, 1L << 30));
        memory.end();
        return model;
    }

    private static CopyEngineModel engines(DocumentSection engines) {
        int count = (int) engines.whole("count", 0, 1024);
        int host = (int) engines.whole("host_engines", 0, count, 0);
        List<Integer> map = new ArrayList<>();
        if (engines.has("map")
                && !(engines.node("map") instanceof DocumentNode.Scalar scalar
                        && scalar.text().equals("per-peer"))) {
            if (!(engines.node("map") instanceof DocumentNode.Items)) {
                throw engines.fault(
                        "map",
                        "found " + engines.node("map").found()
                                + ", expected per-peer or a list with one engine for each destination device");
            }
            for (DocumentNode node : engines.list("map")) {
                int engine = engineNumber(node);
                if (engine < 0 || engine >= count) {
                    throw engines.fault(
                            "map", "found " + node.found() + ", expected an engine from 0 to " + (count - 1));
                }
                map.add(engine);
            }
        }
        CopyEngineModel model = new CopyEngineModel(
                count,
                host,
                engines.positive("bandwidth_gb_per_s", 1e3) * GIGA,
                engines.notNegative("setup_ns", 0),
                (long) engines.notNegative("auto_from_bytes", 0),
                (int) engines.whole("strided_row_overhead_bytes", 0, 1 << 20, 0),
                map);
        engines.end();
        return model;
    }

    private static int engineNumber(DocumentNode node) {
        if (node instanceof DocumentNode.Scalar scalar && !scalar.quoted()) {
            try {
                return Integer.parseInt(scalar.text());
            } catch (NumberFormatException notANumber) {
                return -1;
            }
        }
        return -1;
    }

    private static void checkEngineMaps(int devices, List<DocumentSection> mapped) {
        for (DocumentSection engines : mapped) {
            int given = engines.list("map").size();
            if (given != devices) {
                throw engines.fault(
                        "map", "found " + given + " engines, expected one for each of " + devices + " devices");
            }
        }
    }

    private static KernelModel kernels(DocumentSection kernels, int units) {
        KernelModel model = new KernelModel(
                (int) kernels.whole("hardware_queues", 1, 1024),
                (int) kernels.whole("priorities", 1, 3, 3),
                kernels.notNegative("start_ns"),
                kernels.positive("bandwidth_gb_per_s_per_unit") * GIGA,
                kernels.positive("bytes_per_unit"),
                (int) kernels.whole("max_units", 1, units, units),
                (int) kernels.whole("peer_copy_units", 1, units),
                (int) kernels.whole("strided_row_overhead_bytes", 0, 1 << 20, 0),
                kernels.atLeast("earlier_weight", 1, 1),
                kernels.notNegative("element_ns", 0));
        kernels.end();
        return model;
    }

    private static LaunchModel launch(DocumentSection launch) {
        LaunchModel model = new LaunchModel(
                launch.notNegative("graph_ns"),
                launch.notNegative("graph_device_ns", 0),
                launch.notNegative("graph_lane_ns", 0),
                launch.notNegative("eager_ns"),
                launch.notNegative("signal_ns"),
                launch.notNegative("issue_kernel_ns"),
                launch.notNegative("issue_copy_ns"),
                launch.notNegative("issue_event_ns"));
        launch.end();
        return model;
    }

    private static HostLinkModel host(DocumentSection host) {
        HostLinkModel model = new HostLinkModel(
                host.positive("to_device_gb_per_s") * GIGA,
                host.positive("from_device_gb_per_s") * GIGA,
                host.notNegative("latency_ns"));
        host.end();
        return model;
    }

    // Links.

    private int links(Machine.Builder machine, DocumentSection link, int before) {
        LinkKind kind = switch (link.choice("kind", "fabric", "in-package", "pcie", "host", "network")) {
            case "fabric" -> LinkKind.FABRIC;
            case "in-package" -> LinkKind.IN_PACKAGE;
            case "pcie" -> LinkKind.PCIE;
            case "host" -> LinkKind.HOST;
            default -> LinkKind.NETWORK;
        };
        String name = link.text("name", kind.name().toLowerCase(Locale.ROOT));
        double bandwidth = link.positive("bandwidth_gb_per_s") * GIGA;
        double reverse = link.positive("reverse_bandwidth_gb_per_s", bandwidth / GIGA) * GIGA;
        double efficiency = link.share("efficiency", 1);
        double duplex = link.share("duplex_efficiency", 1);
        double latency = link.notNegative("latency_ns");
        int width = (int) link.whole("width", 1, 1024, 1);
        boolean copyable = link.flag("copyable", true);
        boolean addressable = link.flag("addressable", kind != LinkKind.NETWORK && kind != LinkKind.HOST);
        String shape = null;
        for (String candidate : new String[] {"between", "mesh", "ring", "attach"}) {
            if (link.has(candidate)) {
                if (shape != null) {
                    throw link.fault(candidate, "found beside '" + shape + "', expected only one of the two");
                }
                shape = candidate;
            }
        }
        if (shape == null) {
            throw link.fault("found no ends, expected one of between, mesh, ring, attach (with to)");
        }
        List<int[]> pairs = new ArrayList<>();
        int devices = machine.deviceCount();
        switch (shape) {
            case "between" -> {
                List<DocumentNode> ends = link.list("between");
                if (ends.size() != 2) {
                    throw link.fault("between", "found " + ends.size() + " ends, expected two");
                }
                pairs.add(new int[] {
                    end(link, "between", ends.get(0), devices), end(link, "between", ends.get(1), devices)
                });
            }
            case "mesh" -> {
                List<Integer> set = set(link, "mesh", devices);
                long count = (long) set.size() * (set.size() - 1) / 2;
                checkLinks(link, "mesh", before + count);
                for (int i = 0; i < set.size(); i++) {
                    for (int j = i + 1; j < set.size(); j++) {
                        pairs.add(new int[] {set.get(i), set.get(j)});
                    }
                }
            }
            case "ring" -> {
                List<Integer> set = set(link, "ring", devices);
                for (int i = 0; i < set.size(); i++) {
                    int next = (i + 1) % set.size();
                    if (next != i && (set.size() > 2 || i < next)) {
                        pairs.add(new int[] {set.get(i), set.get(next)});
                    }
                }
            }
            default -> {
                int to = end(link, "to", link.node("to"), devices);
                if (to < devices) {
                    throw link.fault("to", "found device " + to + ", expected a switch");
                }
                for (int device : set(link, "attach", devices)) {
                    pairs.add(new int[] {device, to});
                }
            }
        }
        link.end();
        checkLinks(link, shape, (long) before + pairs.size());
        for (int[] pair : pairs) {
            try {
                machine.link(new LinkModel(
                        kind,
                        name,
                        pair[0],
                        pair[1],
                        bandwidth,
                        reverse,
                        efficiency,
                        duplex,
                        latency,
                        width,
                        copyable,
                        addressable));
            } catch (AcceleratorException wrong) {
                throw link.fault(shape, wrong.detail());
            }
        }
        return before + pairs.size();
    }

    private static void checkLinks(DocumentSection link, String key, long links) {
        if (links > MAX_LINKS) {
            throw link.fault(key, "the machine would have " + links + " links; expected at most " + MAX_LINKS);
        }
    }

    private int end(DocumentSection link, String key, DocumentNode node, int devices) {
        if (node instanceof DocumentNode.Scalar scalar) {
            Integer at = switches.get(scalar.text());
            if (at != null) {
                return at;
            }
            try {
                int device = Integer.parseInt(scalar.text());
                if (device >= 0 && device < devices) {
                    return device;
                }
            } catch (NumberFormatException notANumber) {
                // Falls through to the one message.
            }
        }
        throw link.fault(
                key,
                "found " + node.found() + ", expected a device from 0 to " + (devices - 1)
                        + (switches.isEmpty() ? "" : " or a switch (" + String.join(", ", switches.keySet()) + ")"));
    }

    /** A set of devices: {@code all}, or a list of numbers and ranges such as {@code 0-7}. */
    private static List<Integer> set(DocumentSection link, String key, int devices) {
        DocumentNode node = link.node(key);
        List<Integer> set = new ArrayList<>();
        if (node instanceof DocumentNode.Scalar scalar) {
            if (scalar.text().equals("all")) {
                for (int d = 0; d < devices; d++) {
                    set.add(d);
                }
            } else {
                range(link, key, scalar, devices, set);
            }
        } else if (node instanceof DocumentNode.Items items) {
            for (DocumentNode item : items.items()) {
                range(link, key, item, devices, set);
            }
        } else {
            throw link.fault(key, "found " + node.found() + ", expected all, or a list of devices and ranges");
        }
        if (Set.copyOf(set).size() < set.size()) {
            throw link.fault(key, "one device stands twice; expected each once");
        }
        return set;
    }

    private static void range(DocumentSection link, String key, DocumentNode node, int devices, List<Integer> set) {
        if (node instanceof DocumentNode.Scalar scalar) {
            String[] ends = scalar.text().split("-", -1);
            try {
                int first = Integer.parseInt(ends[0].strip());
                int last = ends.length == 2 ? Integer.parseInt(ends[1].strip()) : first;
                if (ends.length <= 2 && first <= last && last < devices) {
                    for (int d = first; d <= last; d++) {
                        set.add(d);
                    }
                    return;
                }
            } catch (NumberFormatException notANumber) {
                // Falls through to the one message.
            }
        }
        throw link.fault(
                key,
                "found " + node.found() + ", expected a device or range of devices between 0 and " + (devices - 1));
    }

    private void route(Machine.Builder machine, DocumentSection route) {
        int devices = machine.deviceCount();
        List<Integer> path = new ArrayList<>();
        for (DocumentNode node : route.list("path")) {
            path.add(end(route, "path", node, devices));
        }
        route.end();
        try {
            machine.route(path.stream().mapToInt(Integer::intValue).toArray());
        } catch (AcceleratorException wrong) {
            throw route.fault("path", wrong.detail());
        }
    }

    // Collectives.

    private CollectiveModel collective(DocumentSection entry) {
        Set<CollectiveKind> kinds = EnumSet.noneOf(CollectiveKind.class);
        if (entry.has("operations")) {
            for (DocumentNode node : entry.list("operations")) {
                kinds.add(kind(entry, node));
            }
        }
        boolean fastest =
                entry.has("choose") && entry.choice("choose", "size", "fastest").equals("fastest");
        List<CollectiveRange> ranges = new ArrayList<>();
        List<DocumentSection> sections = entry.sections("ranges");
        for (int i = 0; i < sections.size(); i++) {
            DocumentSection range = sections.get(i);
            boolean last = i == sections.size() - 1;
            boolean bounded = range.has("up_to_bytes") || !(last || fastest);
            long upTo = bounded ? (long) range.positive("up_to_bytes") : Long.MAX_VALUE;
            long above = fastest
                    ? (long) range.notNegative("above_bytes", 0)
                    : i == 0 ? 0 : ranges.get(i - 1).maxBytes();
            if (fastest && upTo <= above) {
                throw range.fault("up_to_bytes", "found " + upTo + ", expected more than above_bytes, " + above);
            }
            if (!fastest && i > 0 && upTo <= ranges.get(i - 1).maxBytes()) {
                throw range.fault("up_to_bytes", "found " + upTo + ", expected more than in the range before");
            }
            ranges.add(new CollectiveRange(
                    above,
                    upTo,
                    CollectiveAlgorithm.valueOf(range.choice("algorithm", "direct", "ring", "tree", "hierarchical")
                            .toUpperCase(Locale.ROOT)),
                    range.text("protocol", ""),
                    (int) range.whole("channels", 1, 1024, 1),
                    range.notNegative("base_ns"),
                    range.notNegative("step_ns", 0),
                    (int) range.whole("compute_units", 0, MAX_UNITS),
                    range.share("efficiency", 1)));
            range.end();
        }
        if (ranges.isEmpty()) {
            throw entry.fault("ranges", "the list is empty; expected at least one range");
        }
        entry.end();
        if (fastest) {
            checkNoGap(entry, ranges);
        }
        return new CollectiveModel(kinds, ranges, fastest);
    }

    /** Every size must be served by some way: the sizes just above each bound are the ones where that may fail. */
    private static void checkNoGap(DocumentSection entry, List<CollectiveRange> ranges) {
        List<Long> sizes = new ArrayList<>();
        sizes.add(0L);
        sizes.add(1L);
        for (CollectiveRange range : ranges) {
            if (range.maxBytes() < Long.MAX_VALUE) {
                sizes.add(range.maxBytes() + 1);
            }
        }
        for (long size : sizes) {
            if (ranges.stream().noneMatch(range -> range.serves(size))) {
                throw entry.fault("ranges", "no way serves " + size + " bytes; expected at least one for every size");
            }
        }
    }

    private static CollectiveKind kind(DocumentSection entry, DocumentNode node) {
        List<String> names = new ArrayList<>();
        for (CollectiveKind kind : CollectiveKind.values()) {
            String label = kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
            if (node instanceof DocumentNode.Scalar scalar && scalar.text().equals(label)) {
                return kind;
            }
            names.add(label);
        }
        throw entry.fault("operations", "found " + node.found() + ", expected one of " + String.join(", ", names));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.ascend.topology.AscendGraph.Npu;
import io.weft.ascend.topology.HccnReport.Port;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes one graph of rank tables and what tools printed. Where two of them differ, both values are shown and nothing is averaged. */
public final class GraphBuilder {
    private static final Pattern RANGE = Pattern.compile("(\\d{1,5})-(\\d{1,5}).*");
    private static final String CONTRADICT = "sources-contradict";

    private RankTable table;
    private NpuSmiTopology topology;
    private NpuSmiDevices devices;
    private TorTable tors;
    private final Map<Integer, List<Port>> ports = new TreeMap<>();
    private final List<String> sources = new ArrayList<>();
    private final List<Finding> findings = new ArrayList<>();

    /** Takes a rank table. */
    public GraphBuilder rankTable(Path file) {
        return rankTable(RankTableReader.read(file), file);
    }

    /** Takes a rank table that was read. */
    public GraphBuilder rankTable(RankTable read, Path file) {
        once(table, file, "rank table");
        table = read;
        sources.add("rank table " + file);
        return this;
    }

    /** Takes a table of npu-smi, of either kind. */
    public GraphBuilder npuSmi(Path file, String text) {
        if (NpuSmiDevices.is(text) && !NpuSmiTopology.is(text)) {
            once(devices, file, "npu-smi info");
            devices = NpuSmiDevices.read(file, text);
        } else {
            once(topology, file, "npu-smi info -t topo");
            topology = NpuSmiTopology.read(file, text);
        }
        sources.add("npu-smi " + file);
        return this;
    }

    /** Takes output of hccn_tool; any number of files. */
    public GraphBuilder hccn(Path file) {
        HccnReport.read(file)
                .ports()
                .forEach((device, port) ->
                        ports.computeIfAbsent(device, key -> new ArrayList<>()).add(port));
        sources.add("hccn " + file);
        return this;
    }

    /** Takes a table of switches. */
    public GraphBuilder torTable(Path file) {
        once(tors, file, "table of switches");
        tors = TorTable.read(file);
        sources.add("switches " + file);
        return this;
    }

    private static void once(Object known, Path file, String what) {
        if (known != null) {
            throw AcceleratorException.invalid(
                    "topology", file + " is a second " + what + "; one machine has one of them");
        }
    }

    /** The graph. */
    public AscendGraph build() {
        if (table == null && topology == null && devices == null && tors == null && ports.isEmpty()) {
            throw AcceleratorException.invalid("topology", "no file was given");
        }
        if (table != null) {
            findings.addAll(RankTableRules.check(table));
        }
        Generation generation = generation();
        toolsAgree();
        List<Npu> npus = table != null ? ofTable() : hasLocal() ? ofServer() : ofSwitches();
        if (table != null) {
            tableAgrees(npus);
        }
        Map<Integer, Map<Integer, LinkClass>> stated = topology == null ? Map.of() : topology.links();
        AscendGraph graph = new AscendGraph(generation, npus, table != null, stated, sources, findings);
        if (topology != null) {
            builtLikeItsFamily(graph);
        } else if (npus.size() > 1 && (table == null || !table.version().equals("2.0"))) {
            findings.add(new Finding(
                    Finding.Severity.NOTE,
                    "links-assumed",
                    "no file says how devices of one server are joined; taken as on "
                            + switch (generation) {
                                case ATLAS_800 -> "a 910A server: two halves of four";
                                case A3 -> "an A3 server: two dies in a package, packages on switches";
                                default -> "an A2 server: a full mesh";
                            },
                    "A rank table names devices and addresses only.",
                    "HCCL documentation, cluster information file",
                    "Give the output of npu-smi info -t topo as well (--npu-smi)."));
        }
        return new AscendGraph(generation, npus, table != null, stated, sources, findings);
    }

    private boolean hasLocal() {
        return topology != null || devices != null || !ports.isEmpty();
    }

    private Generation generation() {
        Generation ofTable = table == null ? Generation.UNKNOWN : Generation.ofTable(table.version());
        Generation ofChip = devices == null
                ? Generation.UNKNOWN
                : Generation.ofChip(devices.chips().getFirst().name());
        if (ofTable != Generation.UNKNOWN && ofChip != Generation.UNKNOWN && ofTable != ofChip) {
            contradict("the rank table is of version " + table.version() + ", which " + ofTable.label()
                    + " machines have, and npu-smi names a "
                    + devices.chips().getFirst().name() + ", a chip of " + ofChip.label());
        }
        if (ofChip != Generation.UNKNOWN) {
            return ofChip;
        }
        if (ofTable != Generation.UNKNOWN) {
            return ofTable;
        }
        if (topology != null) {
            Set<LinkClass> seen = new TreeSet<>();
            topology.links().values().forEach(row -> seen.addAll(row.values()));
            if (seen.contains(LinkClass.SIO) || seen.contains(LinkClass.HCCS_SW)) {
                return Generation.A3;
            }
            if (seen.contains(LinkClass.UB)) {
                return Generation.A5;
            }
        }
        return Generation.A2;
    }

    private void contradict(String seen) {
        findings.add(new Finding(
                Finding.Severity.PROBLEM,
                CONTRADICT,
                seen,
                "One of them is of another machine, another time, or wrong; nothing is averaged.",
                "",
                "Capture all files at one time on one machine."));
    }

    private void toolsAgree() {
        if (topology != null && devices != null) {
            Set<Integer> named = new TreeSet<>();
            devices.chips().forEach(chip -> named.add(deviceNumber(chip)));
            Set<Integer> joined = new TreeSet<>(topology.devices());
            if (!named.equals(joined)) {
                contradict("npu-smi info names devices " + named + " and npu-smi info -t topo names " + joined);
            }
        }
        if (topology != null) {
            for (int from : topology.devices()) {
                for (int to : topology.devices()) {
                    LinkClass there = topology.links().get(from).get(to);
                    LinkClass back = topology.links().get(to).get(from);
                    if (from < to && there != back) {
                        contradict("npu-smi info -t topo says " + there.word() + " from " + from + " to " + to + " and "
                                + back.word() + " back");
                    }
                }
            }
        }
    }

    /** The number that other tools give to a chip: on packages with two dies, that of the die. */
    private static int deviceNumber(NpuSmiDevices.Chip chip) {
        return chip.physical();
    }

    private List<Npu> ofTable() {
        List<Npu> npus = new ArrayList<>();
        for (RankTable.Placed placed : table.byRank()) {
            RankTable.Server server = table.servers().get(placed.server());
            RankTable.Device device = placed.device();
            boolean packed = device.superDevice() > 0xffff;
            Npu local = local(device.device(), npus.size());
            npus.add(new Npu(
                    npus.size(),
                    device.device(),
                    placed.server(),
                    server.id(),
                    table.superPod(server.id()),
                    packed ? Optional.of(SuperDeviceId.of(device.superDevice())) : Optional.empty(),
                    local.chip(),
                    table.servers().size() == 1 ? local.address() : "",
                    device.ip().isEmpty() && table.servers().size() == 1 ? local.ip() : device.ip(),
                    local.numa(),
                    local.processors(),
                    tors == null ? -1 : tors.switchOf(server.hostIp().isEmpty() ? server.id() : server.hostIp()),
                    local.cardMegabits(),
                    device.levels()));
        }
        return npus;
    }

    private List<Npu> ofServer() {
        Set<Integer> numbers = new TreeSet<>();
        if (topology != null) {
            numbers.addAll(topology.devices());
        } else if (devices != null) {
            devices.chips().forEach(chip -> numbers.add(deviceNumber(chip)));
        } else {
            numbers.addAll(ports.keySet());
        }
        List<Npu> npus = new ArrayList<>();
        for (int number : numbers) {
            npus.add(local(number, npus.size()));
        }
        return npus;
    }

    private Npu local(int number, int ordinal) {
        Optional<NpuSmiDevices.Chip> chip = devices == null
                ? Optional.empty()
                : devices.chips().stream()
                        .filter(candidate -> deviceNumber(candidate) == number)
                        .findFirst();
        String processors = topology == null ? "" : topology.affinity().getOrDefault(number, "");
        return new Npu(
                ordinal,
                number,
                0,
                "",
                "",
                Optional.empty(),
                chip.map(NpuSmiDevices.Chip::name).orElse(""),
                chip.flatMap(NpuSmiDevices.Chip::address).map(Object::toString).orElse(""),
                first(number, Port::address),
                numa(processors),
                processors,
                -1,
                ports.getOrDefault(number, List.of()).stream()
                        .mapToLong(Port::megabitsPerSecond)
                        .max()
                        .orElse(-1),
                List.of());
    }

    private String first(int device, Function<Port, String> what) {
        return ports.getOrDefault(device, List.of()).stream()
                .map(what)
                .filter(text -> !text.isEmpty())
                .findFirst()
                .orElse("");
    }

    /** The NUMA node of a first range of processors, where nodes are equally large; -1 when it cannot be told. */
    static int numa(String processors) {
        Matcher range = RANGE.matcher(processors);
        if (!range.matches()) {
            return -1;
        }
        int from = Integer.parseInt(range.group(1));
        int size = Integer.parseInt(range.group(2)) - from + 1;
        return size > 0 && from % size == 0 ? from / size : -1;
    }

    private List<Npu> ofSwitches() {
        List<Npu> npus = new ArrayList<>();
        int server = 0;
        for (TorTable.Switch tor : tors.switches()) {
            for (TorTable.Server host : tor.servers()) {
                for (int device = 0; device < host.devices(); device++) {
                    npus.add(new Npu(
                            npus.size(),
                            device,
                            server,
                            host.address(),
                            "",
                            Optional.empty(),
                            "",
                            "",
                            "",
                            -1,
                            "",
                            tor.id(),
                            -1,
                            List.of()));
                }
                server++;
            }
        }
        return npus;
    }

    private void tableAgrees(List<Npu> npus) {
        Set<Integer> known = new LinkedHashSet<>();
        if (topology != null) {
            known.addAll(topology.devices());
        } else if (devices != null) {
            devices.chips().forEach(chip -> known.add(deviceNumber(chip)));
        }
        if (!known.isEmpty()) {
            for (Npu npu : npus) {
                if (!known.contains(npu.device())) {
                    contradict("the rank table names " + npu.name() + ", and npu-smi knows devices " + known);
                    break;
                }
            }
        }
        if (table.servers().size() == 1) {
            for (Npu npu : npus) {
                String address = first(npu.device(), Port::address);
                if (!address.isEmpty() && !npu.ip().isEmpty() && !address.equals(npu.ip())) {
                    contradict("the rank table gives " + npu.name() + " the address " + npu.ip()
                            + ", and hccn_tool says " + address);
                }
            }
        } else if (hasLocal()) {
            findings.add(new Finding(
                    Finding.Severity.NOTE,
                    "one-server-for-all",
                    "npu-smi and hccn_tool describe one server; links and NUMA nodes are taken for all "
                            + table.servers().size(),
                    "Servers of one cluster are usually alike.",
                    "",
                    ""));
        }
    }

    /** A tool that says a pair is joined worse than its family is built points at a broken link. */
    private void builtLikeItsFamily(AscendGraph graph) {
        List<String> worse = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (int from : topology.devices()) {
            for (int to : topology.devices()) {
                if (from >= to) {
                    continue;
                }
                LinkClass said = topology.links().get(from).get(to);
                boolean fabric = switch (graph.generation()) {
                    case A2 -> topology.devices().size() <= 8;
                    case A3 -> true;
                    case ATLAS_800 -> from / 4 == to / 4;
                    default -> false;
                };
                if (said == LinkClass.UNKNOWN) {
                    unknown.add(from + "-" + to);
                } else if (fabric && said.isPcie()) {
                    worse.add(from + "-" + to + " " + said.word());
                }
            }
        }
        if (!worse.isEmpty()) {
            findings.add(new Finding(
                    Finding.Severity.WARNING,
                    "missing-hccs",
                    worse.size() + " pairs are joined by PCIe on a machine of "
                            + graph.generation().label() + ", which joins them by its fabric: " + examples(worse),
                    "Collectives run at their slowest link's speed.",
                    "HCCL documentation; npu-smi info -t topo",
                    "Look at npu-smi info -t hccs for the health of the links; a virtual machine may hide them."));
        }
        if (!unknown.isEmpty()) {
            findings.add(new Finding(
                    Finding.Severity.NOTE,
                    "unknown-links",
                    "npu-smi knows nothing of " + unknown.size() + " pairs: " + examples(unknown),
                    "",
                    "",
                    ""));
        }
    }

    private static String examples(List<String> all) {
        return String.join(", ", all.subList(0, Math.min(4, all.size())))
                + (all.size() > 4 ? " and " + (all.size() - 4) + " more" : "");
    }
}

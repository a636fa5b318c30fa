// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.amd.topology.SourceGraph.CardClaim;
import io.weft.amd.topology.SourceGraph.GpuClaim;
import io.weft.amd.topology.SourceGraph.PairClaim;
import io.weft.api.Finding;
import io.weft.spi.input.PciAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Makes one graph of what several sources say. Used once, by one thread. */
final class GraphMerger {
    private static final Finding.Severity PROBLEM = Finding.Severity.PROBLEM;

    private final List<SourceGraph> sources;
    /** For each source, the ordinal of each of its GPUs; -1 when it is left out. */
    private final List<int[]> ordinals = new ArrayList<>();

    private final List<Map<SourceGraph, GpuClaim>> gpus = new ArrayList<>();
    private final Contradictions contradictions = new Contradictions();
    private final List<Finding> findings = new ArrayList<>();
    /** Sources whose bandwidths are all 0-0, although they know xGMI: their driver does not state any. */
    private final Set<SourceGraph> silent = new HashSet<>();

    private GraphMerger(List<SourceGraph> sources) {
        this.sources = sources.stream()
                .sorted(Comparator.comparing(source -> source.kind))
                .toList();
    }

    static GpuGraph merge(List<SourceGraph> sources) {
        return new GraphMerger(sources).merge();
    }

    private GpuGraph merge() {
        identify();
        int n = gpus.size();
        findSilentSources();
        List<GpuGraph.Gpu> merged = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            merged.add(gpu(i));
        }
        Draft[][] drafts = new Draft[n][n];
        for (int from = 0; from < n; from++) {
            for (int to = 0; to < n; to++) {
                if (from != to) {
                    drafts[from][to] = draft(merged, from, to);
                }
            }
        }
        int[] components = components(drafts);
        int[] hives = hives(merged, drafts, components);
        for (int i = 0; i < n; i++) {
            merged.set(i, withHive(merged.get(i), hives[i]));
        }
        List<List<GpuGraph.Pair>> pairs = pairs(merged, drafts, components);
        symmetry(merged, pairs);
        LinkAdvice.add(merged, pairs, findings);
        List<Finding> all = new ArrayList<>(contradictions.findings());
        sources.forEach(source -> all.addAll(source.findings));
        all.addAll(findings);
        return new GpuGraph(
                sources.stream()
                        .map(source -> source.kind.label() + " " + source.place)
                        .toList(),
                merged,
                pairs,
                cards(merged),
                all);
    }

    /** Which GPUs are the same. By address where sources have them, else by number. */
    private void identify() {
        Map<PciAddress, Integer> byAddress = new LinkedHashMap<>();
        SourceGraph base =
                sources.stream().filter(SourceGraph::hasAddresses).findFirst().orElse(null);
        int[][] all = new int[sources.size()][];
        for (int s = 0; s < sources.size(); s++) {
            SourceGraph source = sources.get(s);
            all[s] = new int[source.gpus.size()];
            if (source.hasAddresses()) {
                for (int i : byIndex(source)) {
                    GpuClaim gpu = source.gpus.get(i);
                    Integer known = byAddress.get(gpu.address);
                    if (known == null) {
                        known = add();
                        byAddress.put(gpu.address, known);
                        if (source != base) {
                            findings.add(missing(gpu.name(), source, base));
                        }
                    }
                    all[s][i] = known;
                    gpus.get(known).put(source, gpu);
                }
                if (source != base) {
                    for (GpuClaim gpu : base.gpus) {
                        if (!gpus.get(byAddress.get(gpu.address)).containsKey(source)) {
                            findings.add(missing(gpu.name(), base, source));
                        }
                    }
                }
            }
        }
        Map<Integer, Integer> byNumber = new HashMap<>();
        SourceGraph first = null;
        for (int s = 0; s < sources.size(); s++) {
            SourceGraph source = sources.get(s);
            if (source.hasAddresses()) {
                continue;
            }
            if (base != null) {
                byPlace(source, base, all[s]);
                continue;
            }
            for (int i : byIndex(source)) {
                GpuClaim gpu = source.gpus.get(i);
                Integer known = byNumber.get(gpu.index);
                if (known == null) {
                    known = add();
                    byNumber.put(gpu.index, known);
                    if (first != null) {
                        findings.add(missing(gpu.name(), source, first));
                    }
                }
                all[s][i] = known;
                gpus.get(known).put(source, gpu);
            }
            if (first != null) {
                for (GpuClaim gpu : first.gpus) {
                    if (!gpus.get(byNumber.get(gpu.index)).containsKey(source)) {
                        findings.add(missing(gpu.name(), first, source));
                    }
                }
            }
            first = first == null ? source : first;
        }
        ordinals.addAll(List.of(all));
    }

    /** Numbered GPUs beside addressed ones: the tools number them in the driver's order. */
    private void byPlace(SourceGraph source, SourceGraph base, int[] places) {
        if (source.gpus.size() != base.gpus.size()) {
            findings.add(new Finding(
                    PROBLEM,
                    "sources-contradict",
                    source.kind.label() + " (" + source.place + ") numbers " + source.gpus.size() + " GPUs and "
                            + base.kind.label() + " (" + base.place + ") has " + base.gpus.size()
                            + "; which is which cannot be told, and the former is left out",
                    "It knows GPUs by number only, and a mask or a partial capture shifts the numbers.",
                    "",
                    "Capture both without ROCR_VISIBLE_DEVICES and on the same machine."));
            java.util.Arrays.fill(places, -1);
            return;
        }
        int[] order = byIndex(source);
        int[] baseOrder = byIndex(base);
        int baseAt = sources.indexOf(base);
        for (int i = 0; i < order.length; i++) {
            int ordinal = -1;
            for (int g = 0; g < gpus.size(); g++) {
                if (gpus.get(g).get(base) == base.gpus.get(baseOrder[i])) {
                    ordinal = g;
                }
            }
            places[order[i]] = ordinal;
            gpus.get(ordinal).put(source, source.gpus.get(order[i]));
        }
        findings.add(Finding.of(
                Finding.Severity.NOTE,
                "gpu-numbers",
                source.kind.label() + " (" + source.place
                        + ") names GPUs by number only; they are taken in the order of "
                        + sources.get(baseAt).kind.label()));
    }

    private int add() {
        gpus.add(new LinkedHashMap<>());
        return gpus.size() - 1;
    }

    /** Places in the order of the source's own numbers, when they differ. */
    private static int[] byIndex(SourceGraph source) {
        List<Integer> order = new ArrayList<>();
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < source.gpus.size(); i++) {
            order.add(i);
            numbers.add(source.gpus.get(i).index);
        }
        if (numbers.size() == order.size()) {
            order.sort(Comparator.comparingInt(i -> source.gpus.get(i).index));
        }
        return order.stream().mapToInt(Integer::intValue).toArray();
    }

    private static Finding missing(String gpu, SourceGraph has, SourceGraph lacks) {
        return new Finding(
                PROBLEM,
                "sources-contradict",
                "GPU " + gpu + " is in " + has.kind.label() + " (" + has.place + ") and not in " + lacks.kind.label()
                        + " (" + lacks.place + ")",
                "They were made on different machines, or one of them under a mask or with a GPU lost.",
                "",
                "Capture all files at one time on one machine.");
    }

    private void findSilentSources() {
        for (SourceGraph source : sources) {
            int zero = 0;
            int stated = 0;
            for (int from = 0; from < source.gpus.size(); from++) {
                for (int to = 0; to < source.gpus.size(); to++) {
                    PairClaim pair = from == to ? null : source.said(from, to);
                    if (pair != null && pair.statesBandwidth()) {
                        stated++;
                        zero += pair.maxBandwidth == 0 ? 1 : 0;
                    }
                }
            }
            if (stated > 0 && zero == stated && source.gpus.size() > 1) {
                silent.add(source);
                findings.add(new Finding(
                        Finding.Severity.NOTE,
                        "xgmi-bandwidth",
                        source.kind.label() + " (" + source.place + ") states 0-0 for every pair",
                        "0-0 normally marks a pair without a link of its own; for all pairs it means that this driver "
                                + "states no bandwidth, or that there is no xGMI.",
                        "reported for MI355X with amdgpu of ROCm 7",
                        ""));
            }
        }
    }

    private GpuGraph.Gpu gpu(int ordinal) {
        String name = "GPU " + ordinal;
        Map<SourceGraph, GpuClaim> claims = gpus.get(ordinal);
        PciAddress address = claims.values().stream()
                .map(claim -> claim.address)
                .filter(java.util.Objects::nonNull)
                .findFirst()
                .orElse(null);
        String at = address == null ? name : address.toString();
        String gfx = text(claims, at, "architecture", claim -> claim.gfx);
        String product = text(claims, at, "product", claim -> claim.product);
        return new GpuGraph.Gpu(
                ordinal,
                address,
                product,
                gfx,
                (int) number(claims, at, "compute units", claim -> claim.computeUnits),
                (int) number(claims, at, "NUMA node", claim -> claim.numa),
                claims.values().stream().mapToInt(claim -> claim.server).max().orElse(0),
                -1,
                (int) number(claims, at, "SDMA engines", claim -> claim.hostEngines),
                (int) number(claims, at, "xGMI SDMA engines", claim -> claim.fabricEngines),
                text(claims, at, "unique id", claim -> claim.uniqueId),
                claims.values().stream()
                        .mapToDouble(claim -> claim.pcieSpeed)
                        .filter(speed -> !Double.isNaN(speed))
                        .findFirst()
                        .orElse(Double.NaN),
                (int) number(claims, at, "PCIe lanes", claim -> claim.pcieLanes),
                claims.values().stream()
                        .map(claim -> claim.bridges)
                        .filter(bridges -> !bridges.isEmpty())
                        .findFirst()
                        .orElse(List.of()));
    }

    private static GpuGraph.Gpu withHive(GpuGraph.Gpu gpu, int hive) {
        return new GpuGraph.Gpu(
                gpu.ordinal(),
                gpu.address(),
                gpu.product(),
                gpu.gfx(),
                gpu.computeUnits(),
                gpu.numa(),
                gpu.server(),
                hive,
                gpu.hostEngines(),
                gpu.fabricEngines(),
                gpu.uniqueId(),
                gpu.pcieSpeed(),
                gpu.pcieLanes(),
                gpu.bridges());
    }

    /** The first value said; others that differ are contradictions. */
    private long number(Map<SourceGraph, GpuClaim> claims, String at, String what, ToLongFunction<GpuClaim> value) {
        String text = text(
                claims, at, what, claim -> value.applyAsLong(claim) < 0 ? "" : Long.toString(value.applyAsLong(claim)));
        return text.isEmpty() ? -1 : Long.parseLong(text);
    }

    private String text(Map<SourceGraph, GpuClaim> claims, String at, String what, Function<GpuClaim, String> value) {
        SourceGraph first = null;
        String taken = "";
        for (SourceGraph source : sources) {
            GpuClaim claim = claims.get(source);
            String said = claim == null ? "" : value.apply(claim);
            if (said.isEmpty()) {
                continue;
            }
            if (first == null) {
                first = source;
                taken = said;
            } else if (!taken.equals(said)) {
                contradictions.add(PROBLEM, what, label(first), label(source), at + " is " + taken + " and " + said);
            }
        }
        return taken;
    }

    private static String label(SourceGraph source) {
        return source.kind.label() + " (" + source.place + ")";
    }

    /** What is known of a pair before ways through others are looked for. */
    private static final class Draft {
        LinkClass linkClass = LinkClass.UNKNOWN;
        /** Whether they have links of their own; null when no source says. */
        Boolean direct;

        int width;
        long megabytes;
        long weight = -1;
        int smiHops = -1;
        String stated = "";
        long engines = -1;
        Boolean accessible;
    }

    private Draft draft(List<GpuGraph.Gpu> merged, int from, int to) {
        Draft draft = new Draft();
        String at = merged.get(from).name() + " to " + merged.get(to).name();
        Map<String, SourceGraph> deciders = new HashMap<>();
        for (int s = 0; s < sources.size(); s++) {
            SourceGraph source = sources.get(s);
            PairClaim claim = claim(s, from, to);
            if (claim == null) {
                continue;
            }
            if (claim.linkClass != LinkClass.UNKNOWN) {
                if (draft.linkClass == LinkClass.UNKNOWN) {
                    draft.linkClass = claim.linkClass;
                    deciders.put("class", source);
                } else if (draft.linkClass != claim.linkClass) {
                    differ(deciders.get("class"), source, "link type", at, draft.linkClass, claim.linkClass);
                }
            }
            if (claim.weight >= 0) {
                if (draft.weight < 0) {
                    draft.weight = claim.weight;
                    deciders.put("weight", source);
                } else if (draft.weight != claim.weight) {
                    differ(deciders.get("weight"), source, "weight", at, draft.weight, claim.weight);
                }
            }
            bandwidth(draft, claim, source, deciders, at);
            Boolean direct = direct(claim, source);
            if (direct != null) {
                if (draft.direct == null) {
                    draft.direct = direct;
                    deciders.put("direct", source);
                } else if (!draft.direct.equals(direct)) {
                    differ(
                            deciders.get("direct"),
                            source,
                            "whether a pair has links of its own",
                            at,
                            draft.direct ? "direct" : "not direct",
                            direct ? "direct" : "not direct");
                }
            }
            draft.smiHops = draft.smiHops < 0 ? claim.smiHops : draft.smiHops;
            draft.engines = draft.engines < 0 ? claim.engines : draft.engines;
            if (claim.accessible != null) {
                if (draft.accessible == null) {
                    draft.accessible = claim.accessible;
                    deciders.put("access", source);
                } else if (!draft.accessible.equals(claim.accessible)) {
                    differ(deciders.get("access"), source, "peer access", at, draft.accessible, claim.accessible);
                }
            }
        }
        return draft;
    }

    private void differ(SourceGraph first, SourceGraph second, String what, String at, Object taken, Object said) {
        contradictions.add(PROBLEM, what, label(first), label(second), at + " is " + taken + " and " + said);
    }

    private PairClaim claim(int s, int from, int to) {
        int[] places = ordinals.get(s);
        int sourceFrom = -1;
        int sourceTo = -1;
        for (int i = 0; i < places.length; i++) {
            sourceFrom = places[i] == from ? i : sourceFrom;
            sourceTo = places[i] == to ? i : sourceTo;
        }
        return sourceFrom < 0 || sourceTo < 0 ? null : sources.get(s).said(sourceFrom, sourceTo);
    }

    private void bandwidth(
            Draft draft, PairClaim claim, SourceGraph source, Map<String, SourceGraph> deciders, String at) {
        int width = 0;
        if (claim.count > 0) {
            width = claim.count;
        } else if (claim.statesBandwidth() && claim.minBandwidth > 0 && claim.linkClass != LinkClass.PCIE) {
            width = (int) Math.min(64, Math.round((double) claim.maxBandwidth / claim.minBandwidth));
            if (draft.megabytes == 0) {
                draft.megabytes = claim.minBandwidth;
                deciders.put("speed", source);
            } else if (draft.megabytes != claim.minBandwidth) {
                contradictions.add(
                        Finding.Severity.WARNING,
                        "the speed of a link in MB/s",
                        label(deciders.get("speed")),
                        label(source),
                        at + " is " + draft.megabytes + " and " + claim.minBandwidth);
            }
            if (claim.maxBandwidth % claim.minBandwidth != 0) {
                contradictions.add(
                        Finding.Severity.WARNING,
                        "what it says of itself, as the largest bandwidth is no multiple of the smallest",
                        label(source),
                        "itself",
                        at + " is " + claim.minBandwidth + "-" + claim.maxBandwidth);
            }
        }
        if (width > 0) {
            if (draft.width == 0) {
                draft.width = width;
                deciders.put("width", source);
            } else if (draft.width != width) {
                differ(deciders.get("width"), source, "the number of parallel links", at, draft.width, width);
            }
        }
        if (claim.statesBandwidth() && draft.stated.isEmpty()) {
            draft.stated = claim.minBandwidth + "-" + claim.maxBandwidth;
        }
    }

    /** Whether a source says that two GPUs have xGMI links of their own. */
    private Boolean direct(PairClaim claim, SourceGraph source) {
        if (claim.count >= 0) {
            return claim.count > 0;
        }
        if (claim.linkClass == LinkClass.PCIE) {
            return false;
        }
        if (claim.linkClass != LinkClass.XGMI && claim.linkClass != LinkClass.UNKNOWN) {
            return null;
        }
        Boolean byWeight = claim.linkClass == LinkClass.XGMI ? byWeight(claim.weight) : null;
        if (claim.statesBandwidth() && !silent.contains(source)) {
            boolean byBandwidth = claim.maxBandwidth > 0;
            if (byWeight != null && byWeight != byBandwidth) {
                contradictions.add(
                        PROBLEM,
                        "what it says of itself, as weight and bandwidth do not fit",
                        label(source),
                        "itself",
                        "weight " + claim.weight + " with " + claim.minBandwidth + "-" + claim.maxBandwidth);
                return byWeight;
            }
            // On PCIe a bandwidth says nothing about xGMI; without a link type it is xGMI's, as only that is stated.
            return byBandwidth;
        }
        return byWeight;
    }

    /** One hop or more by the driver's weight: 15 for each xGMI hop; 13 inside a package and 41 are one hop too, as RCCL takes them. */
    private static Boolean byWeight(long weight) {
        if (weight == 13 || weight == 15 || weight == 41) {
            return true;
        }
        return weight >= 30 ? Boolean.FALSE : null;
    }

    /** GPUs joined by xGMI, whether directly or through others; numbered by their first GPU. */
    private static int[] components(Draft[][] drafts) {
        int n = drafts.length;
        int[] component = new int[n];
        java.util.Arrays.fill(component, -1);
        int next = 0;
        for (int start = 0; start < n; start++) {
            if (component[start] >= 0) {
                continue;
            }
            List<Integer> reached = new ArrayList<>(List.of(start));
            component[start] = next;
            for (int i = 0; i < reached.size(); i++) {
                int at = reached.get(i);
                for (int to = 0; to < n; to++) {
                    if (to != at && component[to] < 0 && (isFabric(drafts[at][to]) || isFabric(drafts[to][at]))) {
                        component[to] = next;
                        reached.add(to);
                    }
                }
            }
            next++;
        }
        return component;
    }

    private static boolean isFabric(Draft draft) {
        return draft.linkClass == LinkClass.XGMI
                || (draft.linkClass == LinkClass.UNKNOWN && Boolean.TRUE.equals(draft.direct));
    }

    private int[] hives(List<GpuGraph.Gpu> merged, Draft[][] drafts, int[] components) {
        int n = merged.size();
        Map<String, Integer> names = new LinkedHashMap<>();
        int[] hives = new int[n];
        for (int i = 0; i < n; i++) {
            String said = null;
            for (SourceGraph source : sources) {
                GpuClaim claim = gpus.get(i).get(source);
                said = said == null && claim != null ? claim.hive : said;
            }
            boolean alone = true;
            for (int other = 0; other < n; other++) {
                alone &= other == i || components[other] != components[i];
            }
            String key = said != null && !said.isEmpty() ? "id " + said : alone ? "" : "joined " + components[i];
            hives[i] = key.isEmpty() ? -1 : names.computeIfAbsent(key, name -> names.size());
        }
        int apart = 0;
        int across = 0;
        String example = "";
        for (int from = 0; from < n; from++) {
            for (int to = from + 1; to < n; to++) {
                boolean same = hives[from] == hives[to] && hives[from] >= 0;
                if (same && drafts[from][to].linkClass == LinkClass.PCIE) {
                    apart++;
                    example = merged.get(from).name() + " and " + merged.get(to).name();
                } else if (!same && isFabric(drafts[from][to])) {
                    across++;
                    example = merged.get(from).name() + " and " + merged.get(to).name();
                }
            }
        }
        if (apart + across > 0) {
            findings.add(new Finding(
                    PROBLEM,
                    "xgmi-hive",
                    apart > 0
                            ? apart + " pairs are in one hive and joined by PCIe only, such as " + example
                            : across + " pairs are joined by xGMI and in different hives, such as " + example,
                    "A hive is what xGMI joins; the driver and the links do not say the same.",
                    "",
                    "Look for xGMI training errors in the kernel log, and reset the node."));
        }
        return hives;
    }

    private List<List<GpuGraph.Pair>> pairs(List<GpuGraph.Gpu> merged, Draft[][] drafts, int[] components) {
        int n = merged.size();
        int[][] width = new int[n][n];
        for (int from = 0; from < n; from++) {
            for (int to = 0; to < n; to++) {
                if (from != to && Boolean.TRUE.equals(drafts[from][to].direct) && isFabric(drafts[from][to])) {
                    width[from][to] = Math.max(1, drafts[from][to].width);
                }
            }
        }
        XgmiRoutes routes = new XgmiRoutes(width);
        boolean smiHops = false;
        List<List<GpuGraph.Pair>> pairs = new ArrayList<>();
        for (int from = 0; from < n; from++) {
            int[] fewest = routes.fewest(from);
            List<GpuGraph.Pair> row = new ArrayList<>();
            for (int to = 0; to < n; to++) {
                Draft draft = drafts[from][to];
                if (draft == null) {
                    row.add(null);
                    continue;
                }
                // A file that lists edges alone says by silence that the rest goes elsewhere.
                boolean joined = components[from] == components[to];
                if (draft.linkClass == LinkClass.UNKNOWN && draft.direct != null) {
                    draft.linkClass = joined ? LinkClass.XGMI : LinkClass.PCIE;
                }
                GpuGraph.Pair pair = draft.linkClass == LinkClass.XGMI
                        ? fabric(merged, drafts, draft, routes, fewest[to], from, to)
                        : other(merged.get(from), merged.get(to), draft);
                smiHops |= draft.linkClass == LinkClass.XGMI && draft.smiHops == 1 && pair.hops() > 1;
                row.add(pair);
            }
            pairs.add(java.util.Collections.unmodifiableList(row));
        }
        if (smiHops) {
            findings.add(new Finding(
                    Finding.Severity.NOTE,
                    "smi-hops",
                    "the SMI tool's table of hops says 1 for pairs that xGMI reaches only through other GPUs",
                    "Its hops are abstract: 1 means xGMI of any length, 2 one host socket, 3 two. The hops shown here "
                            + "come from the weight, 15 for each xGMI hop.",
                    "ROCm/rocm-systems#5763, open-mpi/hwloc#775",
                    ""));
        }
        return java.util.Collections.unmodifiableList(pairs);
    }

    private GpuGraph.Pair fabric(
            List<GpuGraph.Gpu> merged, Draft[][] drafts, Draft draft, XgmiRoutes routes, int fewest, int from, int to) {
        String gfx = merged.get(from).gfx();
        boolean direct = Boolean.TRUE.equals(draft.direct);
        int hops = hopsOf(draft.weight);
        String at = merged.get(from).name() + " to " + merged.get(to).name();
        if (draft.weight >= 0 && hops == 0) {
            contradictions.add(
                    Finding.Severity.WARNING,
                    "the weights, as " + draft.weight + " is no xGMI weight (13, 41, or 15 for each hop)",
                    "the sources",
                    "the driver's rule",
                    at);
        }
        if (direct) {
            long link = draft.megabytes;
            long nominal = Chip.xgmiMegabytesPerSecond(gfx);
            boolean stale = link == 50_000 && nominal > 50_000;
            return pair(draft, true, 1, draft.width, stale || link == 0 ? nominal : link, List.of());
        }
        if (hops > 0 && fewest > hops) {
            contradictions.add(
                    PROBLEM,
                    "the length of ways",
                    "weights",
                    "links",
                    at + " is " + hops + " hops by its weight and " + fewest + " by the links");
        }
        hops = hops > 1 ? hops : fewest;
        List<Integer> way = hops > 1 ? routes.widest(from, to, Math.max(hops, fewest)) : null;
        if (way == null) {
            return pair(draft, false, hops, 0, 0, List.of());
        }
        long link = 0;
        boolean known = true;
        for (int i = 1; i < way.size(); i++) {
            Draft step = drafts[way.get(i - 1)][way.get(i)];
            known &= step.width > 0;
            link = Math.max(link, step.megabytes);
        }
        long nominal = Chip.xgmiMegabytesPerSecond(gfx);
        link = link == 0 || (link == 50_000 && nominal > 50_000) ? nominal : link;
        return pair(draft, false, hops, known ? routes.narrowest(way) : 0, link, way.subList(1, way.size() - 1));
    }

    /** xGMI hops by the driver's weight, 0 when it says nothing or is none of xGMI's. */
    private static int hopsOf(long weight) {
        if (weight == 13 || weight == 41) {
            return 1;
        }
        return weight > 0 && weight % 15 == 0 ? (int) Math.min(weight / 15, 64) : 0;
    }

    private static GpuGraph.Pair other(GpuGraph.Gpu from, GpuGraph.Gpu to, Draft draft) {
        int hops = draft.smiHops > 0
                ? draft.smiHops
                : draft.linkClass != LinkClass.PCIE || from.numa() < 0 || to.numa() < 0
                        ? 0
                        : from.numa() == to.numa() ? 2 : 3;
        double speed = Math.min(pcie(from), pcie(to));
        boolean known = draft.linkClass == LinkClass.PCIE && !Double.isNaN(speed);
        return pair(draft, false, hops, known ? 1 : 0, known ? Math.round(speed * 1e3) : 0, List.of());
    }

    /** GB/s of a GPU's PCIe link as KFD reckons: GT/s times lanes through 8, coding not deducted. */
    private static double pcie(GpuGraph.Gpu gpu) {
        return gpu.pcieLanes() <= 0 ? Double.NaN : gpu.pcieSpeed() * gpu.pcieLanes() / 8;
    }

    private static GpuGraph.Pair pair(
            Draft draft, boolean direct, int hops, int width, long megabytes, List<Integer> via) {
        return new GpuGraph.Pair(
                draft.linkClass,
                direct,
                hops,
                width,
                megabytes,
                via,
                draft.weight,
                draft.stated,
                draft.engines,
                draft.accessible);
    }

    /** Both directions of a pair run over the same links. */
    private static boolean isSame(GpuGraph.Pair a, GpuGraph.Pair b) {
        return a.linkClass() == b.linkClass()
                && a.direct() == b.direct()
                && a.width() == b.width()
                && a.hops() == b.hops()
                && a.linkMegabytes() == b.linkMegabytes();
    }

    private void symmetry(List<GpuGraph.Gpu> merged, List<List<GpuGraph.Pair>> pairs) {
        List<String> odd = new ArrayList<>();
        for (int from = 0; from < merged.size(); from++) {
            for (int to = from + 1; to < merged.size(); to++) {
                GpuGraph.Pair there = pairs.get(from).get(to);
                GpuGraph.Pair back = pairs.get(to).get(from);
                boolean unsaid = there.linkClass() == LinkClass.UNKNOWN || back.linkClass() == LinkClass.UNKNOWN;
                if (!unsaid && !isSame(there, back)) {
                    odd.add(merged.get(from).name() + " to " + merged.get(to).name() + " is " + words(there) + ", back "
                            + words(back));
                }
            }
        }
        if (!odd.isEmpty()) {
            findings.add(new Finding(
                    PROBLEM,
                    "asymmetric-links",
                    odd.size() + " pairs are not alike in both directions: "
                            + String.join("; ", odd.subList(0, Math.min(3, odd.size()))),
                    "A link has both directions; a file in which they differ was edited, cut off, or made while a link "
                            + "was down.",
                    "",
                    "Make the file anew."));
        }
    }

    private static String words(GpuGraph.Pair pair) {
        return pair.linkClass() + (pair.direct() ? " x" + pair.width() : ", " + pair.hops() + " hops");
    }

    private List<GpuGraph.Card> cards(List<GpuGraph.Gpu> merged) {
        List<GpuGraph.Card> cards = new ArrayList<>();
        for (SourceGraph source : sources) {
            for (CardClaim card : source.cards) {
                boolean known = cards.stream()
                        .anyMatch(other -> other.name().equals(card.name) && other.server() == card.server);
                if (!known) {
                    cards.add(new GpuGraph.Card(
                            card.name,
                            card.address,
                            card.server,
                            card.numa,
                            card.gigabytesPerSecond,
                            nearest(card, source, merged)));
                }
            }
        }
        return cards;
    }

    /** The GPUs that share the most of the way down from the host, and if none shares any, those of the same NUMA node. */
    private List<Integer> nearest(CardClaim card, SourceGraph source, List<GpuGraph.Gpu> merged) {
        int most = 0;
        List<Integer> nearest = new ArrayList<>();
        for (GpuGraph.Gpu gpu : merged) {
            GpuClaim claim = gpus.get(gpu.ordinal()).get(source);
            int shared = claim == null ? 0 : shared(card.bridges, claim.bridges);
            if (shared > most) {
                most = shared;
                nearest.clear();
            }
            if (shared == most && shared > 0) {
                nearest.add(gpu.ordinal());
            }
        }
        if (nearest.isEmpty() && card.numa >= 0) {
            merged.stream()
                    .filter(gpu -> gpu.numa() == card.numa && gpu.server() == card.server)
                    .forEach(gpu -> nearest.add(gpu.ordinal()));
        }
        return nearest;
    }

    private static int shared(List<String> a, List<String> b) {
        int shared = 0;
        while (shared < a.size() && shared < b.size() && a.get(shared).equals(b.get(shared))) {
            shared++;
        }
        return shared;
    }
}

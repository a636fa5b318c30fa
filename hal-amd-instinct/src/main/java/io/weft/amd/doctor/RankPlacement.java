// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.amd.topology.GpuGraph;
import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether ranks run near their GPU: the processors of each process that knows its local rank, against those of its GPU's NUMA node. */
final class RankPlacement {
    private static final Pattern ALLOWED = Pattern.compile("(?m)^Cpus_allowed_list:\\s*(\\S+)");
    private static final int MOST_PROCESSORS = 1 << 16;

    private RankPlacement() {}

    static void look(Node node, FindingReport report) {
        if (node.graph() == null) {
            return;
        }
        List<String> far = new ArrayList<>();
        int near = 0;
        for (HostFiles.Environment environment : node.environments()) {
            Optional<String> rank = VisibleDevices.localRank(environment);
            Matcher process = Pattern.compile("process (\\d+)").matcher(environment.owner());
            if (rank.isEmpty() || !process.matches()) {
                continue;
            }
            Optional<GpuGraph.Gpu> gpu = node.graph().gpus().stream()
                    .filter(candidate -> candidate.ordinal() == Integer.parseInt(rank.get()) && candidate.numa() >= 0)
                    .findFirst();
            Optional<BitSet> allowed = node.host()
                    .text("proc/" + process.group(1) + "/status")
                    .map(ALLOWED::matcher)
                    .filter(Matcher::find)
                    .map(match -> processors(match.group(1)));
            Optional<BitSet> local = gpu.flatMap(
                            found -> node.host().text("sys/devices/system/node/node" + found.numa() + "/cpulist"))
                    .map(RankPlacement::processors);
            if (allowed.isEmpty() || local.isEmpty()) {
                continue;
            }
            if (allowed.get().intersects(local.get())) {
                near++;
            } else {
                far.add("rank " + rank.get() + " (" + environment.owner() + ") runs off NUMA node "
                        + gpu.orElseThrow().numa());
            }
        }
        if (!far.isEmpty()) {
            report.warning(
                    "numa-placement",
                    String.join("; ", far.subList(0, Math.min(4, far.size())))
                            + (far.size() > 4 ? "; and " + (far.size() - 4) + " more" : ""),
                    "Copies to and from the far socket lose 20-25 % of their bandwidth on MI250 nodes.",
                    "huggingface/optimum-amd, rocm_bandwidth_test near and far; rocm-smi --showtoponuma",
                    "Bind each rank to its GPU's node, for instance with numactl --cpunodebind, or the launcher's "
                            + "binding.");
        } else if (near > 0) {
            report.good("numa-placement", near + " ranks may run on their GPU's NUMA node");
        }
    }

    /** A list such as {@code 0-15,64-79}. */
    static BitSet processors(String list) {
        BitSet set = new BitSet();
        for (String part : list.split(",", -1)) {
            Matcher range = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?").matcher(part.strip());
            if (range.matches()) {
                int from = Integer.parseInt(range.group(1));
                int to = range.group(2) == null ? from : Integer.parseInt(range.group(2));
                if (from <= to && to < MOST_PROCESSORS) {
                    set.set(from, to + 1);
                }
            }
        }
        return set;
    }
}

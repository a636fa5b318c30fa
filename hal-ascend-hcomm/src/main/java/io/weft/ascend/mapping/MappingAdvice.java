// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.mapping;

import io.weft.api.Finding;
import io.weft.api.topology.LinkKind;
import io.weft.ascend.mapping.RankMapper.Freedom;
import io.weft.ascend.mapping.RankMapper.Mapping;
import io.weft.sim.machine.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Says of a machine whether its ranks are numbered well: for a ring, a mesh, groups within a server, and groups that lie across servers. */
public final class MappingAdvice {
    /** Name of the check. */
    public static final String CHECK = "rank-mapping";

    /** Bytes of one flow, for figures that can be compared. */
    static final double BYTES = 1L << 30;

    /** A gain below this is none. */
    private static final double WORTH = 1.01;

    /** Larger clusters are not searched here: a listing must come at once. */
    private static final int MOST_RANKS = 128;

    private static final int MOST_LISTED = 64;

    private MappingAdvice() {}

    /** One finding for each pattern; none for a machine of one device, and one that says so for a very large one. */
    public static List<Finding> of(Machine machine) {
        int n = machine.deviceCount();
        if (n < 2) {
            return List.of();
        }
        if (n > MOST_RANKS) {
            return List.of(Finding.of(
                    Finding.Severity.NOTE,
                    CHECK,
                    "not searched here for " + n + " ranks; up to " + MOST_RANKS + " are"));
        }
        List<Finding> findings = new ArrayList<>();
        for (RankTraffic traffic : patterns(machine)) {
            Mapping legal = RankMapper.map(machine, traffic, Freedom.LEGAL);
            findings.add(finding(legal));
            if (machine.nodes() > 1) {
                Mapping free = RankMapper.map(machine, traffic, Freedom.ANY);
                if (legal.seconds() > free.seconds() * WORTH) {
                    findings.add(reorder(legal, free));
                }
            }
        }
        return List.copyOf(findings);
    }

    private static List<RankTraffic> patterns(Machine machine) {
        int n = machine.deviceCount();
        List<RankTraffic> patterns = new ArrayList<>();
        patterns.add(RankTraffic.ring(n, BYTES));
        int rows = (int) Math.floor(Math.sqrt(n));
        while (n % rows != 0) {
            rows--;
        }
        if (rows > 1) {
            patterns.add(RankTraffic.mesh(rows, n / rows, BYTES));
        }
        if (n > 2 && n % 2 == 0 && hasPackages(machine)) {
            patterns.add(RankTraffic.groups(2, n / 2, BYTES, BYTES / 16));
        }
        int inner = n / machine.nodes();
        if (machine.nodes() > 1 && n % machine.nodes() == 0 && inner > 1) {
            // A tensor-parallel group moves far more than data parallelism does.
            patterns.add(RankTraffic.groups(inner, machine.nodes(), BYTES / inner, BYTES / 16));
            patterns.add(RankTraffic.strided(inner, machine.nodes(), BYTES / inner, BYTES / 16));
        }
        return patterns;
    }

    private static boolean hasPackages(Machine machine) {
        return machine.links().stream().anyMatch(link -> link.kind() == LinkKind.IN_PACKAGE);
    }

    private static Finding finding(Mapping mapping) {
        String search =
                mapping.exact() ? "every legal numbering was tried" : "searched by swapping, not all were tried";
        if (mapping.gain() < WORTH) {
            return Finding.of(
                    Finding.Severity.GOOD,
                    CHECK,
                    String.format(
                            Locale.ROOT,
                            "%s: no legal numbering beats this one, %.2f ms for 1 GiB a flow (model; %s)",
                            mapping.traffic().name(),
                            mapping.seconds() * 1e3,
                            search));
        }
        return new Finding(
                Finding.Severity.WARNING,
                CHECK,
                String.format(
                        Locale.ROOT,
                        "%s: %.2f ms for 1 GiB a flow as numbered, %.2f ms as it could be: %.2fx (model; %s)",
                        mapping.traffic().name(),
                        mapping.identitySeconds() * 1e3,
                        mapping.seconds() * 1e3,
                        mapping.gain(),
                        search),
                "Neighbours in rank that are not neighbours in place meet on the slowest link.",
                "HCCL documentation: ranks by server, in order of devices",
                "Let ranks 0, 1, ... run on what are now ranks " + order(mapping) + ".");
    }

    private static Finding reorder(Mapping legal, Mapping free) {
        return new Finding(
                Finding.Severity.NOTE,
                CHECK,
                String.format(
                        Locale.ROOT,
                        "%s: %.2f ms with any legal table, %.2f ms if members were chosen freely: %.2fx (model)",
                        free.traffic().name(),
                        legal.seconds() * 1e3,
                        free.seconds() * 1e3,
                        legal.seconds() / free.seconds()),
                "A table keeps the ranks of a server together, so it cannot help groups that lie across servers.",
                "HCCL documentation: ranks by server, in order of devices",
                "Reorder the framework's process groups: let the group that moves most be innermost.");
    }

    private static String order(Mapping mapping) {
        String listed = mapping.deviceOfRank().stream()
                .limit(MOST_LISTED)
                .map(String::valueOf)
                .collect(Collectors.joining(" "));
        return listed + (mapping.deviceOfRank().size() > MOST_LISTED ? " ..." : "");
    }
}

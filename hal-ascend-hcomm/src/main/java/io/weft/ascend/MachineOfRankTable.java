// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Finding;
import io.weft.ascend.topology.AscendGraph;
import io.weft.ascend.topology.GraphBuilder;
import io.weft.ascend.topology.RankTable;
import io.weft.ascend.topology.RankTableReader;
import io.weft.sim.machine.Machine;
import io.weft.spi.Target;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The cluster of a rank table as a machine; device number is rank. */
final class MachineOfRankTable {
    static final List<Target> TARGETS =
            List.of(new Target("rank-table=FILE", "the cluster that a rank table describes; devices by rank"));

    private static final String PREFIX = "rank-table=";
    /** ms for which a table that is still being filled in is looked at again. */
    private static final long POLL_MILLIS = 10_000;

    private MachineOfRankTable() {}

    /** The machine of a target such as {@code rank-table=FILE}; empty when it is none of that form. */
    static Optional<Machine> find(String target) {
        if (!target.startsWith(PREFIX)) {
            return Optional.empty();
        }
        try {
            return Optional.of(machine(Path.of(target.substring(PREFIX.length()))));
        } catch (InvalidPathException wrong) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT, "rank table", "not a path: " + wrong.getMessage(), wrong);
        }
    }

    private static Machine machine(Path file) {
        RankTable table = RankTableReader.await(
                file, POLL_MILLIS, millis -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis)));
        AscendGraph graph = new GraphBuilder().rankTable(table, file).build();
        for (Finding finding : graph.findings()) {
            if (finding.severity() == Finding.Severity.PROBLEM) {
                throw new AcceleratorException(
                        ErrorCode.BAD_DOCUMENT,
                        "rank table",
                        file + ": " + finding.seen() + "; 'weft topo --rank-table' shows all of it");
            }
        }
        Path name = file.getFileName();
        return MachineOfGraph.machine(
                graph, name == null ? "cluster" : name.toString(), "The cluster that " + file + " describes");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.mapping;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Finding;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.topology.DescribedMachine;
import io.weft.ascend.Examples;
import io.weft.ascend.mapping.RankMapper.Freedom;
import io.weft.ascend.mapping.RankMapper.Mapping;
import io.weft.ascend.topology.AscendTopologyReader;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineReader;
import io.weft.spi.PerformanceModel;
import io.weft.spi.TopologyReader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RankMapperTest {
    private static final double BYTES = 1e9;

    /** A machine of servers whose devices are numbered so that neighbours in number are not neighbours in place. */
    private static Machine chain(int... order) {
        int n = order.length;
        StringBuilder links = new StringBuilder();
        for (int i = 0; i + 1 < n; i++) {
            links.append("  - {kind: fabric, name: link, between: [" + order[i] + ", " + order[i + 1]
                    + "], bandwidth_gb_per_s: 10, latency_ns: 1000}\n");
        }
        return MachineReader.read("chain", HEAD.replace("COUNT", Integer.toString(n)) + links + TAIL);
    }

    @SuppressWarnings("InlineFormatString") // A whole document.
    private static final String HEAD = """
            machine: chain
            devices:
              - count: COUNT
                name: device
                architecture: none
                fp8: none
                compute: {units: 1, clock_ghz: 1, peak_tflops: {fp16: 1}, tiles: [{rows: 16, columns: 16, efficiency: 0.5}], prologue_k: 0}
                memory: {size_gib: 1, bandwidth_gb_per_s: 100, efficiency: 1, allocation_alignment_bytes: 256}
                copy_engines: {count: 0}
                kernels: {hardware_queues: 1, start_ns: 0, bandwidth_gb_per_s_per_unit: 100, bytes_per_unit: 1, peer_copy_units: 1}
                launch: {graph_ns: 0, eager_ns: 0, signal_ns: 0, issue_kernel_ns: 0, issue_copy_ns: 0, issue_event_ns: 0}
                host_link: {to_device_gb_per_s: 1, from_device_gb_per_s: 1, latency_ns: 0}
            links:
            """;

    private static final String TAIL = """
            collectives:
              - ranges:
                  - {algorithm: ring, base_ns: 0, compute_units: 1}
            """;

    @Test
    void aSmallMeshIsPlacedAsWellAsCanBe() {
        // A line of ranks on a line of devices that are numbered crosswise: the best is the line itself.
        Machine machine = chain(0, 3, 1, 4, 2, 5);
        Mapping mapping = RankMapper.map(machine, RankTraffic.mesh(1, 6, BYTES), Freedom.LEGAL);
        assertTrue(mapping.exact());
        assertEquals(0.1, mapping.seconds(), 1e-9, "one flow on every link of 10 GB/s");
        assertTrue(mapping.gain() > 1.9, mapping::toString);
        for (int rank = 0; rank + 1 < 6; rank++) {
            assertEquals(
                    1,
                    machine.route(
                                    mapping.deviceOfRank().get(rank),
                                    mapping.deviceOfRank().get(rank + 1))
                            .hops());
        }
    }

    @Test
    void aRingThatIsAlreadyWellPlacedStaysAsItIs() {
        Mapping mapping = RankMapper.map(chain(0, 1, 2, 3), RankTraffic.mesh(1, 4, BYTES), Freedom.LEGAL);
        assertTrue(mapping.isIdentity(), mapping::toString);
        assertEquals(1, mapping.gain());
    }

    @Test
    void manyRanksAreNeverPlacedWorseThanTheyWere() {
        long seed = 20261130;
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int n : new int[] {9, 16, 24}) {
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                order.add(i);
            }
            java.util.Collections.shuffle(order, random);
            Machine machine = chain(order.stream().mapToInt(Integer::intValue).toArray());
            Mapping mapping = RankMapper.map(machine, RankTraffic.mesh(1, n, BYTES), Freedom.LEGAL);
            assertTrue(mapping.gain() >= 1, mapping::toString);
            assertEquals(n, new HashSet<>(mapping.deviceOfRank()).size(), "every device once");
            // The best for a line on a line is one flow for each link and direction.
            assertTrue(mapping.seconds() <= 4 * 0.1 + 1e-9, n + ": " + mapping);
            assertTrue(mapping.gain() > 1.5, n + ": " + mapping);
        }
    }

    @Test
    void theHeuristicFindsTheBestWhereTheBestIsKnown() {
        // Sixteen ranks in groups of two whose members lie eight apart, free to be placed anywhere.
        Machine machine = machine("rank-table.json");
        RankTraffic traffic = RankTraffic.strided(4, 2, BYTES, BYTES / 100);
        Mapping legal = RankMapper.map(machine, traffic, Freedom.LEGAL);
        Mapping free = RankMapper.map(machine, traffic, Freedom.ANY);
        assertTrue(free.seconds() < legal.seconds() / 2, free + " against " + legal);
    }

    @Test
    void ranksOfAServerStayTogether() {
        Machine machine = machine("rank-table-a3.json");
        for (RankTraffic traffic : List.of(
                RankTraffic.ring(8, BYTES), RankTraffic.mesh(2, 4, BYTES), RankTraffic.strided(4, 2, BYTES, 1))) {
            Mapping mapping = RankMapper.map(machine, traffic, Freedom.LEGAL);
            int changes = 0;
            for (int rank = 1; rank < 8; rank++) {
                changes += machine.device(mapping.deviceOfRank().get(rank)).node()
                                != machine.device(mapping.deviceOfRank().get(rank - 1))
                                        .node()
                        ? 1
                        : 0;
            }
            assertEquals(1, changes, mapping::toString);
        }
    }

    @Test
    void pairsOfRanksMoveOntoTheDiesOfOnePackage() {
        Machine machine = machine("rank-table-a3.json");
        Mapping mapping = RankMapper.map(machine, RankTraffic.groups(2, 4, BYTES, BYTES / 100), Freedom.LEGAL);
        assertTrue(mapping.gain() > 1.2, mapping::toString);
    }

    @Test
    void asManyRanksAsDevicesAreWanted() {
        assertThrows(
                AcceleratorException.class,
                () -> RankMapper.map(chain(0, 1, 2), RankTraffic.ring(4, BYTES), Freedom.LEGAL));
    }

    @Test
    void theSimulatorsEngineTakesAsLongAsIsSaid() {
        Machine machine = machine("rank-table-a3.json");
        try (Platform platform = Accelerators.discover()
                .open("ascend:rank-table=" + Examples.ours("two-servers/rank-table-a3.json") + "?mode=timing")) {
            PerformanceModel model = platform.extension(PerformanceModel.class).orElseThrow();
            for (RankTraffic traffic :
                    List.of(RankTraffic.ring(8, BYTES), RankTraffic.strided(4, 2, BYTES, BYTES / 16))) {
                CommandGraph.Builder graph = CommandGraph.builder(8);
                Slot[] slots = new Slot[8];
                for (int rank = 0; rank < 8; rank++) {
                    slots[rank] = graph.slot(rank, "data", 16L << 30, Slot.Role.OUTPUT);
                }
                int[] lanes = new int[8];
                int[] arrived = new int[8];
                for (RankTraffic.Flow flow : traffic.flows()) {
                    graph.add(
                            flow.from(),
                            lanes[flow.from()]++,
                            Priority.NORMAL,
                            new Command.Copy(
                                    BufferView.vector(
                                            slots[flow.to()],
                                            (1L << 30) * ++arrived[flow.to()],
                                            (long) flow.bytes(),
                                            ElementType.INT8),
                                    BufferView.vector(slots[flow.from()], 0, (long) flow.bytes(), ElementType.INT8),
                                    // An engine serves one copy at a time; kernels share links.
                                    CopyMethod.KERNEL),
                            "flow");
                }
                double simulated =
                        model.estimate(graph.build(), PerformanceModel.Issue.STREAMS, PerformanceModel.Detail.SUMMARY)
                                        .makespanNanos()
                                * 1e-9;
                double said = RankMapper.seconds(machine, traffic, new int[] {0, 1, 2, 3, 4, 5, 6, 7});
                assertEquals(said, simulated, 0.05 * said, traffic.name());
            }
        }
    }

    @Test
    void topologyReportsSayWhatNumberingWouldGain() {
        TopologyReader reader =
                Accelerators.discover().extensions(TopologyReader.class).get("ascend");
        DescribedMachine machine = reader.read(
                Map.of(AscendTopologyReader.RANK_TABLE, List.of(Examples.ours("two-servers/rank-table-a3.json"))));
        List<Finding> advice = machine.findings().stream()
                .filter(finding -> finding.check().equals(MappingAdvice.CHECK))
                .toList();
        assertTrue(advice.size() >= 4, advice::toString);
        assertTrue(
                advice.stream()
                        .anyMatch(finding -> finding.severity() == Finding.Severity.WARNING
                                && finding.seen().contains("as it could be")),
                advice::toString);
    }

    private static Machine machine(String table) {
        return io.weft.ascend.Machines.ofTable(Examples.ours("two-servers/" + table));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.Nodes;
import io.weft.amd.topology.AmdTopologyReader;
import io.weft.amd.topology.Examples;
import io.weft.amd.topology.GpuGraph;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RingSearchTest {
    @ParameterizedTest
    @ValueSource(strings = {"mi250x-8", "mi250x-8-frontier"})
    void bothBoardsOfMi250xGetRingsThatNeverUseAMissingLink(String name) {
        int[][] widths = widths(Nodes.machine(name, ""));
        // Ten lanes of xGMI join the packages, and a ring through four packages takes four.
        check(widths, RingSearch.rings(widths), 4);
    }

    @ParameterizedTest
    @CsvSource({"topo_8p1h_3, 4", "topo_8p1h_5, 4", "topo_16p1h, 4", "topo_8p_90a, 4"})
    void realFilesGetRingsOfTheirOwnLinks(String name, int least) {
        int[][] widths = widths(AmdTopologyReader.ofXml(Examples.real("topo-xml/" + name + ".xml")));
        List<int[]> rings = RingSearch.rings(widths);
        assertTrue(rings.size() >= least, "rings: " + rings.size());
        check(widths, rings, rings.size());
    }

    @Test
    void ourOwnNodeOfTwoPackagesGetsRings() {
        int[][] widths = widths(AmdTopologyReader.ofXml(Examples.ours("rccl-topology.xml")));
        List<int[]> rings = RingSearch.rings(widths);
        check(widths, rings, 2);
    }

    @Test
    void aMeshNeedsNoSearchAndTwoHivesAreVisitedOneAfterTheOther() {
        assertEquals(0, Nodes.machine("mi300x-8", "").rings());
        Machine hives = Nodes.machine("mi100-8", "");
        assertEquals(2, hives.rings());
        int[] ring = new int[8];
        for (int place = 0; place < 8; place++) {
            ring[place] = hives.ringDevice(0, place);
        }
        int crossings = 0;
        for (int place = 0; place < 8; place++) {
            crossings += ring[place] / 4 == ring[(place + 1) % 8] / 4 ? 0 : 1;
        }
        assertEquals(2, crossings, Arrays.toString(ring));
    }

    private static int[][] widths(Machine machine) {
        int n = machine.deviceCount();
        int[][] widths = new int[n][n];
        for (LinkModel link : machine.links()) {
            widths[link.from()][link.to()] = link.width();
            widths[link.to()][link.from()] = link.width();
        }
        return widths;
    }

    private static int[][] widths(GpuGraph graph) {
        int n = graph.gpus().size();
        int[][] widths = new int[n][n];
        for (int from = 0; from < n; from++) {
            for (int to = 0; to < n; to++) {
                if (from != to && graph.pair(from, to).direct()) {
                    widths[from][to] = graph.pair(from, to).width();
                }
            }
        }
        return widths;
    }

    /** Every ring visits all, over links that there are, and no link is in more rings one way than it has lanes. */
    private static void check(int[][] widths, List<int[]> rings, int expected) {
        assertEquals(expected, rings.size());
        int n = widths.length;
        int[][] taken = new int[n][n];
        for (int[] ring : rings) {
            assertEquals(n, Arrays.stream(ring).distinct().count());
            for (int place = 0; place < n; place++) {
                int from = ring[place];
                int to = ring[(place + 1) % n];
                assertTrue(widths[from][to] > 0, from + " to " + to + " in " + Arrays.toString(ring));
                taken[from][to]++;
                assertTrue(taken[from][to] <= widths[from][to], from + " to " + to + " is taken too often");
            }
        }
    }
}

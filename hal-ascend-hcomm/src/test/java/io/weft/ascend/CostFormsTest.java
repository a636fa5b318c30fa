// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Accelerators;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.spi.PerformanceModel;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The modelled machines against the vendor's forms: time that grows with bytes, which does not depend on estimated latencies. */
class CostFormsTest {
    private static final Accelerators FOUND = Accelerators.discover();

    private static double allReduce(Platform platform, int ranks, long bytes) {
        CommandGraph.Builder graph = CommandGraph.builder(ranks);
        for (int rank = 0; rank < ranks; rank++) {
            Slot slot = graph.slot(rank, "buffer", bytes, Slot.Role.OUTPUT);
            BufferView view = BufferView.vector(slot, 0, bytes / 2, ElementType.FP16);
            graph.add(
                    rank,
                    0,
                    Priority.NORMAL,
                    new Command.Collective(
                            CollectiveKind.ALL_REDUCE,
                            ReduceOp.SUM,
                            rank,
                            ranks,
                            0,
                            view,
                            view,
                            List.of(),
                            List.of(),
                            0),
                    "all-reduce");
        }
        return platform.extension(PerformanceModel.class)
                        .orElseThrow()
                        .estimate(graph.build(), PerformanceModel.Issue.STREAMS, PerformanceModel.Detail.SUMMARY)
                        .makespanNanos()
                * 1e-9;
    }

    private static double slope(Platform platform, int ranks) {
        long small = 64 << 20;
        long large = 512 << 20;
        return (allReduce(platform, ranks, large) - allReduce(platform, ranks, small)) / (large - small);
    }

    @ParameterizedTest
    @CsvSource({
        // GB/s of one link's payload times the protocol's share: nominal x efficiency x 0.9.
        "atlas-800t-a2, 8, 23.184",
        "910a-8,        4, 23.184",
    })
    void aMeshsTimeForAByteIsTheVendors(String machine, int ranks, double linkGigabytes) {
        try (Platform platform = FOUND.open("ascend:" + machine + "?mode=timing")) {
            CostForms forms = new CostForms(0, 1 / (linkGigabytes * 1e9), 0);
            assertEquals(forms.meshAllReduce(ranks, 1), slope(platform, ranks), 0.02 * forms.meshAllReduce(ranks, 1));
        }
    }

    @Test
    void onSwitchesADiesOwnWayCarriesWhatARingCarries() {
        try (Platform platform = FOUND.open("ascend:a3-16?mode=timing")) {
            // Of 15 peers one is on the same package, and its bytes do not pass the die's way to the switches.
            CostForms forms = new CostForms(0, 14.0 / 15 / (196e9 * 0.85 * 0.9), 0);
            assertEquals(forms.nhrAllReduce(16, 1), slope(platform, 16), 0.05 * forms.nhrAllReduce(16, 1));
        }
    }

    @Test
    void betweenServersTheCardsCarryAServersShare() {
        try (Platform platform = FOUND.open("ascend:a2-cluster=4?mode=timing")) {
            double inside = new CostForms(0, 1 / 23.184e9, 0).meshAllReduce(8, 1);
            double between = new CostForms(0, 1 / (25e9 * 0.92 * 0.9), 0).ringAllReduce(4, 1.0 / 8);
            double slope = slope(platform, 32);
            assertTrue(slope >= Math.max(inside, between) * 0.98, slope + " below " + inside + ", " + between);
            assertTrue(slope <= (inside + between) * 1.02, slope + " above " + inside + " + " + between);
        }
    }

    @Test
    void formsAreThoseOfTheDocument() {
        CostForms forms = new CostForms(1, 10, 100);
        assertEquals(2 + 2 * 80 * 10 / 8.0 + 7 * 80 * 100 / 8.0, forms.meshAllReduce(8, 80), 1e-9);
        assertEquals(1 + 80 * 10 / 8.0, forms.meshAllGather(8, 80), 1e-9);
        assertEquals(1 + 80 * 10 / 8.0 + 7 * 80 * 100 / 8.0, forms.meshReduceScatter(8, 80), 1e-9);
        assertEquals(14 + 14 * 80 * 10 / 8.0 + 7 * 80 * 100 / 8.0, forms.ringAllReduce(8, 80), 1e-9);
        assertEquals(6 + 14 * 80 * 10 / 8.0 + 7 * 80 * 100 / 8.0, forms.nhrAllReduce(8, 80), 1e-9);
        assertEquals(forms.nhrAllReduce(8, 80), forms.halvingDoublingAllReduce(8, 80), 1e-9);
        assertEquals(forms.nhrAllReduce(6, 60) + 1 + 600 + 6000, forms.halvingDoublingAllReduce(6, 60), 1e-9);
        assertEquals(7 * (1 + 50), forms.pairwiseAllToAll(8, 5), 1e-9);
        assertEquals(2 * (5 * 3 + 2), forms.pipelineAllReduce(4, 5, 2), 1e-9);
        assertEquals(1 + 50, forms.star(5), 1e-9);
    }
}

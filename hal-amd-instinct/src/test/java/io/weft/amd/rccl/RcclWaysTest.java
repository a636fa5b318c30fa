// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.Nodes;
import io.weft.api.CollectiveKind;
import io.weft.api.Platform;
import io.weft.sim.machine.CollectiveRange;
import io.weft.sim.machine.Machine;
import io.weft.spi.ChoiceTables;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RcclWaysTest {
    private static Set<String> labels(String machine, String options) {
        return Nodes.machine(machine, options).collective(CollectiveKind.ALL_REDUCE).ranges().stream()
                .map(CollectiveRange::label)
                .collect(Collectors.toSet());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mi300a-4", "mi300x-8", "mi325x-8", "mi355x-8", "mi250x-8", "mi250x-8-frontier", "mi100-8"})
    void ll128IsThereByDefaultOnGfx90aOnlyAndTreeWithSimpleNotOnGfx94(String machine) {
        Set<String> labels = labels(machine, "");
        assertEquals(machine.startsWith("mi250x"), labels.contains("ring ll128"), labels::toString);
        assertFalse(machine.startsWith("mi3") && labels.contains("tree simple"), labels::toString);
        assertTrue(labels.contains("ring simple") && labels.contains("tree ll"), labels::toString);
    }

    @Test
    void settingsLeaveSomeWaysOut() {
        assertEquals(Set.of("ring simple", "ring ll"), labels("mi300x-8", "NCCL_ALGO=Ring"));
        assertEquals(Set.of("ring simple", "direct simple"), labels("mi300x-8", "NCCL_PROTO=Simple"));
        assertFalse(labels("mi300x-8", "NCCL_ALGO=^tree").contains("tree ll"));
        assertTrue(labels("mi300x-8", "RCCL_LL128_FORCE_ENABLE=1").contains("ring ll128"));
        assertEquals(Set.of("ring ll128"), labels("mi250x-8", "NCCL_PROTO=LL128"));
    }

    @ParameterizedTest
    @CsvSource({
        "'',                        8, 1.00",
        "NCCL_MAX_NCHANNELS=8,      8, 0.15",
        "NCCL_MIN_NCHANNELS=112,    8, 1.00"
    })
    void channelsAreComputeUnitsAndFewOfThemCannotFillTheLinks(String options, int ranks, double share) {
        double full = micros(Nodes.machine("mi300x-8", ""), ranks);
        double found = micros(Nodes.machine("mi300x-8", options), ranks);
        assertEquals(share, full / found, 0.1 * share, full + " us and " + found + " us");
        int units = best(Nodes.machine("mi300x-8", options)).computeUnits();
        assertEquals(options.isEmpty() ? 56 : Integer.parseInt(options.substring(options.indexOf('=') + 1)), units);
    }

    @Test
    void withoutPeerAccessEverythingCrossesTheHostsLink() {
        double direct = micros(Nodes.machine("mi300x-8", ""), 8);
        double host = micros(Nodes.machine("mi300x-8", "NCCL_P2P_DISABLE=1"), 8);
        assertTrue(host > 5 * direct, direct + " us and " + host + " us");
    }

    /** RCCL 2.22.3 on two MI300X: 47.7 GB/s, where eight reach 313. */
    @Test
    void twoRanksReachOneLinkAndEightReachSeven() {
        double bytes = 0x1p30;
        assertEquals(47.7, bytes / micros(Nodes.machine("mi300x-8", ""), 2) / 1e3, 0.1 * 47.7);
        assertEquals(313, 2 * 7 / 8.0 * bytes / micros(Nodes.machine("mi300x-8", ""), 8) / 1e3, 0.1 * 313);
    }

    private static CollectiveRange best(Machine machine) {
        List<String> last = rows(machine, CollectiveKind.ALL_REDUCE, 8).getLast();
        String label = last.get(last.size() - 2);
        return machine.collective(CollectiveKind.ALL_REDUCE).ranges().stream()
                .filter(way -> way.label().equals(label))
                .findFirst()
                .orElseThrow();
    }

    /** us of an all-reduce of 1 GiB by the way that is taken. */
    private static double micros(Machine machine, int ranks) {
        List<String> last = rows(machine, CollectiveKind.ALL_REDUCE, ranks).getLast();
        return last.subList(1, last.size() - 2).stream()
                .mapToDouble(Double::parseDouble)
                .min()
                .orElseThrow();
    }

    private static List<List<String>> rows(Machine machine, CollectiveKind kind, int ranks) {
        return RcclTables.tables(machine, kind, ranks).getFirst().rows();
    }

    @Test
    void theTableGoesFromLowLatencyToSimple() {
        try (Platform platform = Nodes.open("amd:mi300x-8?mode=timing")) {
            ChoiceTables tables = platform.extension(ChoiceTables.class).orElseThrow();
            List<List<String>> rows =
                    tables.collectives(CollectiveKind.ALL_REDUCE, 8).getFirst().rows();
            assertEquals("direct ll", rows.getFirst().get(6));
            assertEquals("ring simple", rows.getLast().get(6));
            assertEquals("8", rows.getFirst().getFirst());
            assertEquals("1073741824", rows.getLast().getFirst());
        }
    }

    @Test
    void everyOperationHasATable() {
        for (CollectiveKind kind : CollectiveKind.values()) {
            int tables =
                    RcclTables.tables(Nodes.machine("mi250x-8", ""), kind, 4).size();
            assertEquals(kind == CollectiveKind.BARRIER ? 0 : 1, tables, kind::toString);
        }
    }
}

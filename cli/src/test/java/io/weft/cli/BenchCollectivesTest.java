// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchCollectivesTest {
    private static List<String> rows(String out) {
        return out.lines()
                .filter(line -> !line.startsWith("#") && !line.isBlank())
                .toList();
    }

    @Test
    void aRowHasTheColumnsOfRcclTestsAndTheTableItsLastLines() {
        Invocation call = Invocation.of("bench", "collectives", "--on", "sim:mesh-8", "-b", "8", "-e", "8K", "-f", "4");
        assertEquals(0, call.code(), call.err());
        List<String> rows = rows(call.out());
        assertEquals(6, rows.size(), call.out());
        for (String row : rows) {
            String[] cells = row.strip().split("\\s+", -1);
            assertEquals(13, cells.length, row);
            assertEquals(Long.parseLong(cells[0]), 4 * Long.parseLong(cells[1]), row);
            assertEquals(List.of("float", "sum", "-1"), List.of(cells).subList(2, 5), row);
            assertEquals(1.75 * Double.parseDouble(cells[6]), Double.parseDouble(cells[7]), 0.02, row);
            assertEquals("0", cells[8], row);
            assertEquals("0", cells[12], row);
        }
        assertTrue(call.out().contains("# Out of bounds values : 0 OK"), call.out());
        assertTrue(call.out().contains("# Avg bus bandwidth    : "), call.out());
        assertTrue(call.out().contains("model: predicted, not measured"), call.out());
    }

    @Test
    void severalRankCountsAndOperationsMakeSeveralTables() {
        Invocation call = Invocation.of(
                "bench",
                "collectives",
                "--on",
                "sim:mesh-8",
                "--ranks",
                "2",
                "--ranks",
                "4",
                "--op",
                "all_gather,alltoall",
                "-b",
                "1K",
                "-e",
                "1K",
                "-d",
                "half",
                "--explain");
        assertEquals(0, call.code(), call.err());
        for (String table : List.of("all_gather over 2", "all_gather over 4", "alltoall over 2", "alltoall over 4")) {
            assertTrue(call.out().contains("# " + table + " ranks on sim:mesh-8"), call.out());
        }
        assertEquals(4, rows(call.out()).size());
        assertTrue(rows(call.out()).stream().allMatch(row -> row.contains("compute units")), call.out());
        assertTrue(rows(call.out()).getLast().contains("N/A"), "all-to-all has no in-place form");
    }

    @Test
    void withoutDataTheColumnSaysThatNothingWasChecked() {
        Invocation call = Invocation.of(
                "bench", "collectives", "--on", "sim:mesh-8?mode=timing", "-b", "64M", "-e", "64M", "-i", "1M");
        assertEquals(0, call.code(), call.err());
        assertTrue(rows(call.out()).getFirst().endsWith("N/A"), call.out());
        assertTrue(call.out().contains("(nothing was checked)"), call.out());
        assertTrue(call.out().contains("# note: "), call.out());
    }

    @Test
    void jsonHoldsTheSameFigures() {
        Invocation call = Invocation.of(
                "bench", "collectives", "--on", "sim:mesh-8", "-b", "1M", "-e", "1M", "--op", "broadcast", "--json");
        assertEquals(0, call.code(), call.err());
        for (String member :
                List.of("\"figures\": \"model\"", "\"busbwGBps\"", "\"wrong\": 0", "\"redop\": \"none\"")) {
            assertTrue(call.out().replace("\" :", "\":").contains(member), call.out());
        }
    }

    @Test
    void helpShowsAnExample() {
        Invocation help = Invocation.of("bench", "collectives", "--help");
        assertEquals(0, help.code());
        assertTrue(help.out().contains("weft bench collectives --on sim:mesh-8"), help.out());
        assertTrue(Invocation.of("bench").out().contains("collectives"));
    }

    @ParameterizedTest
    @CsvSource({
        "8, 8",
        "1K, 1024",
        "64m, 67108864",
        "1.5K, 1536",
        "2GiB, 2147483648",
        "2GB, 2147483648",
        "7B, 7",
        "1T, 1099511627776"
    })
    void sizesAreReadWithTheirUnits(String text, long bytes) {
        assertEquals(bytes, new ByteSize().convert(text));
    }
}

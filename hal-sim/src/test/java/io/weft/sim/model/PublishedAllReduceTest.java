// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.api.CollectiveKind;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineReader;
import io.weft.spi.PerformanceModel.Issue;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** NCCL's all-reduce on A100s, on one node and on four, against a model of each with one efficiency and one step for each protocol. */
class PublishedAllReduceTest {
    private static final double TOLERANCE = 0.25;
    private static final int ROWS = 30;

    @Test
    void fourA100OverNvlinkTakeWhatTheTableSays() throws IOException {
        compare("a100-4", table(), 1, 2);
    }

    @Test
    void sixteenA100OverSlingshotTakeWhatTheTableSays() throws IOException {
        compare("a100-4x4", table(), 1, 2);
    }

    @Test
    void theOriginalTableIsMetAsWell() throws IOException {
        Path file = Path.of("..", "..", "shared", "data", "traces", "nccl-allreduce-a100-measured.csv");
        assumeTrue(Files.exists(file), () -> "there is no " + file + " here; its copy is tested");
        List<String[]> rows = Files.readAllLines(file).stream()
                .skip(1)
                .map(line -> line.split(",", -1))
                .map(row -> new String[] {row[1], row[5], row[6]})
                .toList();
        compare("a100-4", rows, 1, 2);
        compare("a100-4x4", rows, 1, 2);
    }

    private static List<String[]> table() throws IOException {
        return text("nccl-allreduce-a100.csv")
                .lines()
                .filter(line -> !line.startsWith("#"))
                .skip(1)
                .map(line -> line.split(",", -1))
                .toList();
    }

    private static String text(String name) throws IOException {
        try (InputStream in = PublishedAllReduceTest.class.getResourceAsStream("/io/weft/sim/published/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void compare(String name, List<String[]> rows, int size, int time) throws IOException {
        Machine machine = MachineReader.read(name + ".yaml", text(name + ".yaml"));
        int compared = 0;
        for (String[] row : rows) {
            if (Integer.parseInt(row[0]) == machine.deviceCount()) {
                long bytes = Long.parseLong(row[size]);
                double published = Double.parseDouble(row[time]);
                GraphKit kit = GraphKit.on(machine);
                kit.collective(CollectiveKind.ALL_REDUCE, bytes, 0, 0);
                double found = kit.run(Issue.STREAMS).makespanNanos() / 1e3;
                assertEquals(published, found, TOLERANCE * published, name + ", us of " + bytes + " bytes");
                compared++;
            }
        }
        assertEquals(ROWS, compared);
    }
}

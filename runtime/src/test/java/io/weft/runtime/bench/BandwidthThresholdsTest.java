// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.runtime.json.JsonReader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BandwidthThresholdsTest {
    private static BandwidthThresholds parse(String text) {
        return BandwidthThresholds.of("node.json", JsonReader.parse("thresholds", "node.json", text));
    }

    @Test
    void numbersAreReadAsAmdWritesThemAndPlain() {
        BandwidthThresholds read = parse(
                "{\"all_reduce_perf\": {\"bus_bw\": {\"8589934592\": \"330.00\"}}, \"alltoall\": {\"bus_bw\": {\"1024\": 45}}}");
        assertEquals(330, read.least(CollectiveOperation.ALL_REDUCE, 8589934592L));
        assertEquals(45, read.least(CollectiveOperation.ALLTOALL, 1024));
        assertTrue(Double.isNaN(read.least(CollectiveOperation.ALL_GATHER, 1024)));
    }

    @Test
    void amdsOwnFileIsRead() {
        Path file = Path.of("..", "..", "shared", "data", "amd", "rccl-tests", "cvs_rccl_thresholds_2node_16gpu.json");
        assumeTrue(Files.exists(file), () -> "there is no " + file + " here");
        BandwidthThresholds read = BandwidthThresholds.read(file);
        assertEquals(360, read.least(CollectiveOperation.REDUCE_SCATTER, 16L << 30));
        assertEquals(47, read.least(CollectiveOperation.SENDRECV, 8L << 30));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[]|node.json:1:1: found an array; accepted is an object",
                "{\"all_reduce_perf\": {}}|'all_reduce_perf' has no bus_bw",
                "{\"hop\": {\"bus_bw\": {}}}|'hop' is not an operation",
                "{\"broadcast\": {\"bus_bw\": {\"1K\": 4}}}|size '1K' is no number of bytes",
                "{\"broadcast\": {\"bus_bw\": {\"8\": \"fast\"}}}|found \"fast\"; accepted is a number of GB/s"
            })
    void aFileThatCannotBeUsedGetsOneLine(String text) {
        int bar = text.indexOf('|');
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> parse(text.substring(0, bar)));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertTrue(refusal.getMessage().contains(text.substring(bar + 1)), refusal::getMessage);
        assertEquals(1, refusal.getMessage().lines().count());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoceSettingsTest {
    @Test
    void theDefaultTimeoutIsFourPointTwoNineSecondsAndEightOfThemEndAConnection() {
        assertEquals(4.29e9, RoceSettings.DEFAULTS.timeoutNanos(), 0.01e9);
        assertEquals(8 * RoceSettings.DEFAULTS.timeoutNanos(), RoceSettings.DEFAULTS.giveUpNanos());
    }

    @Test
    void theDefaultQueueIsLosslessWherePriorityFourIsPaused() {
        assertEquals(33, RoceSettings.DEFAULTS.dscp());
        assertTrue(RoceSettings.DEFAULTS.lossyBecause(Set.of(4)).isEmpty());
        assertTrue(RoceSettings.DEFAULTS.lossyBecause(Set.of(3)).orElseThrow().contains("priority 4"));
        RoceSettings split = RoceSettings.of(Map.of("HCCL_RDMA_TC", "104"));
        assertTrue(split.lossyBecause(Set.of(3, 4)).orElseThrow().contains("must name one queue"));
    }

    @Test
    void messagesGoOverSeveralQueuePairsOnlyWhenEachGetsEnough() {
        RoceSettings four = RoceSettings.of(Map.of("HCCL_RDMA_QPS_PER_CONNECTION", "4"));
        assertEquals(1, four.queuePairsFor(512 << 10));
        assertEquals(2, four.queuePairsFor(1 << 20));
        assertEquals(4, four.queuePairsFor(64 << 20));
    }

    @ParameterizedTest
    @CsvSource({
        "HCCL_RDMA_TC,133",
        "HCCL_RDMA_TC,256",
        "HCCL_RDMA_SL,8",
        "HCCL_RDMA_RETRY_CNT,0",
        "HCCL_RDMA_RETRY_CNT,8",
        "HCCL_RDMA_TIMEOUT,32",
        "HCCL_RDMA_QPS_PER_CONNECTION,33",
        "HCCL_MULTI_QP_THRESHOLD,many"
    })
    void aValueOutOfRangeNamesItsVariable(String name, String value) {
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> RoceSettings.of(Map.of(name, value)));
        assertTrue(refused.getMessage().contains(name) && refused.getMessage().contains(value), refused.getMessage());
    }
}

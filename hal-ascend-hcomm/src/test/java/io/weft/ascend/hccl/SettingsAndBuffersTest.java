// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsAndBuffersTest {
    @Test
    void aCommunicatorTakesFourHundredMegabytesWhenNothingIsSet() {
        assertEquals(400L << 20, HcclSettings.DEFAULTS.communicatorBytes());
        assertEquals(2_400L << 20, BufferCalculator.deviceBytes(4, 300));
    }

    @Test
    void theSuggestedSizeHoldsTheMessage() {
        assertEquals(1, BufferCalculator.megabytesFor(1));
        assertEquals(600, BufferCalculator.megabytesFor(600L << 20));
        assertEquals(601, BufferCalculator.megabytesFor((600L << 20) + 1));
        assertEquals(200, BufferCalculator.megabytesForActivations(4096, 4096, 2));
        assertEquals(256, BufferCalculator.megabytesForActivations(16_384, 8192, 2));
        assertEquals(896, BufferCalculator.megabytesForExperts(4096, 7168, 8));
        assertEquals(0.75, BufferCalculator.level(150L << 20, 200));
    }

    @Test
    void impossibleSizesAreRefused() {
        assertThrows(AcceleratorException.class, () -> BufferCalculator.deviceBytes(1, 0));
        assertThrows(AcceleratorException.class, () -> BufferCalculator.megabytesFor(-1));
    }

    @Test
    void defaultsAreThoseOfTheVendor() {
        assertEquals(new HcclSettings(200, 120, 1836, true), HcclSettings.ofEnvironment(Map.of(), HcclFamily.A2));
        assertEquals(
                0,
                HcclSettings.ofEnvironment(Map.of("HCCL_EXEC_TIMEOUT", "0"), HcclFamily.A2)
                        .executeSeconds());
    }

    @Test
    void theOldestGenerationCountsTheExecuteTimeoutInStepsOfSixtyEightSeconds() {
        assertEquals(
                544,
                HcclSettings.ofEnvironment(Map.of("HCCL_EXEC_TIMEOUT", "600"), HcclFamily.A910A)
                        .executeSeconds());
    }

    @ParameterizedTest
    @CsvSource({
        "HCCL_BUFFSIZE,0,A2",
        "HCCL_BUFFSIZE,much,A2",
        "HCCL_CONNECT_TIMEOUT,119,A2",
        "HCCL_CONNECT_TIMEOUT,7201,A3",
        "HCCL_EXEC_TIMEOUT,-1,A3",
        "HCCL_EXEC_TIMEOUT,0,A910A",
        "HCCL_EXEC_TIMEOUT,17341,A910A"
    })
    void aSettingOutOfRangeNamesItsVariableAndWhatIsAccepted(String name, String value, HcclFamily family) {
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> HcclSettings.ofEnvironment(Map.of(name, value), family));
        assertTrue(
                refused.getMessage().contains(name) && refused.getMessage().contains("accepted is"),
                refused.getMessage());
    }

    @Test
    void devicesHaveTheirFamilies() {
        assertEquals(HcclFamily.A910A, HcclFamily.ofDevice("Ascend 910A"));
        assertEquals(HcclFamily.A2, HcclFamily.ofDevice("Ascend 910B3"));
        assertEquals(HcclFamily.A3, HcclFamily.ofDevice("Ascend 910C die"));
        assertEquals(HcclFamily.A3, HcclFamily.ofDevice("Ascend910_9391"));
        assertEquals(HcclFamily.A950, HcclFamily.ofDevice("Ascend 950DT"));
    }

    // Ports.

    @Test
    void aJobListensOnTheDocumentedPorts() {
        assertEquals(
                new PortPlan(List.of(new PortRange(60_000, 60_031)), List.of(new PortRange(16_666, 16_666))),
                PortPlan.defaults());
        PortPlan ranges = PortPlan.of(Map.of(
                "HCCL_IF_BASE_PORT",
                "50000",
                "HCCL_HOST_SOCKET_PORT_RANGE",
                "61000-61050,50200",
                "HCCL_NPU_SOCKET_PORT_RANGE",
                "auto"));
        assertEquals(List.of(new PortRange(61_000, 61_050), new PortRange(50_200, 50_200)), ranges.host());
        assertEquals(List.of(), ranges.device());
        assertEquals(
                16,
                PortPlan.of(Map.of("HCCL_IF_BASE_PORT", "65520"))
                        .host()
                        .getFirst()
                        .count());
    }

    @Test
    void twoJobsOnOneHostClashUntilOneTakesTheProposedRange() {
        PortPlan one = PortPlan.defaults();
        assertEquals(
                new PortRange(60_000, 60_031), one.clash(PortPlan.defaults()).orElseThrow());
        PortPlan other = PortPlan.beside(List.of(one));
        assertTrue(one.clash(other).isEmpty());
        assertEquals(
                new PortPlan(List.of(new PortRange(60_032, 60_063)), List.of(new PortRange(16_667, 16_667))), other);
    }

    @Test
    void aPortCountedFromABaseMayNotRunPastTheLast() {
        assertEquals(65_535, PortPlan.ofDevice(65_520, 15));
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> PortPlan.ofDevice(65_530, 8));
        assertTrue(
                refused.getMessage().contains("65538") && refused.getMessage().contains("65527"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "70000", "20-10", "a-b", "", "1-2,,3"})
    void badRangesAreRefusedByName(String text) {
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> PortRange.parse("HCCL_NPU_SOCKET_PORT_RANGE", text));
        assertTrue(refused.getMessage().contains("HCCL_NPU_SOCKET_PORT_RANGE"), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1023", "65521", "base"})
    void badBasesAreRefused(String text) {
        assertThrows(AcceleratorException.class, () -> PortPlan.of(Map.of("HCCL_IF_BASE_PORT", text)));
    }
}

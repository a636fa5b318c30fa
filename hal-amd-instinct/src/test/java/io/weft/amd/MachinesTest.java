// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.topology.LinkKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MachinesTest {
    private static final long BYTES = 256L << 20;

    @ParameterizedTest
    @CsvSource({
        "mi100-8, 8, gfx908, 120, 32, 8, none",
        "mi250x-8, 8, gfx90a, 110, 64, 5, none",
        "mi250x-8-frontier, 8, gfx90a, 110, 64, 5, none",
        "mi300a-4, 4, gfx942, 228, 128, 16, fnuz",
        "mi300x-8, 8, gfx942, 304, 192, 16, fnuz",
        "mi325x-8, 8, gfx942, 304, 256, 16, fnuz",
        "mi355x-8, 8, gfx950, 256, 288, 16, ocp"
    })
    void everyMachineHasTheFiguresOfItsDataSheet(
            String name, int devices, String architecture, int units, long gibibytes, int engines, String fp8) {
        try (Platform platform = Nodes.open("amd:" + name + "?mode=timing")) {
            assertEquals(devices, platform.devices().size());
            var properties = platform.device(devices - 1).properties();
            assertEquals(architecture, properties.architecture());
            assertEquals(units, properties.computeUnits());
            assertEquals(gibibytes << 30, properties.memoryBytes());
            assertEquals(engines, properties.copyEngines());
            assertEquals(4, properties.hardwareQueues());
            assertEquals(3, properties.priorities());
            assertEquals(fp8, properties.extra().get("fp8"));
            assertEquals(!fp8.equals("none"), properties.gemmTypes().stream().anyMatch(ElementType::isFp8));
        }
    }

    @Test
    void theTwoOlderAndOddMachinesReachTheirOnePublishedNumber() {
        double bridge = Measurement.on("mi100-8")
                .copy(0, 3, BYTES, CopyMethod.KERNEL)
                .copy(3, 0, BYTES, CopyMethod.KERNEL)
                .gigabytesPerSecond()[0];
        assertEquals(70, 2 * bridge, 0.1 * 70, "ROCm/rccl#901: about 70 of 92 GB/s both ways");
        double link =
                Measurement.on("mi300a-4").copy(0, 3, BYTES, CopyMethod.KERNEL).gigabytesPerSecond()[0];
        assertEquals(63, link, 0.1 * 63, "torch-mojo PR#455: one link");
    }

    @Test
    void theHivesOfMi100AreJoinedByPcieAndNotByXgmi() {
        try (Platform platform = Nodes.open("amd:mi100-8?mode=timing")) {
            assertEquals(LinkKind.FABRIC, platform.topology().link(0, 3).kind());
            assertEquals(LinkKind.FABRIC, platform.topology().link(7, 4).kind());
            assertEquals(LinkKind.PCIE, platform.topology().link(3, 4).kind());
            assertTrue(platform.topology().link(3, 4).bandwidth() < 28);
        }
    }
}

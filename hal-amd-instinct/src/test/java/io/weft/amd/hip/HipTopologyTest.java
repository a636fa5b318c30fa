// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.DeviceProperties;
import io.weft.api.Platform;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Links and engines of a native platform come from the kernel driver's tree, where devices are found by their PCI addresses. */
class HipTopologyTest {
    /** Four dies, on the buses c1, c6, c9 and ce. */
    private static final Path TREE = Path.of("../docs/examples/amd/mi250x-4/sys/class/kfd")
            .toAbsolutePath()
            .normalize();

    @BeforeEach
    void useTheTree() {
        System.setProperty("io.weft.amd.kfd", TREE.toString());
    }

    @AfterEach
    void forgetIt() {
        System.clearProperty("io.weft.amd.kfd");
    }

    /** HIP numbers what its masks leave, the driver numbers nodes: only the address tells who is who. */
    @ParameterizedTest
    @CsvSource({
        "0xc1, 5, IN_PACKAGE, xGMI, 1, 4, 150",
        "0xc6, -5, IN_PACKAGE, xGMI, 1, 4, 150",
        "0xc1, 8, FABRIC, xGMI, 1, 2, 75",
        "0xc6, 3, FABRIC, xGMI over 1 device, 2, 2, 75"
    })
    void pairsAreThoseOfTheTreeByAddress(
            String bus, int step, LinkKind kind, String name, int hops, int width, double bandwidth) {
        HipStandIn standIn = HipStandIn.alone("tree" + bus + step);
        standIn.set("gfx", 90);
        standIn.set("bus", Integer.decode(bus));
        standIn.set("bus-step", step);
        try (Platform platform = standIn.open()) {
            Link link = platform.topology().link(0, 1);
            assertEquals(kind, link.kind());
            assertEquals(name, link.name());
            assertEquals(hops, link.hops());
            assertEquals(width, link.width());
            assertEquals(bandwidth, link.bandwidth(), 1e-9);
            DeviceProperties device = platform.device(0).properties();
            assertEquals("gfx90a", device.architecture());
            assertEquals(5, device.copyEngines(), "two for the host and three for xGMI");
            assertEquals("0000:" + bus.substring(2) + ":00.0", device.busId());
        }
    }

    @Test
    void aDeviceThatTheTreeDoesNotKnowIsJoinedAsHipSays() {
        HipStandIn standIn = HipStandIn.alone("tree-stranger");
        try (Platform platform = standIn.open()) {
            assertEquals("xGMI", platform.topology().link(0, 1).name());
            assertTrue(platform.device(0).properties().copyEngines() >= 2);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MachineCatalogTest {
    static java.util.List<String> names() {
        return MachineCatalog.names();
    }

    @ParameterizedTest
    @MethodSource("names")
    void everyShippedMachineOpensUnderItsName(String name) {
        Machine machine = MachineCatalog.open(name);
        assertEquals(name, machine.name());
        Topology topology = machine.topology();
        for (int from = 0; from < machine.deviceCount(); from++) {
            for (int to = 0; to < machine.deviceCount(); to++) {
                assertTrue(topology.link(from, to).bandwidth() > 0);
            }
            assertTrue(machine.properties(from).gemmTypes().contains(ElementType.BF16));
        }
    }

    @Test
    void aMeshHasOneHopOf48GigabytesPerSecondBetweenAnyTwo() {
        Topology mesh = MachineCatalog.open("mesh-8").topology();
        assertEquals(48, mesh.link(2, 7).bandwidth(), 1e-9);
        assertEquals(1, mesh.link(2, 7).hops());
        assertEquals(LinkKind.FABRIC, mesh.link(2, 7).kind());
        assertEquals(LinkKind.SELF, mesh.link(3, 3).kind());
    }

    @Test
    void aSwitchIsOneHopAndASwitchedFabric() {
        Topology topology = MachineCatalog.open("switch-8").topology();
        assertEquals(378, topology.link(0, 5).bandwidth(), 1e-9);
        assertEquals(1, topology.link(0, 5).hops());
        assertEquals(800, topology.link(0, 5).latencyNanos(), 1e-9);
        assertEquals(LinkKind.SWITCHED_FABRIC, topology.link(0, 5).kind());
    }

    @Test
    void theFarSideOfARingIsTwoHopsAwayAndLosesWhatForwardingCosts() {
        Topology ring = MachineCatalog.open("ring-4").topology();
        assertEquals(1, ring.link(0, 3).hops());
        assertEquals(2, ring.link(0, 2).hops());
        assertEquals(0.91 * ring.link(0, 1).bandwidth(), ring.link(0, 2).bandwidth(), 1e-9);
        assertEquals(1400, ring.link(0, 2).latencyNanos(), 1e-9);
    }

    @Test
    void betweenServersThePathLeadsOverTheNetworkAndKernelsCannotAddressIt() {
        Topology two = MachineCatalog.open("node-2x8").topology();
        assertEquals(LinkKind.FABRIC, two.link(8, 15).kind());
        assertEquals(LinkKind.NETWORK, two.link(0, 15).kind());
        assertEquals(46, two.link(0, 15).bandwidth(), 1e-9);
        assertTrue(two.link(0, 15).copyable());
        assertFalse(two.link(0, 15).addressable());
    }

    @Test
    void anUnknownMachineIsRefusedWithTheNearestAndAllKnownNames() {
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> MachineCatalog.open("mesh-9"));
        assertEquals(ErrorCode.NOT_FOUND, refused.code());
        assertTrue(refused.getMessage().contains("did you mean 'mesh-8'?"), refused.getMessage());
        assertTrue(refused.getMessage().contains("file=PATH"), refused.getMessage());
    }

    @Test
    void anyDocumentOpensByItsPath(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("mine.yaml");
        Files.writeString(file, MachineCatalog.text("ring-4").replace("machine: ring-4", "machine: mine"));
        assertEquals("mine", MachineCatalog.open("file=" + file).name());
    }
}

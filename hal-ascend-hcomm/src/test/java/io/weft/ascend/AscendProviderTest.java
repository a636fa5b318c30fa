// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.ProviderVerdict;
import io.weft.api.topology.LinkKind;
import io.weft.sim.machine.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AscendProviderTest {
    @TempDir
    Path folder;

    private static final Accelerators FOUND = Accelerators.discover();

    @Test
    void discoveryFindsTheProviderAndNeedsNoHardwareForIt() {
        ProviderVerdict verdict = FOUND.verdicts().stream()
                .filter(candidate -> candidate.id().equals("ascend"))
                .findFirst()
                .orElseThrow();
        assertEquals(ProviderVerdict.State.LOADED, verdict.state(), verdict.detail());
    }

    @ParameterizedTest
    @ValueSource(strings = {"no-such-machine", "a2-cluster=0", "a2-cluster=x", "a2-cluster=513"})
    void anUnknownMachineIsRefusedByName(String name) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> FOUND.open("ascend:" + name));
        assertEquals(ErrorCode.NOT_FOUND, refusal.code());
    }

    @ParameterizedTest
    @CsvSource({
        "910a-8,          8,   FABRIC,     PCIE,            3, 7",
        "atlas-800t-a2,   8,   FABRIC,     FABRIC,          1, 7",
        "a3-16,          16,   IN_PACKAGE, SWITCHED_FABRIC, 1, 2",
        "a2-cluster=3,   24,   FABRIC,     NETWORK,         7, 8",
    })
    void aShippedMachineOpensAndIsJoinedAsItsFamilyIs(
            String name, int devices, LinkKind near, LinkKind far, int nearTo, int farTo) {
        try (Platform platform = FOUND.open("ascend:" + name + "?mode=timing")) {
            assertEquals(devices, platform.devices().size());
            assertEquals(near, platform.topology().link(0, nearTo).kind());
            assertEquals(far, platform.topology().link(0, farTo).kind());
        }
    }

    @Test
    void linksOfASuperPodAddLessThanAMicrosecondBetweenServers() {
        Machine machine = AscendMachines.find("cloudmatrix-384").orElseThrow();
        assertEquals(768, machine.deviceCount());
        assertEquals(LinkKind.IN_PACKAGE, machine.route(0, 1).kind());
        assertEquals(LinkKind.SWITCHED_FABRIC, machine.route(0, 767).kind());
        double inside = machine.route(0, 2).latencyNanos();
        double between = machine.route(0, 767).latencyNanos();
        assertTrue(between > inside && between - inside < 1000, inside + " and " + between);
        assertEquals(machine.route(0, 2).bandwidth(), machine.route(0, 767).bandwidth());
    }

    @ParameterizedTest
    @CsvSource({"rank-table.json, 8, NETWORK", "rank-table-a3.json, 8, SWITCHED_FABRIC", "rank-table-910a.json, 8, PCIE"
    })
    void aRankTableOpensAsAMachineWithDevicesByRank(String name, int devices, LinkKind far) {
        try (Platform platform = FOUND.open("ascend:rank-table=" + Examples.ours("two-servers/" + name))) {
            assertEquals(devices, platform.devices().size());
            assertEquals(far, platform.topology().link(0, 7).kind());
        }
    }

    @Test
    void aFamilyWithoutFiguresIsRefusedAndSaysWhatIsAccepted() {
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class,
                () -> FOUND.open("ascend:rank-table=" + Examples.ours("two-servers/rank-table-950.json")));
        assertTrue(refusal.detail().contains("accepted are tables of the 910A, A2 and A3"), refusal.detail());
    }

    @Test
    void anIllegalTableIsRefusedWithItsFirstFault() throws IOException {
        Path table = Files.writeString(
                folder.resolve("t.json"),
                "{\"server_list\":[{\"server_id\":\"a\",\"device\":[{\"device_id\":0,\"rank_id\":0},{\"device_id\":0,\"rank_id\":1}]}]}");
        AcceleratorException refusal =
                assertThrows(AcceleratorException.class, () -> FOUND.open("ascend:rank-table=" + table));
        assertTrue(refusal.detail().contains("device_id 0 stands twice"), refusal.detail());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Capability;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.sim.machine.MachineCatalog;
import io.weft.spi.Target;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SimOptionsTest {
    @Test
    void anUnknownTargetNamesTheKnownOnes() {
        Sim.refused(
                ErrorCode.NOT_FOUND,
                () -> Sim.open("sim:mesh-9"),
                "mesh-9",
                "mesh-8",
                "ring-4",
                "switch-8",
                "node-2x8",
                "file=PATH");
    }

    @Test
    void anUnknownOptionNamesTheKnownOnes() {
        Sim.refused(
                ErrorCode.INVALID_ARGUMENT,
                () -> Sim.open("sim:mesh-8?speed=9"),
                "speed",
                "mode=functional|timing",
                "devices=N",
                "queue-depth=N");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mode=fast",
                "devices=0",
                "devices=9",
                "devices=x",
                "queue-depth=0",
                "queue-depth=-1",
                "host-memory=0",
                "stall-timeout-ms=-1"
            })
    void aBadValueIsRefusedWithWhatIsAccepted(String option) {
        Sim.refused(
                ErrorCode.INVALID_ARGUMENT,
                () -> Sim.open("sim:mesh-8?" + option),
                option.substring(0, option.indexOf('=')));
    }

    @Test
    void everyTargetListedCanBeOpened() {
        for (Target target : new SimProvider().targets()) {
            if (!target.name().startsWith("file=")) {
                try (Platform platform = Sim.open("sim:" + target.name())) {
                    assertEquals(target.name(), platform.properties().machine());
                }
            }
        }
        assertEquals(
                MachineCatalog.names(),
                new SimProvider()
                        .targets().stream()
                                .map(Target::name)
                                .filter(name -> !name.startsWith("file="))
                                .toList());
    }

    @Test
    void aMachineOfOnesOwnIsOpenedByItsFile(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("mine.yaml");
        Files.writeString(file, MachineCatalog.text("ring-4").replace("ring-4", "mine"));
        try (Platform platform = Sim.open("sim:file=" + file + "?mode=timing")) {
            assertEquals("mine", platform.properties().machine());
            assertEquals(4, platform.devices().size());
        }
        Sim.refused(
                ErrorCode.BAD_DOCUMENT, () -> Sim.open("sim:file=" + folder.resolve("missing.yaml")), "missing.yaml");
    }

    @Test
    void fewerDevicesThanTheMachineHasMayBeUsed() {
        try (Platform platform = Sim.open("sim:mesh-8?devices=3")) {
            assertEquals(3, platform.devices().size());
            assertEquals(3, platform.topology().devices());
        }
    }

    @Test
    void storageIsDeclaredInTheFunctionalModeOnly() {
        try (Platform functional = Sim.open("sim:mesh-8");
                Platform timing = Sim.open("sim:mesh-8?mode=timing")) {
            assertTrue(functional.has(Capability.STORAGE));
            assertFalse(timing.has(Capability.STORAGE));
            Sim.refused(
                    ErrorCode.UNSUPPORTED,
                    () -> timing.device(0).allocate(64).write(0, MemorySegment.ofArray(new byte[4])));
        }
    }
}

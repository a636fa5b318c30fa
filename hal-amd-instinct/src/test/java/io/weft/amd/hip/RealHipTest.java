// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import io.weft.amd.AmdProvider;
import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Against AMD's real runtime, as Debian packages it, on a machine without a device: it loads, its functions are found, and its absence has a reason. Skipped, saying so, where it is not installed ({@code apt-get install libamdhip64-5}) or where there is a device.
 */
class RealHipTest {
    private static final List<Path> PLACES = List.of(
            Path.of("/usr/lib/x86_64-linux-gnu"),
            Path.of("/usr/lib/aarch64-linux-gnu"),
            Path.of("/usr/lib64"),
            Path.of("/opt/rocm/lib"),
            Path.of("target/real-hip"));

    private static Path folder() {
        if (Files.exists(Path.of("/dev/kfd"))) {
            return abort("there is an AMD device here, and this test is about its absence");
        }
        return PLACES.stream()
                .filter(folder -> HipRuntime.NAMES.stream().anyMatch(name -> Files.exists(folder.resolve(name))))
                .findFirst()
                .orElseGet(() -> abort("AMD's runtime is not installed here: apt-get install libamdhip64-5"));
    }

    @Test
    void theRealRuntimeLoadsAndSaysThatThereIsNoDevice() {
        String uri = "amd:native?libraries=" + folder().toAbsolutePath();
        for (int attempt = 0; attempt < 2; attempt++) {
            AcceleratorException absent =
                    assertThrows(AcceleratorException.class, () -> new AmdProvider().open(PlatformUri.parse(uri)));
            assertEquals(ErrorCode.UNAVAILABLE, absent.code(), absent.getMessage());
            assertTrue(absent.getMessage().contains("no device: HIP "), absent.getMessage());
            assertEquals("hipErrorNoDevice", absent.vendorError().orElseThrow().text());
        }
    }

    @Test
    void everyFunctionThatAPlatformNeedsIsInTheRealRuntime() {
        HipRuntime runtime =
                HipLibraries.open(List.of(folder().toAbsolutePath())).runtime();
        assertEquals(List.of(), runtime.missingEssentials());
        assertTrue(runtime.major() >= 5, () -> "version " + runtime.version());
        assertTrue(runtime.graphs().isPresent());
        assertTrue(runtime.pools().isPresent());
        assertTrue(runtime.pages().isPresent());
        assertTrue(runtime.hasTiming());
        assertTrue(runtime.hasModules());
        // Named in its own words although there is no device.
        assertEquals(
                "hipErrorOutOfMemory", runtime.errorName(2).replace("hipErrorMemoryAllocation", "hipErrorOutOfMemory"));
        assertTrue(runtime.deviceCount().isEmpty());
        assertTrue(HipFailure.saysNoDevice(runtime.start()), "hipInit answers 100 or 101");
        assertEquals(
                List.of("hipGetDevicePropertiesR0600").stream()
                        .filter(name -> runtime.major() < 6)
                        .toList(),
                runtime.library().missing().stream()
                        .filter("hipGetDevicePropertiesR0600"::equals)
                        .toList());
        assertNotNull(runtime.library().name());
    }
}

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
import io.weft.nativehal.kernels.KernelModule;
import io.weft.nativehal.kernels.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Against AMD's real runtime, as Debian packages it, on a machine without a device: it loads, its functions are found, and its absence has a reason. Skipped, saying so, where it is neither installed ({@code apt-get install libamdhip64-5}) nor unpacked in {@code target/real-hip}, or where there is a device.
 */
class RealHipTest {
    private static final List<Path> PLACES = List.of(
            Path.of("/usr/lib/x86_64-linux-gnu"),
            Path.of("/usr/lib/aarch64-linux-gnu"),
            Path.of("/usr/lib64"),
            Path.of("/opt/rocm/lib"),
            Path.of("target/real-hip"));

    /** In the order in which they need one another: packages that were only unpacked lie where the loader does not look. */
    private static final List<String> NEEDED = List.of("libhsakmt.so.1", "libhsa-runtime64.so.1", "libamd_comgr.so.2");

    @SuppressWarnings("restricted")
    private static Path folder() {
        if (Files.exists(Path.of("/dev/kfd"))) {
            return abort("there is an AMD device here, and this test is about its absence");
        }
        Path folder = PLACES.stream()
                .filter(place -> HipRuntime.NAMES.stream().anyMatch(name -> Files.exists(place.resolve(name))))
                .findFirst()
                .orElseGet(() -> abort("AMD's runtime is not installed here: apt-get install libamdhip64-5"))
                .toAbsolutePath();
        if (folder.endsWith("real-hip")) {
            NEEDED.stream()
                    .map(folder::resolve)
                    .filter(Files::exists)
                    .forEach(file -> SymbolLookup.libraryLookup(file, Arena.global()));
        }
        return folder;
    }

    @Test
    void theRealRuntimeLoadsAndSaysThatThereIsNoDevice() {
        String uri = "amd:native?libraries=" + folder();
        for (int attempt = 0; attempt < 2; attempt++) {
            AcceleratorException absent =
                    assertThrows(AcceleratorException.class, () -> new AmdProvider().open(PlatformUri.parse(uri)));
            assertEquals(ErrorCode.UNAVAILABLE, absent.code(), absent.getMessage());
            assertTrue(absent.getMessage().contains("no device: HIP "), absent.getMessage());
            assertEquals("hipErrorNoDevice", absent.vendorError().orElseThrow().text());
        }
    }

    /** The compiler needs no device. A chip that its version does not know ends the process, so one that every version knows is taken. */
    @Test
    void theRealCompilerTakesTheKernels() {
        Hiprtc compiler = HipLibraries.open(List.of(folder())).compiler().orElseThrow();
        byte[] code = compiler.compile(KernelSource.text(), KernelSource.NAME, "gfx90a");
        assertEquals("ELF", new String(code, 1, 3, StandardCharsets.US_ASCII));
        String symbols = new String(code, StandardCharsets.ISO_8859_1);
        for (KernelModule.Entry entry : KernelModule.Entry.values()) {
            assertTrue(symbols.contains(entry.symbol() + ".kd"), () -> entry.symbol() + " is not in the code");
        }
    }

    @Test
    void everyFunctionThatAPlatformNeedsIsInTheRealRuntime() {
        HipRuntime runtime = HipLibraries.open(List.of(folder())).runtime();
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

// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.AmdProvider;
import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.spi.Probe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is missing is named, and hurts nothing else. */
class HipAbsenceTest {
    @TempDir
    Path folder;

    private static AcceleratorException refused(String uri) {
        PlatformUri parsed = PlatformUri.parse(uri);
        return assertThrows(AcceleratorException.class, () -> new AmdProvider().open(parsed));
    }

    @Test
    void aLookAtTheMachineNeverFails() {
        assertInstanceOf(Probe.Available.class, new AmdProvider().probe());
    }

    @ParameterizedTest
    @CsvSource({"523, 5, 5.2.21153", "571, 5, 5.7.31921", "643, 6, 6.4.43484"})
    void withoutADeviceEveryGenerationIsAbsentAfterOneQuestion(int generation, int major, String version) {
        HipStandIn standIn = HipStandIn.of(major, "absent-" + generation);
        standIn.set("absence", generation);
        long asked = standIn.get("probes");
        AcceleratorException absent = refused(standIn.uri());
        assertEquals(ErrorCode.UNAVAILABLE, absent.code());
        assertTrue(absent.getMessage().contains("no device: HIP " + version), absent.getMessage());
        assertTrue(absent.nextStep().contains("/dev/kfd"), absent.nextStep());
        assertEquals("hipErrorNoDevice", absent.vendorError().orElseThrow().text());
        assertEquals(asked + 1, standIn.get("probes"), "one question for each try");
        assertEquals(0, standIn.get("lt-opened"), "the call that ends a process without a device was made");
        // A device that appears later is found: nothing of the failure is kept.
        standIn.set("absence", 0);
        try (Platform platform = standIn.open()) {
            assertEquals(2, platform.devices().size());
        }
    }

    @ParameterizedTest
    @CsvSource({"523", "571", "643"})
    void aRuntimeThatListsDevicesAndDoesNotStartIsAbsentToo(int generation) {
        HipStandIn standIn = HipStandIn.alone("lies-" + generation);
        standIn.set("absence", generation);
        standIn.set("count-lies", 2);
        AcceleratorException absent = refused(standIn.uri());
        assertEquals(ErrorCode.UNAVAILABLE, absent.code());
        assertEquals(0, standIn.get("lt-opened"));
    }

    @Test
    void aFileThatIsNoLibraryIsNamed() throws IOException {
        for (String name : HipRuntime.NAMES) {
            Files.writeString(folder.resolve(name), "not a library");
        }
        List<String> refusals = new java.util.ArrayList<>();
        assertTrue(io.weft.nativehal.ffi.NativeLibrary.open(
                        List.of("libamdhip64.so.5"), List.of(folder), List.of(), refusals)
                .stream()
                .allMatch(found -> !found.name().startsWith(folder.toString())));
        assertTrue(refusals.getFirst().contains(folder.toString()), refusals.toString());
    }

    @Test
    void aRuntimeThatLacksWhatEverythingNeedsIsRefused() {
        AcceleratorException refused =
                refused(HipStandIn.without("no-malloc", "hipMalloc").uri());
        assertEquals(ErrorCode.UNAVAILABLE, refused.code());
        assertTrue(refused.getMessage().contains("lacks hipMalloc"), refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"hipGraphLaunch, DEVICE_GRAPHS", "nccl*, COLLECTIVES", "hipMemMap, VIRTUAL_MEMORY"})
    void aMissingFunctionIsAMissingCapability(String function, Capability missing) {
        try (Platform platform = HipStandIn.without("no-" + missing, function).open()) {
            assertFalse(platform.has(missing));
            assertTrue(platform.has(Capability.STORAGE));
        }
    }

    @Test
    void withoutTheProductLibraryOurOwnKernelMultiplies() {
        HipStandIn standIn = HipStandIn.without("no-products", "hipblasLt*");
        try (Platform platform = standIn.open();
                Buffer a = platform.device(0).allocate(256);
                Buffer c = platform.device(0).allocate(256);
                Stream stream = platform.device(0).createStream()) {
            a.write(ElementType.FP32, 1, 2, 3, 4);
            stream.gemm(
                    c.matrix(2, 2, ElementType.FP32),
                    a.matrix(2, 2, ElementType.FP32),
                    a.matrix(2, 2, ElementType.FP32));
            stream.synchronize();
            assertEquals(22, c.read(ElementType.FP32, 4)[3]);
            assertEquals(1, standIn.get("reference-gemms"));
        }
    }

    @Test
    void withoutTheRunTimeCompilerReductionsAreRefusedAndCopiesWork() {
        try (Platform platform = HipStandIn.without("no-compiler", "hiprtc*").open();
                Buffer one = platform.device(0).allocate(256);
                Buffer two = platform.device(1).allocate(256);
                Stream stream = platform.device(0).createStream()) {
            one.write(ElementType.FP32, 1, 2, 3);
            stream.copy(two.vector(3, ElementType.FP32), one.vector(3, ElementType.FP32));
            stream.synchronize();
            assertEquals(3, two.read(ElementType.FP32, 3)[2]);
            AcceleratorException refused = assertThrows(
                    AcceleratorException.class,
                    () -> stream.reduce(
                            one.vector(3, ElementType.FP32), List.of(one.vector(3, ElementType.FP32)), ReduceOp.SUM));
            assertEquals(ErrorCode.UNSUPPORTED, refused.code());
            assertTrue(refused.getMessage().contains("run-time compiler"), refused.getMessage());
        }
    }

    @Test
    void anOldRuntimeABrokenCompilerAndADeviceThatIsNotThereAreNamed() {
        HipStandIn standIn = HipStandIn.alone("alone");
        standIn.set("fail-compile", 1);
        AcceleratorException broken = refused(standIn.uri());
        assertEquals(ErrorCode.VENDOR, broken.code());
        assertTrue(broken.getMessage().contains("compile kernels for gfx942"), broken.getMessage());
        assertEquals(
                "HIPRTC_ERROR_COMPILATION", broken.vendorError().orElseThrow().text());
        AcceleratorException far = refused(standIn.uri("devices=7"));
        assertEquals(ErrorCode.NOT_FOUND, far.code());
        assertTrue(far.getMessage().contains("devices 0..1 are visible"), far.getMessage());
        HipStandIn old = HipStandIn.alone("old");
        old.set("old-version", 1);
        assertTrue(refused(old.uri()).getMessage().contains("is version 4.3.21504; HIP 5.2 or newer is needed"));
    }
}

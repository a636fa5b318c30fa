// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.Stream;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is missing is named, and hurts nothing else. */
class AbsenceTest {
    @TempDir
    Path folder;

    private static AcceleratorException refused(String uri) {
        PlatformUri parsed = PlatformUri.parse(uri);
        return assertThrows(AcceleratorException.class, () -> new CudaProvider().open(parsed));
    }

    @Test
    void aLookAtTheMachineNeverFails() {
        assertInstanceOf(Probe.Available.class, new CudaProvider().probe());
    }

    @Test
    void modelsNeedNoHardware() {
        try (PlatformDriver driver = new CudaProvider().open(PlatformUri.parse("cuda:h200-2"))) {
            assertEquals(2, driver.devices().size());
            assertTrue(driver.capabilities().contains(Capability.PERFORMANCE_MODEL));
        }
    }

    @Test
    void anUnknownTargetNamesTheKnownOnes() {
        AcceleratorException refused = refused("cuda:h300");
        assertEquals(ErrorCode.NOT_FOUND, refused.code());
        assertTrue(refused.getMessage().contains("native, h200-2"), refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "colour=red, there is no option 'colour'",
        "devices=x, a whole number",
        "devices=0%2C0, a whole number",
        "memory=fast, plain or pool",
        "workspace-mib=-1, a whole number from 0 to 4096"
    })
    void aBadOptionSaysWhatIsAccepted(String option, String words) {
        AcceleratorException refused = refused("cuda:native?" + option);
        assertEquals(ErrorCode.INVALID_ARGUMENT, refused.code());
        assertTrue(refused.getMessage().contains(words), refused.getMessage());
    }

    @Test
    void aFileThatIsNoLibraryIsNamed() throws IOException {
        Files.writeString(folder.resolve("libcudart.so.13"), "not a library");
        Files.writeString(folder.resolve("libcuda.so.1"), "not a library");
        AcceleratorException refused = refused("cuda:native?libraries=" + folder);
        assertEquals(ErrorCode.UNAVAILABLE, refused.code());
        // Where the machine has a runtime of its own, the driver is what is broken.
        assertTrue(refused.getMessage().contains("cannot be loaded"), refused.getMessage());
        assertTrue(refused.getMessage().contains(folder.toString()), refused.getMessage());
    }

    @Test
    void aRuntimeThatLacksWhatEverythingNeedsIsRefused() {
        AcceleratorException refused =
                refused(StandIn.without("malloc", "cudaMalloc").uri());
        assertEquals(ErrorCode.UNAVAILABLE, refused.code());
        assertTrue(refused.getMessage().contains("lacks cudaMalloc"), refused.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "graphs, cudaGraph*, DEVICE_GRAPHS",
        "capture, cudaStreamBeginCapture, DEVICE_GRAPHS",
        "nccl, nccl*, COLLECTIVES",
        "broadcast, ncclBroadcast, COLLECTIVES",
        "pages, cuMemMap, VIRTUAL_MEMORY",
        "elapsed, cudaEventElapsedTime, EVENT_TIMING",
        "peers, cudaDeviceEnablePeerAccess, PEER_ACCESS",
        "priorities, cudaDeviceGetStreamPriorityRange, STREAM_PRIORITIES"
    })
    void aMissingFunctionIsAMissingCapability(String name, String hidden, Capability missing) {
        try (Platform platform = StandIn.without(name, hidden).open()) {
            assertFalse(platform.has(missing));
            AcceleratorException refused =
                    assertThrows(AcceleratorException.class, () -> platform.require(missing, "test"));
            assertEquals(ErrorCode.UNSUPPORTED, refused.code());
            assertTrue(platform.has(Capability.STORAGE));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "cudaMemcpy2DAsync, strided copy",
        "cudaHostAlloc, pinned host memory",
        "cuMemsetD8Async, lacks cuMemsetD8Async"
    })
    void aFunctionThatIsMissedWhenItIsNeededIsNamed(String function, String words) {
        StandIn standIn = StandIn.without(function, function);
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> {
            try (Platform platform = standIn.open();
                    Buffer buffer = platform.device(0).allocate(4096);
                    Buffer pinned = platform.device(0).allocate(MemoryKind.HOST_PINNED, 64);
                    Stream stream = platform.device(0).createStream()) {
                stream.fill(pinned.vector(64, ElementType.INT8), 1);
                stream.copy(
                        BufferView.pitched(buffer, 0, 2, 3, 8, ElementType.FP32),
                        BufferView.pitched(buffer, 2048, 2, 3, 4, ElementType.FP32));
                stream.synchronize();
            }
        });
        assertTrue(refused.getMessage().contains(function), refused.getMessage());
        assertTrue(refused.getMessage().contains(words), refused.getMessage());
        assertNotNull(refused.nextStep());
    }

    @Test
    void withoutTheProductLibraryOurOwnKernelMultiplies() {
        StandIn standIn = StandIn.without("cublas", "cublas*");
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
    void withoutTheManagementLibraryTheRuntimeTellsWhoReachesWhom() {
        try (Platform platform = StandIn.without("nvml", "nvml*").open()) {
            assertTrue(platform.topology().link(0, 1).addressable());
            assertEquals("PCIe", platform.topology().link(0, 1).name());
        }
    }

    @Test
    void noDeviceAnOldRuntimeAndADriverThatDoesNotStartAreUnavailable() {
        // A variant of its own, as these faults are of the whole library.
        StandIn standIn = StandIn.without("alone");
        standIn.set("devices", 0);
        AcceleratorException none = refused(standIn.uri());
        assertEquals(ErrorCode.UNAVAILABLE, none.code());
        assertTrue(none.getMessage().contains("cudaErrorNoDevice"), none.getMessage());
        standIn.set("devices", 2);
        standIn.set("old-version", 1);
        assertTrue(refused(standIn.uri()).getMessage().contains("is version 11.8; CUDA 12 or newer is needed"));
        standIn.set("old-version", 0);
        standIn.set("driver-fails", 1);
        assertTrue(refused(standIn.uri()).getMessage().contains("CUDA_ERROR_NO_DEVICE"));
        standIn.set("driver-fails", 0);
        AcceleratorException far = refused(standIn.uri("devices=7"));
        assertEquals(ErrorCode.NOT_FOUND, far.code());
        assertTrue(far.getMessage().contains("devices 0..1 are visible"), far.getMessage());
    }
}

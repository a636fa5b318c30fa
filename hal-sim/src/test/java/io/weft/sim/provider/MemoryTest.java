// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.Stream;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineReader;
import io.weft.spi.DeviceMemory;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.VirtualMemoryDriver;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MemoryTest {
    @Test
    void aFreshAllocationIsPoisonedAndNeverReadsAsZero() {
        try (Platform platform = Sim.mesh();
                Buffer buffer = platform.device(0).allocate(64)) {
            assertArrayEquals(Sim.filled(64, 0xFF), Sim.read(buffer, 64));
            for (float value : buffer.read(ElementType.FP32, 16)) {
                assertTrue(Float.isNaN(value));
            }
        }
    }

    @Test
    void whatIsWrittenIsReadBack() {
        try (Platform platform = Sim.mesh();
                Buffer buffer = platform.device(3).allocate(1000)) {
            byte[] data = Sim.random(ElementType.INT8, 1000, 1);
            Sim.write(buffer, data);
            assertArrayEquals(data, Sim.read(buffer, 1000));
        }
    }

    @Test
    void addressesAreAlignedAndUniqueOnThePlatformAndNotSoonUsedAgain() {
        try (Platform platform = Sim.mesh()) {
            Set<Long> seen = new HashSet<>();
            for (int round = 0; round < 50; round++) {
                for (Device device : platform.devices()) {
                    try (Buffer buffer = device.allocate(1 + round)) {
                        assertEquals(0, buffer.address() % device.properties().allocationAlignment());
                        assertTrue(seen.add(buffer.address()), "an address was used twice");
                    }
                }
            }
        }
    }

    @Test
    void anExhaustedDeviceSaysThatItIsTheDevice() {
        try (Platform platform = Sim.open("sim:mesh-8?mode=timing")) {
            Device device = platform.device(0);
            long half = device.properties().memoryBytes() / 2 + 4096;
            try (Buffer first = device.allocate(half)) {
                assertEquals(half, first.bytes());
                Sim.refused(ErrorCode.OUT_OF_MEMORY, () -> device.allocate(half), "device 0", "free");
            }
            device.allocate(half).close();
        }
    }

    @Test
    void anExhaustedHostSaysThatItIsTheHost() {
        try (Platform platform = Sim.open("sim:mesh-8?host-memory=1000000")) {
            Device device = platform.device(1);
            long before = device.memoryInfo().freeBytes();
            try (Buffer buffer = device.allocate(600_000)) {
                assertEquals(600_000, buffer.bytes());
                Sim.refused(ErrorCode.OUT_OF_MEMORY, () -> device.allocate(600_000), "host's memory", "mode=timing");
            }
            assertEquals(before, device.memoryInfo().freeBytes());
            device.allocate(600_000).close();
        }
    }

    @Test
    void aDeviceOfAnySizeTakesHostMemoryOnlyForWhatIsAllocated() {
        try (Platform platform = Sim.mesh()) {
            long total = platform.device(0).memoryInfo().totalBytes();
            assertEquals(total, platform.device(0).memoryInfo().freeBytes());
            try (Buffer buffer = platform.device(0).allocate(1)) {
                assertTrue(platform.device(0).memoryInfo().freeBytes() < total);
                assertEquals(1, buffer.bytes());
            }
            assertEquals(total, platform.device(0).memoryInfo().freeBytes());
        }
    }

    @Test
    void pinnedHostMemoryIsTheHostsOwnAndTakesNothingFromTheDevice() {
        try (Platform platform = Sim.mesh();
                Buffer pinned = platform.device(0).allocate(MemoryKind.HOST_PINNED, 256);
                Buffer onDevice = platform.device(0).allocate(256);
                Stream stream = platform.device(0).createStream()) {
            pinned.segment().set(ValueLayout.JAVA_INT_UNALIGNED, 0, 42);
            stream.copy(onDevice.vector(64, ElementType.INT32), pinned.vector(64, ElementType.INT32));
            stream.synchronize();
            assertEquals(42, (int) onDevice.read(ElementType.INT32, 1)[0]);
            Sim.refused(ErrorCode.UNSUPPORTED, onDevice::segment);
        }
    }

    @Test
    void pinnedHostMemoryLiesOnTheNodeThatWasAskedForAndOtherwiseNearItsDevice() throws IOException {
        String text;
        try (InputStream document = Machine.class.getResourceAsStream("/io/weft/sim/machines/mesh-8.yaml")) {
            text = new String(document.readAllBytes(), StandardCharsets.UTF_8);
        }
        PlatformUri uri = PlatformUri.parse("sim:mesh-8");
        Machine machine = MachineReader.read("mesh-8", text.replace("numa_node: -1", "numa_node: 1"));
        try (Platform platform = new Platform(uri, MachinePlatform.open(uri, machine))) {
            Device device = platform.device(0);
            try (Buffer asked = device.allocateHost(100, 1);
                    Buffer near = device.allocateHost(100, -1);
                    Buffer plain = device.allocate(MemoryKind.HOST_PINNED, 100);
                    Buffer onDevice = device.allocate(100)) {
                assertEquals(1, asked.numaNode());
                assertEquals(1, near.numaNode());
                assertEquals(1, plain.numaNode());
                assertEquals(-1, onDevice.numaNode());
                assertEquals(100, asked.segment().byteSize());
            }
            Sim.refused(ErrorCode.INVALID_ARGUMENT, () -> device.allocateHost(100, 3), "no NUMA node 3", "[1]");
        }
    }

    @Test
    void aMachineThatSaysNothingOfNodesTakesAnyAndSaysSo() {
        try (Platform platform = Sim.open("sim:ring-4");
                Buffer buffer = platform.device(0).allocateHost(100, 1)) {
            assertEquals(-1, buffer.numaNode());
        }
    }

    @Test
    void closingAPlatformReleasesEverythingAndRefusesLaterUse() {
        Platform platform = Sim.mesh();
        Buffer buffer = platform.device(0).allocate(MemoryKind.HOST_PINNED, 4096);
        MemorySegment segment = buffer.segment();
        Stream stream = platform.device(0).createStream();
        platform.close();
        platform.close();
        Sim.refused(ErrorCode.CLOSED, () -> Sim.read(buffer, 1));
        Sim.refused(ErrorCode.CLOSED, stream::synchronize);
        Sim.refused(ErrorCode.CLOSED, () -> platform.device(0).allocate(1));
        assertThrows(IllegalStateException.class, () -> segment.get(ValueLayout.JAVA_BYTE, 0));
        buffer.close();
        stream.close();
    }

    @Test
    void hostMemoryGoesBackToTheProcess() {
        long before = HostMemoryBudget.process().taken();
        try (Platform platform = Sim.mesh()) {
            assertEquals(1 << 20, platform.device(0).allocate(1 << 20).bytes());
            assertEquals(before + (1 << 20), HostMemoryBudget.process().taken());
        }
        assertEquals(before, HostMemoryBudget.process().taken());
    }

    @Test
    void aCommandWhoseMemoryIsGivenBackInFlightFails() {
        try (Platform platform = Sim.mesh();
                Buffer target = platform.device(0).allocate(1 << 20);
                Stream stream = platform.device(0).createStream()) {
            Buffer source = platform.device(1).allocate(1 << 20);
            stream.copy(target.vector(1 << 20, ElementType.INT8), source.vector(1 << 20, ElementType.INT8));
            source.close();
            AcceleratorException failure =
                    Sim.refused(ErrorCode.STREAM_FAILED, stream::synchronize, "given back", "in flight");
            assertEquals(ErrorCode.CLOSED, Sim.root(failure).code());
        }
    }

    @Test
    void peerAccessIsEnabledOnceAndNeverToTheDeviceItself() {
        try (Platform platform = Sim.mesh()) {
            Device a = platform.device(0);
            Device b = platform.device(1);
            assertFalse(a.canAccess(a));
            assertTrue(a.canAccess(b));
            Sim.refused(ErrorCode.PEER_ACCESS, () -> a.enablePeerAccess(a));
            Sim.refused(ErrorCode.INVALID_STATE, () -> a.disablePeerAccess(b), "no access");
            a.enablePeerAccess(b);
            Sim.refused(ErrorCode.INVALID_STATE, () -> a.enablePeerAccess(b), "already");
            Sim.refused(ErrorCode.INVALID_STATE, () -> b.disablePeerAccess(a));
            a.disablePeerAccess(b);
            a.enablePeerAccess(b);
        }
    }

    @Test
    void symmetricMemoryIsEqualOnEveryDeviceOrOnNone() {
        try (Platform platform = Sim.open("sim:mesh-8?host-memory=100000")) {
            SymmetricMemoryDriver symmetric =
                    platform.extension(SymmetricMemoryDriver.class).orElseThrow();
            List<? extends DeviceMemory> windows =
                    symmetric.reserve(platform.driver().devices(), symmetric.windowAlignment());
            assertEquals(8, windows.size());
            for (int i = 0; i < 8; i++) {
                assertEquals(i, windows.get(i).device().properties().ordinal());
                assertEquals(symmetric.windowAlignment(), windows.get(i).bytes());
                assertEquals(0, windows.get(i).address() % symmetric.windowAlignment());
            }
            long before = platform.device(0).memoryInfo().freeBytes();
            Sim.refused(
                    ErrorCode.OUT_OF_MEMORY,
                    () -> symmetric.reserve(platform.driver().devices(), 4 * symmetric.windowAlignment()));
            assertEquals(before, platform.device(0).memoryInfo().freeBytes());
        }
    }

    @Test
    void virtualPagesAreMappedOnceAndUnmappedOnce() {
        try (Platform platform = Sim.mesh()) {
            VirtualMemoryDriver virtual =
                    platform.extension(VirtualMemoryDriver.class).orElseThrow();
            long page = virtual.pageBytes();
            Device device = platform.device(0);
            long before = device.memoryInfo().freeBytes();
            DeviceMemory range = virtual.reserve(device.driver(), 8 * page);
            assertEquals(before, device.memoryInfo().freeBytes());
            virtual.map(range, 2 * page, 2 * page);
            assertEquals(before - 2 * page, device.memoryInfo().freeBytes());
            Sim.refused(ErrorCode.INVALID_STATE, () -> virtual.map(range, page, 2 * page), "mapped already");
            Sim.refused(ErrorCode.INVALID_STATE, () -> virtual.unmap(range, page, 2 * page), "not every page");
            Sim.refused(ErrorCode.MISALIGNED, () -> virtual.map(range, 1, page));
            Sim.refused(ErrorCode.OUT_OF_BOUNDS, () -> virtual.map(range, 7 * page, 2 * page));
            virtual.unmap(range, 3 * page, page);
            device.driver().free(range);
            assertEquals(before, device.memoryInfo().freeBytes());
        }
    }

    @Test
    void virtualMemoryKeepsItsContentWhileMoreIsMappedAroundIt() {
        try (Platform platform = Sim.mesh()) {
            VirtualMemoryDriver virtual =
                    platform.extension(VirtualMemoryDriver.class).orElseThrow();
            long page = virtual.pageBytes();
            Device device = platform.device(0);
            DeviceMemory range = virtual.reserve(device.driver(), 8 * page);
            virtual.map(range, 3 * page, page);
            byte[] data = Sim.random(ElementType.INT8, 5000, 2);
            device.driver().write(range, 3 * page + 100, MemorySegment.ofArray(data));
            virtual.map(range, 4 * page, 2 * page);
            virtual.map(range, page, 2 * page);
            byte[] back = new byte[5000];
            device.driver().read(MemorySegment.ofArray(back), range, 3 * page + 100);
            assertArrayEquals(data, back);
            byte[] fresh = new byte[16];
            device.driver().read(MemorySegment.ofArray(fresh), range, page);
            assertArrayEquals(Sim.filled(16, 0xFF), fresh);
            Sim.refused(
                    ErrorCode.OUT_OF_BOUNDS,
                    () -> device.driver().read(MemorySegment.ofArray(fresh), range, 0),
                    "no page is mapped");
        }
    }

    @Test
    void allocationsOfEverySmallSizeAreApart() {
        try (Platform platform = Sim.mesh()) {
            List<Buffer> buffers = new ArrayList<>();
            for (int size = 1; size <= 16; size++) {
                Buffer buffer = platform.device(0).allocate(size);
                Sim.write(buffer, Sim.filled(size, size));
                buffers.add(buffer);
            }
            for (Buffer buffer : buffers) {
                int size = (int) buffer.bytes();
                assertArrayEquals(Sim.filled(size, size), Sim.read(buffer, size));
                assertNotEquals(0, buffer.address());
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.ascend.AscendProvider;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The native platform from the API to the libraries' functions and back, on the stand-in. */
class AclNativeTest {
    private static AclStandIn standIn;
    private static Platform platform;

    @BeforeAll
    static void open() {
        standIn = AclStandIn.newer();
        platform = open(standIn.uri());
    }

    private static Platform open(PlatformUri uri) {
        return new Platform(uri, new AscendProvider().open(uri));
    }

    @AfterAll
    static void close() {
        if (platform != null) {
            platform.close();
        }
    }

    private static BufferView floats(Buffer buffer, int count) {
        return buffer.vector(count, ElementType.FP32);
    }

    private static float[] numbers(int count, float from) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = from + i;
        }
        return values;
    }

    @Test
    void aMachineWithoutTheLibrariesIsToldWhatIsMissing() {
        PlatformUri uri = PlatformUri.parse("ascend:native?libraries=there-is-nothing");
        AcceleratorException absent = assertThrows(AcceleratorException.class, () -> open(uri));
        assertEquals(ErrorCode.UNAVAILABLE, absent.code());
        assertTrue(absent.getMessage().contains("libascendcl.so"), absent.getMessage());
    }

    @Test
    void aMachineWithoutADeviceIsToldSo() {
        standIn.set("devices", 0);
        try {
            AcceleratorException absent = assertThrows(AcceleratorException.class, () -> open(standIn.uri()));
            assertEquals(ErrorCode.UNAVAILABLE, absent.code());
            assertTrue(absent.getMessage().contains("no device"), absent.getMessage());
        } finally {
            standIn.set("devices", 2);
        }
    }

    @Test
    void devicesAndPowersAreThoseOfTheLibraries() {
        assertEquals(2, platform.devices().size());
        assertEquals("Ascend 910B3", platform.device(0).properties().name());
        assertEquals("1.17.0", platform.properties().versions().get("runtime"));
        assertTrue(platform.has(Capability.COLLECTIVES));
        assertTrue(platform.has(Capability.PEER_COPY));
        assertFalse(platform.has(Capability.EVENT_TIMING), "the vendor compares events of one stream alone");
        assertFalse(platform.has(Capability.DEVICE_GRAPHS));
        AcceleratorException none = assertThrows(AcceleratorException.class, () -> open(standIn.uri("devices=5")));
        assertEquals(ErrorCode.NOT_FOUND, none.code());
    }

    @Test
    void dataGoesToADeviceToAPeerAndBack() {
        try (Buffer here = platform.device(0).allocate(4096);
                Buffer there = platform.device(1).allocate(4096);
                Stream stream = platform.device(0).createStream()) {
            here.write(ElementType.FP32, numbers(1024, 1));
            stream.copy(floats(there, 1024), floats(here, 1024));
            stream.synchronize();
            assertArrayEquals(numbers(1024, 1), there.read(ElementType.FP32, 1024));
            assertEquals(0, here.address() % 512);
        }
    }

    @Test
    void fillsOfAnyWidthAreRight() {
        try (Buffer buffer = platform.device(0).allocate(1 << 16);
                Stream stream = platform.device(0).createStream()) {
            stream.fill(floats(buffer, 5001), Float.floatToRawIntBits(1.5f));
            stream.synchronize();
            for (float value : buffer.read(ElementType.FP32, 5001)) {
                assertEquals(1.5f, value);
            }
            stream.fill(buffer.vector(777, ElementType.FP16), 0x3C00);
            stream.synchronize();
            assertEquals(1f, buffer.read(ElementType.FP16, 777)[776]);
            stream.fill(buffer.vector(64, ElementType.INT8), 7);
            stream.synchronize();
            assertEquals(7f, buffer.read(ElementType.INT8, 64)[63]);
        }
    }

    @Test
    void streamsWaitForEventsAndBlockingOnesForTheDefaultStream() {
        Device device = platform.device(0);
        try (Buffer a = device.allocate(4096);
                Buffer b = device.allocate(4096);
                Buffer c = device.allocate(4096);
                Stream first = device.createStream();
                Stream blocking = device.createStream(StreamOptions.defaults().withBlocking(true));
                Event done = device.createEvent(EventOptions.untimed())) {
            a.write(ElementType.FP32, numbers(1024, 3));
            standIn.set("late-copy-us", 20_000);
            try {
                first.copy(floats(b, 1024), floats(a, 1024));
                first.record(done);
                device.defaultStream().waitFor(done);
                device.defaultStream().copy(floats(c, 1024), floats(b, 1024));
                blocking.copy(floats(a, 1024), floats(c, 1024));
                blocking.synchronize();
            } finally {
                standIn.set("late-copy-us", 0);
            }
            assertArrayEquals(numbers(1024, 3), a.read(ElementType.FP32, 1024));
            assertArrayEquals(numbers(1024, 3), c.read(ElementType.FP32, 1024));
        }
    }

    @Test
    void productsAndSumsAreTheLibrarys() {
        Device device = platform.device(0);
        try (Buffer a = device.allocate(16);
                Buffer b = device.allocate(16);
                Buffer c = device.allocate(16);
                Stream stream = device.createStream()) {
            a.write(ElementType.FP32, 1, 2, 3, 4);
            b.write(ElementType.FP32, 5, 6, 7, 8);
            stream.gemm(
                    c.matrix(2, 2, ElementType.FP32),
                    a.matrix(2, 2, ElementType.FP32),
                    b.matrix(2, 2, ElementType.FP32));
            stream.synchronize();
            assertArrayEquals(new float[] {19, 22, 43, 50}, c.read(ElementType.FP32, 4));
            List<BufferView> inputs = List.of(floats(a, 4), floats(b, 4));
            stream.reduce(floats(c, 4), inputs, ReduceOp.SUM);
            stream.synchronize();
            assertArrayEquals(new float[] {6, 8, 10, 12}, c.read(ElementType.FP32, 4));
        }
    }

    @Test
    void collectivesAndTransfersAreIssuedByEveryRanksOwnThread() {
        try (Communicator pair = Communicator.overAll(platform);
                Buffer zero = platform.device(0).allocate(64);
                Buffer one = platform.device(1).allocate(64);
                Stream left = platform.device(0).createStream();
                Stream right = platform.device(1).createStream()) {
            zero.write(ElementType.FP32, 1, 2, 3, 4);
            one.write(ElementType.FP32, 10, 20, 30, 40);
            try (Communicator.Group group = pair.group()) {
                group.allReduce(0, floats(zero, 4), floats(zero, 4), ReduceOp.SUM, left);
                group.allReduce(1, floats(one, 4), floats(one, 4), ReduceOp.SUM, right);
            }
            left.synchronize();
            right.synchronize();
            assertArrayEquals(new float[] {11, 22, 33, 44}, zero.read(ElementType.FP32, 4));
            assertArrayEquals(new float[] {11, 22, 33, 44}, one.read(ElementType.FP32, 4));
            zero.write(ElementType.FP32, 5, 6, 7, 8);
            try (Communicator.Group group = pair.group()) {
                group.send(0, floats(zero, 4), 1, left);
                group.receive(1, floats(one, 4), 0, right);
            }
            left.synchronize();
            right.synchronize();
            assertArrayEquals(new float[] {5, 6, 7, 8}, one.read(ElementType.FP32, 4));
        }
    }

    @Test
    void aFailureOnTheDeviceSaysTheVendorsCode() {
        AclStandIn apart = AclStandIn.apart("faulty");
        Platform own = open(apart.uri());
        Buffer a = own.device(0).allocate(64);
        Buffer b = own.device(0).allocate(64);
        Stream stream = own.device(0).createStream();
        apart.set("fail-copy", 1);
        AcceleratorException failed = assertThrows(AcceleratorException.class, () -> {
            stream.copy(floats(a, 16), floats(b, 16));
            stream.synchronize();
        });
        assertTrue(failed.getMessage().contains("507015"), failed.getMessage());
        try {
            own.close();
        } catch (AcceleratorException lost) {
            assertTrue(lost.getMessage().contains("507015"), lost.getMessage());
        }
    }
}

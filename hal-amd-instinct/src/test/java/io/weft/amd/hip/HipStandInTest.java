// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.hip;

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
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.topology.LinkKind;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The native path from the API to the libraries' functions and back, on the stand-in. */
class HipStandInTest {
    private static HipStandIn standIn;
    private static Platform platform;

    @BeforeAll
    static void open() {
        standIn = HipStandIn.whole();
        platform = standIn.open();
    }

    @AfterAll
    static void close() {
        if (platform != null) {
            platform.close();
        }
    }

    @Test
    void aWholeInstallationHasEveryCapabilityOfHardware() {
        EnumSet<Capability> wanted = EnumSet.allOf(Capability.class);
        wanted.remove(Capability.PERFORMANCE_MODEL);
        wanted.remove(Capability.FAULT_INJECTION); // that is a model's, for tests
        wanted.remove(Capability.COMMUNICATOR_OPTIONS); // not passed to the library yet
        assertEquals(wanted, platform.capabilities());
        assertEquals("2 x AMD Instinct stand-in", platform.properties().machine());
        assertEquals("6.4.43484", platform.properties().versions().get("runtime"));
        assertEquals("2.21.5", platform.properties().versions().get("RCCL"));
        assertEquals("1.0.0", platform.properties().versions().get("hipBLASLt"));
    }

    @Test
    void withoutTheDriversTreeHipTellsWhatJoinsDevices() {
        assertEquals(LinkKind.FABRIC, platform.topology().link(0, 1).kind());
        assertEquals("xGMI", platform.topology().link(0, 1).name());
        assertEquals("0000:0d:00.0", platform.device(1).properties().busId());
        assertEquals("gfx942", platform.device(0).properties().architecture());
        assertEquals(3, platform.device(0).properties().priorities());
    }

    @ParameterizedTest
    @EnumSource(CopyMethod.class)
    void copiesCrossDevicesAndAnEngineIsAskedForByItsKind(CopyMethod method) {
        long before = standIn.get("engine-copies");
        Device first = platform.device(0);
        try (Buffer from = first.allocate(4096);
                Buffer to = platform.device(1).allocate(4096);
                Stream stream = first.createStream()) {
            from.write(ElementType.FP32, 7, 8, 9);
            stream.copy(to.vector(1024, ElementType.FP32), from.vector(1024, ElementType.FP32), method);
            stream.synchronize();
            assertArrayEquals(new float[] {7, 8, 9}, to.read(ElementType.FP32, 3));
        }
        assertEquals(before + (method == CopyMethod.ENGINE ? 1 : 0), standIn.get("engine-copies"));
    }

    @Test
    void fillsOfRowsWithEqualAndWithDifferentBytesLeaveGapsAlone() {
        try (Buffer to = platform.device(0).allocate(4096);
                Stream stream = platform.device(0).createStream()) {
            stream.fill(to.vector(1024, ElementType.FP32), Float.floatToRawIntBits(-1));
            stream.fill(BufferView.pitched(to, 4, 2, 2, 4, ElementType.FP32), Float.floatToRawIntBits(5));
            stream.fill(BufferView.pitched(to, 64, 2, 2, 4, ElementType.FP32), 0);
            stream.synchronize();
            float[] numbers = to.read(ElementType.FP32, 24);
            assertArrayEquals(new float[] {-1, 5, 5, -1, -1, 5, 5, -1}, java.util.Arrays.copyOf(numbers, 8));
            assertArrayEquals(new float[] {0, 0, -1, -1, 0, 0, -1, -1}, java.util.Arrays.copyOfRange(numbers, 16, 24));
        }
    }

    /** Byte 0x38 is 0.5 in the encoding of gfx942 and 1.0 in that of gfx950; the wrong one is not offered. */
    @ParameterizedTest
    @CsvSource({"942, FP8_E4M3_FNUZ, FP8_E4M3, 0.5", "950, FP8_E4M3, FP8_E4M3_FNUZ, 1"})
    void eightBitFloatsFollowTheChip(int chip, ElementType right, ElementType wrong, float value) {
        HipStandIn chips = HipStandIn.alone("gfx-" + chip);
        chips.set("gfx", chip);
        try (Platform one = chips.open();
                Buffer a = one.device(0).allocate(1024);
                Buffer c = one.device(0).allocate(4096);
                Stream stream = one.device(0).createStream()) {
            assertTrue(one.device(0).properties().gemmTypes().contains(right));
            assertFalse(one.device(0).properties().gemmTypes().contains(wrong));
            stream.fill(a.vector(256, right), 0x38);
            stream.gemm(c.matrix(16, 16, ElementType.FP32), a.matrix(16, 16, right), a.matrix(16, 16, right));
            stream.synchronize();
            assertEquals(16 * value * value, c.read(ElementType.FP32, 1)[0]);
            assertEquals(1, chips.get("gemms"), "the library's own kernel");
            AcceleratorException refused = assertThrows(
                    AcceleratorException.class,
                    () -> stream.gemm(
                            c.matrix(16, 16, ElementType.FP32), a.matrix(16, 16, wrong), a.matrix(16, 16, wrong)));
            assertEquals(ErrorCode.UNSUPPORTED, refused.code());
        }
    }

    @Test
    void chipsWhoseEightBitFloatsDifferMakeNoPlatformTogether() {
        HipStandIn mixed = HipStandIn.alone("mixed");
        mixed.set("gfx-second", 950);
        AcceleratorException refused = assertThrows(AcceleratorException.class, mixed::open);
        assertEquals(ErrorCode.UNSUPPORTED, refused.code());
        assertTrue(refused.getMessage().contains("gfx942 and gfx950"), refused.getMessage());
        try (Platform one = mixed.open("devices=1")) {
            assertTrue(one.device(0).properties().gemmTypes().contains(ElementType.FP8_E4M3));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 6, 7})
    void everyGenerationReducesByCollectives(int major) {
        HipStandIn generation = HipStandIn.of(major, "generation");
        try (Platform one = generation.open();
                Communicator communicator = Communicator.overAll(one);
                Buffer first = one.device(0).allocate(1024);
                Buffer second = one.device(1).allocate(1024);
                Stream left = one.device(0).createStream();
                Stream right = one.device(1).createStream()) {
            first.write(ElementType.FP32, 1, 2);
            second.write(ElementType.FP32, 10, 20);
            BufferView mine = first.vector(2, ElementType.FP32);
            BufferView theirs = second.vector(2, ElementType.FP32);
            try (Communicator.Group group = communicator.group()) {
                group.allReduce(0, mine, mine, ReduceOp.SUM, left).allReduce(1, theirs, theirs, ReduceOp.SUM, right);
            }
            left.synchronize();
            right.synchronize();
            assertArrayEquals(new float[] {11, 22}, second.read(ElementType.FP32, 2));
            assertEquals(0, generation.get("stale-handles"));
        }
    }

    @Test
    void aCopyThatFailsOnTheDeviceFailsItsStreamWithTheVendorsWords() {
        HipStandIn failing = HipStandIn.alone("failing");
        try (Platform one = failing.open();
                Buffer from = one.device(0).allocate(1024);
                Buffer to = one.device(1).allocate(1024);
                Stream stream = one.device(0).createStream()) {
            failing.set("fail-copy", 1);
            stream.copy(to.vector(16, ElementType.FP32), from.vector(16, ElementType.FP32));
            AcceleratorException failed = assertThrows(AcceleratorException.class, stream::synchronize);
            assertEquals(ErrorCode.STREAM_FAILED, failed.code());
            assertEquals(
                    "hipErrorLaunchFailure", failed.vendorError().orElseThrow().text());
            assertEquals(719, failed.vendorError().orElseThrow().code());
        }
    }

    @Test
    void memoryThatIsNotThereIsOutOfMemory() {
        HipStandIn small = HipStandIn.alone("small");
        small.set("memory-mib", 256);
        try (Platform one = small.open()) {
            AcceleratorException refused =
                    assertThrows(AcceleratorException.class, () -> one.device(0).allocate(1L << 30));
            assertEquals(ErrorCode.OUT_OF_MEMORY, refused.code());
            assertEquals(
                    "hipErrorOutOfMemory", refused.vendorError().orElseThrow().text());
        }
    }

    @Test
    void aCollectiveThatTheLibraryRefusesSaysWhichAndWhatNext() {
        HipStandIn failing = HipStandIn.alone("refusing");
        try (Platform one = failing.open();
                Communicator communicator = Communicator.overAll(one);
                Buffer first = one.device(0).allocate(1024);
                Buffer second = one.device(1).allocate(1024);
                Stream left = one.device(0).createStream();
                Stream right = one.device(1).createStream()) {
            failing.set("fail-collective", 1);
            BufferView mine = first.vector(2, ElementType.FP32);
            BufferView theirs = second.vector(2, ElementType.FP32);
            Communicator.Group group = communicator
                    .group()
                    .allReduce(0, mine, mine, ReduceOp.SUM, left)
                    .allReduce(1, theirs, theirs, ReduceOp.SUM, right);
            AcceleratorException refused = assertThrows(AcceleratorException.class, group::close);
            assertEquals(ErrorCode.VENDOR, refused.code());
            assertEquals(2, refused.vendorError().orElseThrow().code());
            assertTrue(refused.nextStep().contains("NCCL_DEBUG=INFO"), refused.nextStep());
            failing.set("async-error", 6);
            assertEquals(
                    ErrorCode.ABORTED, communicator.asyncError().orElseThrow().code());
            failing.set("async-error", 0);
        }
    }

    /** The fault that every ordering rule is about: if waits did nothing, a late copy would be seen. */
    @Test
    void aStreamThatDoesNotWaitIsSeenInTheData() {
        HipStandIn wrong = HipStandIn.alone("wrong_order");
        for (int ignore : new int[] {0, 1}) {
            // One device: the clocks of several are compared by waits when a platform is opened, which would find it.
            try (Platform one = wrong.open("devices=0");
                    Buffer from = one.device(0).allocate(1024);
                    Buffer middle = one.device(0).allocate(1024);
                    Stream writer = one.device(0).createStream();
                    Stream reader = one.device(0).createStream();
                    Event done = one.device(0).createEvent(EventOptions.untimed())) {
                from.write(ElementType.FP32, 5);
                middle.write(ElementType.FP32, 0);
                wrong.set("ignore-waits", ignore);
                // As late as can be: whoever does not wait comes first, however slow the machine is.
                wrong.set("late-copy-us", ignore == 0 ? 30_000 : 0);
                wrong.set("lazy-copies", ignore);
                writer.copy(middle.vector(1, ElementType.FP32), from.vector(1, ElementType.FP32));
                writer.record(done);
                reader.waitFor(done);
                reader.fill(middle.vector(1, ElementType.FP32), Float.floatToRawIntBits(9));
                reader.synchronize();
                writer.synchronize();
                assertEquals(ignore == 0 ? 9 : 5, middle.read(ElementType.FP32, 1)[0]);
                wrong.set("ignore-waits", 0);
                wrong.set("lazy-copies", 0);
            }
        }
    }
}

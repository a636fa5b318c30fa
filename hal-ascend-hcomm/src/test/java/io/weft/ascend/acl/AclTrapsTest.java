// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The traps of the vendor's interface, one each. */
class AclTrapsTest {
    @Test
    void aStreamsWaitCountsInSecondsAndEverythingElseInMilliseconds() {
        Duration limit = Duration.ofMillis(1500);
        assertEquals(1500, AclTimes.millis(limit));
        assertEquals(2, AclTimes.seconds(limit), "rounded up");
    }

    @Test
    void forEverIsMinusOneInMillisecondsAndZeroInSeconds() {
        assertEquals(-1, AclTimes.millis(null));
        assertEquals(0, AclTimes.seconds(null));
        assertEquals(0, AclTimes.millis(Duration.ZERO));
        assertEquals(1, AclTimes.seconds(Duration.ZERO), "no wait must not become an endless one");
        assertEquals(1, AclTimes.seconds(Duration.ofNanos(1)));
        assertEquals(Integer.MAX_VALUE, AclTimes.millis(Duration.ofDays(200_000 / 2)));
    }

    @Test
    void anEventThatIsRecordedSaysOneAndOneThatIsWaitedForSaysZero() {
        assertTrue(AclStatus.eventIsRecorded(1));
        assertFalse(AclStatus.eventIsRecorded(0));
        assertTrue(AclStatus.eventIsWaitedFor(0));
        assertFalse(AclStatus.eventIsWaitedFor(1));
        assertTrue(AclStatus.streamIsComplete(0));
        assertFalse(AclStatus.streamIsComplete(1));
    }

    @ParameterizedTest
    @CsvSource({"FP32,0,4", "FP16,1,3", "BF16,27,11", "INT8,2,0", "INT32,3,2", "FP8_E4M3,36,15", "FP8_E5M2,35,16"})
    void tensorsAndCollectivesNumberTheirTypesDifferently(ElementType type, int tensor, int collective) {
        assertEquals(OptionalInt.of(tensor), AclTypes.tensor(type));
        assertEquals(OptionalInt.of(collective), AclTypes.collective(type));
        assertNotEquals(tensor, collective);
    }

    @Test
    void typesThatTheVendorLacksHaveNoNumberButCanBeMoved() {
        assertEquals(OptionalInt.empty(), AclTypes.tensor(ElementType.FP8_E4M3_FNUZ));
        assertEquals(OptionalInt.empty(), AclTypes.collective(ElementType.FP8_E5M2_FNUZ));
        for (ElementType type : ElementType.values()) {
            assertEquals(
                    switch (type.bytes()) {
                        case 1 -> 7;
                        case 2 -> 8;
                        default -> 9;
                    },
                    AclTypes.moved(type));
        }
    }

    @Test
    void theRuntimeNumbersReductionsFromTenOnAndHasNoProduct() {
        assertEquals(OptionalInt.of(10), AclTypes.runtimeReduction(ReduceOp.Kind.SUM));
        assertEquals(OptionalInt.of(11), AclTypes.runtimeReduction(ReduceOp.Kind.MAX));
        assertEquals(OptionalInt.of(12), AclTypes.runtimeReduction(ReduceOp.Kind.MIN));
        assertEquals(OptionalInt.empty(), AclTypes.runtimeReduction(ReduceOp.Kind.PROD));
        assertEquals(OptionalInt.of(0), AclTypes.collectiveReduction(ReduceOp.Kind.SUM));
        assertEquals(OptionalInt.of(1), AclTypes.collectiveReduction(ReduceOp.Kind.PROD));
        assertEquals(OptionalInt.of(2), AclTypes.collectiveReduction(ReduceOp.Kind.MAX));
        assertEquals(OptionalInt.of(3), AclTypes.collectiveReduction(ReduceOp.Kind.MIN));
        assertEquals(OptionalInt.empty(), AclTypes.collectiveReduction(ReduceOp.Kind.AVG));
    }

    @Test
    void settingsAndQueriesNumberTheExpansionDifferently() {
        for (OpExpansion expansion : OpExpansion.values()) {
            assertTrue(expansion.setting() > 0, "0 is the library's own choice");
        }
        assertEquals(2, OpExpansion.AI_CPU.setting());
        assertEquals(0, OpExpansion.AI_CPU.query());
        assertEquals(
                OpExpansion.values().length,
                Arrays.stream(OpExpansion.values())
                        .map(OpExpansion::query)
                        .distinct()
                        .count());
    }

    // Structures.

    @ParameterizedTest
    @CsvSource({"0,1,32", "1,1,32", "2,1,32", "3,2,160", "4,6,312", "12,6,312"})
    void settingsAreAsLongAsTheLibraryKnowsButNeverBeyondTheStablePrefix(int capability, int version, int bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = CommConfig.in(arena, capability).memory();
            assertEquals(bytes, memory.byteSize());
            assertEquals(bytes, memory.get(ValueLayout.JAVA_LONG, 0));
            assertEquals(0xf0f0f0f0, memory.get(ValueLayout.JAVA_INT, 8));
            assertEquals(version, memory.get(ValueLayout.JAVA_INT, 12));
            assertTrue(bytes <= CommConfig.STABLE_BYTES);
        }
    }

    @Test
    void whatIsNotSetHoldsOnesAndTextIsEmpty() {
        try (Arena arena = Arena.ofConfined()) {
            CommConfig config = CommConfig.in(arena, 12);
            assertTrue(config.bufferMegabytes(300));
            assertTrue(config.name("world"));
            MemorySegment memory = config.memory();
            assertEquals(300, memory.get(ValueLayout.JAVA_INT, 24));
            assertEquals(0xffffffff, memory.get(ValueLayout.JAVA_INT, 28));
            assertEquals("world", memory.getString(32));
            assertEquals("", memory.getString(160));
            assertEquals(0xffffffff, memory.get(ValueLayout.JAVA_INT, 292));
            assertThrows(AcceleratorException.class, () -> config.name("n".repeat(128)));
        }
    }

    @Test
    void aSettingThatTheLibraryDoesNotKnowIsNotWritten() {
        try (Arena arena = Arena.ofConfined()) {
            CommConfig old = CommConfig.in(arena, 1);
            assertTrue(old.bufferMegabytes(300));
            assertFalse(old.deterministic(true));
            assertFalse(old.name("world"));
            assertEquals(0xffffffff, old.memory().get(ValueLayout.JAVA_INT, 28));
        }
    }

    @Test
    void aChannelsDescriptorHoldsOnesWhereNothingIsSet() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = ChannelDescriptor.in(arena, 3, ChannelDescriptor.Protocol.ROCE, 2);
            assertEquals(496, memory.byteSize());
            assertEquals(3, memory.get(ValueLayout.JAVA_INT, 16));
            assertEquals(1, memory.get(ValueLayout.JAVA_INT, 20));
            assertEquals(2, memory.get(ValueLayout.JAVA_INT, 344));
            for (long at = 24; at < 344; at++) {
                assertEquals((byte) 0xff, memory.get(ValueLayout.JAVA_BYTE, at), "byte " + at);
            }
        }
    }

    // Errors.

    @ParameterizedTest
    @CsvSource({
        "107000,INVALID_ARGUMENT",
        "107002,INVALID_STATE",
        "107030,INVALID_STATE",
        "207018,OUT_OF_MEMORY",
        "207008,VENDOR",
        "507015,DEVICE_LOST",
        "507046,TIMEOUT",
        "207000,UNSUPPORTED",
        "999,VENDOR"
    })
    void codesOfTheRuntimeHaveTheirNeutralKinds(int code, ErrorCode kind) {
        AcceleratorException failure = AclFailure.runtime("synchronize", code, "");
        assertEquals(kind, failure.code());
        assertTrue(failure.getMessage().contains(Integer.toString(code)), failure.getMessage());
        assertFalse(failure.nextStep().isEmpty());
    }

    @Test
    void codesOfTheCollectivesSayTheirNames() {
        AcceleratorException failure = AclFailure.hccl("all-reduce", 9, "");
        assertEquals(ErrorCode.TIMEOUT, failure.code());
        assertTrue(failure.getMessage().contains("timeout"), failure.getMessage());
        assertEquals(ErrorCode.VENDOR, AclFailure.hccl("join", 1041, "said").code());
    }

    // Functions.

    @Test
    void communicatorCallsAreLookedForInBothLibraries() {
        assertEquals(List.of(AclLibrary.HCOMM, AclLibrary.HCCL), AclFunction.COMM_INIT_ROOT_INFO.homes());
        assertEquals(List.of(AclLibrary.HCCL, AclLibrary.HCOMM), AclFunction.ALL_REDUCE.homes());
        assertEquals(List.of(AclLibrary.ASCENDCL), AclFunction.MALLOC.homes());
        assertEquals(
                AclFunction.values().length,
                Arrays.stream(AclFunction.values())
                        .map(AclFunction::symbol)
                        .distinct()
                        .count());
    }

    @Test
    void aMissingLibraryIsAMissingPowerAndLoadsNothing() {
        AclLibraries libraries = new AclLibraries(List.of(Path.of("there-is-no-such-folder")));
        assertFalse(libraries.isInstalled(AclLibrary.ASCENDCL));
        assertTrue(libraries.find(AclFunction.ALL_REDUCE).isEmpty());
        AcceleratorException missing = assertThrows(
                AcceleratorException.class, () -> libraries.require("join", AclFunction.COMM_INIT_ROOT_INFO));
        assertEquals(ErrorCode.UNSUPPORTED, missing.code());
        assertTrue(
                missing.getMessage().contains("HcclCommInitRootInfo")
                        && missing.getMessage().contains("libhcomm.so or libhccl.so"),
                missing.getMessage());
    }

    @Test
    void theInstallationIsLookedForWhereItsOwnVariablePointsFirst() {
        List<Path> folders = AclLibraries.usualFolders(Map.of("ASCEND_HOME_PATH", "/opt/ascend"));
        assertEquals(Path.of("/opt/ascend/lib64"), folders.getFirst());
        assertEquals(3, folders.size());
    }

    // The thread.

    @Test
    void allCallsOfADeviceAreMadeByOneThread() throws InterruptedException {
        Thread[] made = new Thread[1];
        try (DeviceThread device = new DeviceThread(0, () -> made[0] = Thread.currentThread())) {
            Thread[] seen = new Thread[2];
            Thread virtual = Thread.ofVirtual().start(() -> {
                seen[0] = device.call(Thread::currentThread);
                seen[1] = device.call(() -> device.call(Thread::currentThread));
            });
            virtual.join();
            assertSame(made[0], seen[0]);
            assertSame(made[0], seen[1]);
            assertNotSame(virtual, made[0]);
            assertFalse(made[0].isVirtual());
        }
    }

    @Test
    void whatFailsOnTheThreadFailsAtTheCaller() {
        DeviceThread device = new DeviceThread(1, () -> {});
        assertThrows(
                IllegalStateException.class,
                () -> device.call(() -> {
                    throw new IllegalStateException("failed there");
                }));
        assertEquals(5, device.call(() -> 5));
        device.close();
        assertEquals(
                ErrorCode.CLOSED,
                assertThrows(AcceleratorException.class, () -> device.call(() -> 5))
                        .code());
        assertThrows(
                AcceleratorException.class,
                () -> new DeviceThread(2, () -> {
                    throw AclFailure.runtime("set device", 107_001, "");
                }));
    }
}

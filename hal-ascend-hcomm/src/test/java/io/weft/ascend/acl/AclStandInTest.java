// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The binding against libraries that behave as the vendor's do. */
class AclStandInTest {
    private static final int DEVICE_TO_DEVICE = 3;
    private static final int FLAG_SYNC = 1;

    private static AclStandIn standIn;
    private static AclLibraries acl;
    private static List<DeviceThread> devices;
    private static Arena arena;

    @BeforeAll
    static void open() {
        standIn = AclStandIn.newer();
        acl = standIn.libraries();
        arena = Arena.ofAuto();
        devices = new ArrayList<>();
        int started = call(AclFunction.ACL_INIT, MemorySegment.NULL);
        assertTrue(started == 0 || started == 100_002, "another test may have started it");
        for (int device = 0; device < 2; device++) {
            int ordinal = device;
            devices.add(new DeviceThread(ordinal, () -> assertEquals(0, call(AclFunction.SET_DEVICE, ordinal))));
        }
    }

    @AfterAll
    static void close() {
        if (devices != null) {
            devices.forEach(DeviceThread::close);
        }
    }

    private static int call(AclFunction function, Object... arguments) {
        return call(acl, function, arguments);
    }

    private static int call(AclLibraries libraries, AclFunction function, Object... arguments) {
        try {
            return (int) libraries.require("test", function).invokeWithArguments(arguments);
        } catch (RuntimeException | Error failed) {
            throw failed;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static int on(int device, AclFunction function, Object... arguments) {
        return devices.get(device).call(() -> call(function, arguments));
    }

    private static MemorySegment cell() {
        return arena.allocate(ValueLayout.JAVA_LONG);
    }

    private static MemorySegment pointer(MemorySegment cell) {
        return MemorySegment.ofAddress(cell.get(ValueLayout.JAVA_LONG, 0));
    }

    private static MemorySegment allocate(int device, long bytes) {
        MemorySegment cell = cell();
        assertEquals(0, on(device, AclFunction.MALLOC, cell, bytes, 0));
        return pointer(cell);
    }

    private static MemorySegment stream(int device) {
        MemorySegment cell = cell();
        assertEquals(0, on(device, AclFunction.CREATE_STREAM_WITH_CONFIG, cell, 0, 3));
        return pointer(cell);
    }

    private static MemorySegment floats(float... values) {
        return arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
    }

    private static void write(int device, MemorySegment to, float... values) {
        long bytes = values.length * 4L;
        assertEquals(0, on(device, AclFunction.MEMCPY, to, bytes, floats(values), bytes, 1));
    }

    private static float[] read(int device, MemorySegment from, int count) {
        MemorySegment host = arena.allocate(count * 4L, 4);
        assertEquals(0, on(device, AclFunction.MEMCPY, host, count * 4L, from, count * 4L, 2));
        return host.toArray(ValueLayout.JAVA_FLOAT);
    }

    @Test
    void aSecondInitialisationHasACodeThatMayBeIgnored() {
        assertEquals(100_002, call(AclFunction.ACL_INIT, MemorySegment.NULL));
    }

    @Test
    void aThreadWithoutADeviceGetsNothing() throws InterruptedException {
        int[] code = new int[1];
        Thread.ofPlatform()
                .start(() -> code[0] = call(AclFunction.MALLOC, cell(), 64L, 0))
                .join();
        assertEquals(107_002, code[0]);
    }

    @Test
    void aStreamOfAnotherDeviceIsAnotherContext() {
        MemorySegment stream = stream(1);
        assertEquals(107_003, on(0, AclFunction.SYNCHRONIZE_STREAM, stream));
        assertEquals(0, on(1, AclFunction.SYNCHRONIZE_STREAM, stream));
        on(1, AclFunction.DESTROY_STREAM, stream);
    }

    @Test
    void plainAllocationsTakeThirtyTwoBytesMore() {
        MemorySegment free = cell();
        MemorySegment total = cell();
        assertEquals(0, on(0, AclFunction.GET_MEM_INFO, 1, free, total));
        long before = free.get(ValueLayout.JAVA_LONG, 0);
        MemorySegment memory = allocate(0, 100);
        on(0, AclFunction.GET_MEM_INFO, 1, free, total);
        assertTrue(before - free.get(ValueLayout.JAVA_LONG, 0) >= 160);
        assertEquals(107_000, on(0, AclFunction.MALLOC, cell(), 0L, 0));
        assertEquals(0, on(0, AclFunction.FREE, memory));
    }

    @Test
    void anEventsStatusIsTheOppositeOfAStreams() {
        MemorySegment stream = stream(0);
        MemorySegment memory = allocate(0, 64);
        MemorySegment event = cell();
        assertEquals(0, on(0, AclFunction.CREATE_EVENT_WITH_FLAG, event, FLAG_SYNC));
        MemorySegment streamStatus = cell();
        MemorySegment eventStatus = cell();
        standIn.set("lazy-copies", 1);
        try {
            on(0, AclFunction.MEMCPY_ASYNC, memory, 64L, allocate(0, 64), 64L, DEVICE_TO_DEVICE, stream);
            on(0, AclFunction.RECORD_EVENT, pointer(event), stream);
            assertEquals(0, on(0, AclFunction.STREAM_QUERY, stream, streamStatus));
            assertEquals(0, on(0, AclFunction.QUERY_EVENT_STATUS, pointer(event), eventStatus));
        } finally {
            standIn.set("lazy-copies", 0);
        }
        assertFalse(AclStatus.streamIsComplete(streamStatus.get(ValueLayout.JAVA_INT, 0)));
        assertFalse(AclStatus.eventIsRecorded(eventStatus.get(ValueLayout.JAVA_INT, 0)));
        on(0, AclFunction.SYNCHRONIZE_STREAM, stream);
        on(0, AclFunction.STREAM_QUERY, stream, streamStatus);
        on(0, AclFunction.QUERY_EVENT_STATUS, pointer(event), eventStatus);
        assertTrue(AclStatus.streamIsComplete(streamStatus.get(ValueLayout.JAVA_INT, 0)));
        assertTrue(AclStatus.eventIsRecorded(eventStatus.get(ValueLayout.JAVA_INT, 0)));
        assertNotEquals(streamStatus.get(ValueLayout.JAVA_INT, 0), eventStatus.get(ValueLayout.JAVA_INT, 0));
    }

    @Test
    void anEventWithoutTheFlagCannotBeWaitedFor() {
        MemorySegment stream = stream(0);
        MemorySegment event = cell();
        on(0, AclFunction.CREATE_EVENT_WITH_FLAG, event, 0);
        on(0, AclFunction.RECORD_EVENT, pointer(event), stream);
        assertEquals(107_000, on(0, AclFunction.STREAM_WAIT_EVENT, stream, pointer(event)));
    }

    @Test
    void theRuntimesReductionTakesTensorTypesAndItsOwnOperations() {
        MemorySegment stream = stream(0);
        MemorySegment to = allocate(0, 16);
        MemorySegment from = allocate(0, 16);
        write(0, to, 1, 5, 3, 7);
        write(0, from, 4, 2, 6, 0);
        assertEquals(
                0,
                on(
                        0,
                        AclFunction.REDUCE_ASYNC,
                        to,
                        from,
                        16L,
                        AclTypes.runtimeReduction(ReduceOp.Kind.MAX).orElseThrow(),
                        AclTypes.tensor(ElementType.FP32).orElseThrow(),
                        stream,
                        MemorySegment.NULL));
        on(0, AclFunction.SYNCHRONIZE_STREAM, stream);
        assertArrayEquals(new float[] {4, 5, 6, 7}, read(0, to, 4));
    }

    @Test
    void aCollectiveOverTwoDevicesTakesItsOwnTypes() {
        MemorySegment root = arena.allocate(4108, 8);
        assertEquals(0, call(AclFunction.GET_ROOT_INFO, root));
        List<MemorySegment> comms = new ArrayList<>();
        List<MemorySegment> streams = new ArrayList<>();
        List<MemorySegment> buffers = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            int capability = call(AclFunction.COMM_CONFIG_CAPABILITY);
            CommConfig config = CommConfig.in(arena, capability);
            assertTrue(config.bufferMegabytes(256));
            MemorySegment comm = cell();
            assertEquals(0, on(rank, AclFunction.COMM_INIT_ROOT_INFO_CONFIG, 2, root, rank, config.memory(), comm));
            comms.add(pointer(comm));
            streams.add(stream(rank));
            buffers.add(allocate(rank, 16));
            write(rank, buffers.get(rank), 1 + rank, 2, 3, 4);
        }
        assertEquals(256, standIn.get("buffer-megabytes"));
        for (int rank = 0; rank < 2; rank++) {
            assertEquals(
                    0,
                    on(
                            rank,
                            AclFunction.ALL_REDUCE,
                            buffers.get(rank),
                            buffers.get(rank),
                            4L,
                            AclTypes.collective(ElementType.FP32).orElseThrow(),
                            AclTypes.collectiveReduction(ReduceOp.Kind.SUM).orElseThrow(),
                            comms.get(rank),
                            streams.get(rank)));
        }
        for (int rank = 0; rank < 2; rank++) {
            on(rank, AclFunction.SYNCHRONIZE_STREAM, streams.get(rank));
            assertArrayEquals(new float[] {3, 4, 6, 8}, read(rank, buffers.get(rank), 4));
            assertEquals(0, on(rank, AclFunction.COMM_DESTROY, comms.get(rank)));
        }
    }

    @Test
    void anExecutorServesOneLaunch() {
        MemorySegment stream = stream(0);
        MemorySegment a = tensor(floats(1, 2, 3, 4));
        MemorySegment b = tensor(floats(1, 0, 0, 1));
        MemorySegment result = allocate(0, 16);
        MemorySegment c = tensor(result);
        MemorySegment bytes = cell();
        MemorySegment executor = cell();
        assertEquals(0, on(0, AclFunction.MATMUL_WORKSPACE, a, b, c, (byte) 0, bytes, executor));
        assertEquals(0, on(0, AclFunction.MATMUL, MemorySegment.NULL, 0L, pointer(executor), stream));
        assertNotEquals(0, on(0, AclFunction.MATMUL, MemorySegment.NULL, 0L, pointer(executor), stream));
        on(0, AclFunction.SYNCHRONIZE_STREAM, stream);
        assertArrayEquals(new float[] {1, 2, 3, 4}, read(0, result, 4));
    }

    private static MemorySegment tensor(MemorySegment data) {
        MemorySegment dims = arena.allocateFrom(ValueLayout.JAVA_LONG, 2, 2);
        MemorySegment strides = arena.allocateFrom(ValueLayout.JAVA_LONG, 2, 1);
        try {
            return (MemorySegment) acl.require("test", AclFunction.CREATE_TENSOR)
                    .invokeWithArguments(
                            dims, 2L, AclTypes.tensor(ElementType.FP32).orElseThrow(), strides, 0L, 2, dims, 2L, data);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    @Test
    void olderVersionsHaveCommunicatorCallsInTheOtherLibrary() {
        AclStandIn old = AclStandIn.older();
        AclLibraries libraries = old.libraries();
        assertFalse(libraries.isInstalled(AclLibrary.HCOMM));
        assertTrue(libraries.find(AclFunction.COMM_INIT_ROOT_INFO).isPresent());
        assertTrue(libraries.find(AclFunction.CREATE_TENSOR).isPresent(), "from the operators' library");
        int capability;
        old.set("old-version", 1); // Of the core that all editions share.
        try {
            capability = call(libraries, AclFunction.COMM_CONFIG_CAPABILITY);
        } finally {
            old.set("old-version", 0);
        }
        try (Arena own = Arena.ofConfined()) {
            assertEquals(160, CommConfig.in(own, capability).memory().byteSize());
        }
    }

    @Test
    void aFunctionThatIsMissingLeavesTheOthersUsable() {
        assertTrue(acl.find(AclFunction.RESERVE_ADDRESS).isEmpty());
        assertTrue(acl.find(AclFunction.SYM_WIN_REGISTER).isEmpty());
        assertTrue(acl.find(AclFunction.MALLOC).isPresent());
        assertEquals(List.of(), acl.refusals());
    }
}

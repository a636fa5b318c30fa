// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.StreamDriver;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What goes wrong in the vendor's libraries, and misuse that they would crash or hang on, is told as one defined error. */
class FaultTest {
    private static final int COUNT = 64;

    private static StandIn standIn;
    private static Platform platform;
    private static Device device;

    @BeforeAll
    static void open() {
        standIn = StandIn.without("faults");
        platform = standIn.open("stall-timeout-ms=100");
        device = platform.device(0);
    }

    @AfterAll
    static void close() {
        if (platform != null) {
            platform.close();
        }
    }

    private static BufferView all(Buffer buffer) {
        return buffer.vector(COUNT, ElementType.FP32);
    }

    private static Buffer buffer() {
        return device.allocate(COUNT * 4L);
    }

    private static AcceleratorException refused(ErrorCode code, Runnable call) {
        AcceleratorException refused = assertThrows(AcceleratorException.class, call::run);
        assertEquals(code, refused.code(), refused.getMessage());
        return refused;
    }

    @ParameterizedTest
    @CsvSource({"fail-copy, COPY", "fail-gemm, GEMM"})
    void aCommandThatFailsOnTheDeviceFailsItsStreamAndWhoeverWaitsForIt(String fault, String command) {
        // One of its own: the device is lost for good.
        StandIn dying = StandIn.without(fault);
        Platform own = dying.open();
        Device lost = own.device(0);
        Buffer a = lost.allocate(COUNT * 4L);
        Buffer b = lost.allocate(COUNT * 4L);
        Stream stream = lost.createStream();
        Stream other = lost.createStream();
        Event event = lost.createEvent(EventOptions.untimed());
        dying.set(fault, 1);
        if (command.equals("COPY")) {
            stream.copy(all(b), all(a));
        } else {
            stream.gemm(
                    b.matrix(4, 4, ElementType.FP32),
                    a.matrix(4, 4, ElementType.FP32),
                    a.matrix(4, 4, ElementType.FP32));
        }
        AcceleratorException failed = refused(ErrorCode.STREAM_FAILED, stream::synchronize);
        assertTrue(failed.getMessage().contains("cudaErrorLaunchFailure"), failed.getMessage());
        assertNotNull(failed.vendorError().orElse(null), "the vendor's code is passed on");
        refused(ErrorCode.STREAM_FAILED, () -> stream.fill(all(a), 1));
        refused(ErrorCode.STREAM_FAILED, () -> stream.record(event));
        refused(ErrorCode.DEVICE_LOST, () -> other.record(event));
        refused(ErrorCode.STREAM_FAILED, other::synchronize);
    }

    @Test
    void aProductThatTheLibraryRefusesIsComputedByOurOwnKernel() {
        standIn.set("refuse-gemm", 1);
        long before = standIn.get("reference-gemms");
        try (Buffer a = buffer();
                Buffer c = buffer();
                Stream stream = device.createStream()) {
            a.write(ElementType.FP32, 1, 2, 3, 4);
            stream.gemm(
                    c.matrix(2, 2, ElementType.FP32),
                    a.matrix(2, 2, ElementType.FP32),
                    a.matrix(2, 2, ElementType.FP32));
            stream.synchronize();
            assertArrayEquals(new float[] {7, 10, 15, 22}, c.read(ElementType.FP32, 4));
            assertEquals(before + 1, standIn.get("reference-gemms"));
        } finally {
            standIn.set("refuse-gemm", 0);
        }
    }

    @Test
    void memoryThatIsNotThereIsOutOfMemory() {
        AcceleratorException refused = refused(ErrorCode.OUT_OF_MEMORY, () -> device.allocate(1L << 50));
        assertTrue(refused.getMessage().contains("are free"), refused.getMessage());
    }

    @Test
    void aPartOfABufferThatWasClosedIsRefused() {
        try (Stream stream = device.createStream();
                Buffer to = buffer()) {
            Buffer whole = buffer();
            Buffer part = whole.suballocate(0, COUNT * 4L, closing -> {});
            whole.close();
            refused(ErrorCode.CLOSED, () -> stream.copy(all(to), all(part)));
            refused(ErrorCode.CLOSED, () -> stream.fill(all(part), 0));
            refused(ErrorCode.CLOSED, () -> part.read(ElementType.FP32, 1));
            refused(ErrorCode.CLOSED, () -> part.write(ElementType.FP32, 1));
            stream.synchronize();
        }
    }

    @Test
    void handlesThatWereClosedDoNotReachTheLibrary() {
        Event event = device.createEvent(EventOptions.timed());
        Stream closed = device.createStream();
        try (Stream stream = device.createStream();
                Buffer buffer = buffer()) {
            stream.record(event);
            stream.synchronize();
            event.close();
            closed.close();
            // The backend's side by itself, as another thread that lost a race with close would find it.
            refused(ErrorCode.CLOSED, () -> stream.driver().record(event.driver()));
            refused(ErrorCode.CLOSED, () -> stream.driver().waitFor(event.driver()));
            refused(ErrorCode.CLOSED, () -> event.driver().query());
            refused(ErrorCode.CLOSED, () -> event.driver().synchronize());
            refused(ErrorCode.CLOSED, () -> event.driver().timestampNanos());
            refused(ErrorCode.CLOSED, () -> closed.driver().query());
            refused(ErrorCode.CLOSED, () -> closed.driver().synchronize());
            refused(ErrorCode.CLOSED, () -> closed.driver().enqueue(new Command.Fill(all(buffer), 0)));
        }
    }

    @Test
    void aGraphWhoseBufferOrPartWasClosedIsNotLaunched() {
        CommandGraph.Builder builder = CommandGraph.builder(1);
        Slot from = builder.slot(0, "from", COUNT * 4L, Slot.Role.INPUT);
        Slot to = builder.slot(0, "to", COUNT * 4L, Slot.Role.OUTPUT);
        builder.add(
                0,
                0,
                Priority.NORMAL,
                new Command.Copy(
                        BufferView.vector(to, 0, COUNT, ElementType.FP32),
                        BufferView.vector(from, 0, COUNT, ElementType.FP32),
                        io.weft.api.CopyMethod.AUTO),
                "copy");
        CommandGraph graph = builder.build();
        GraphExecutable executable =
                platform.extension(GraphDriver.class).orElseThrow().instantiate(graph, List.of(device.driver()));
        try (Stream stream = device.createStream();
                Buffer source = buffer()) {
            List<StreamDriver> streams = List.of(stream.driver());
            Buffer whole = buffer();
            Buffer part = whole.suballocate(0, COUNT * 4L, closing -> {});
            GraphBindings bindings = new GraphBindings(graph).bind(from, source).bind(to, part);
            executable.launch(bindings, streams);
            stream.synchronize();
            whole.close();
            refused(ErrorCode.CLOSED, () -> executable.launch(bindings, streams));
            part.close();
            refused(ErrorCode.CLOSED, () -> executable.launch(bindings, streams));
            stream.synchronize();
        } finally {
            // After its stream: nothing of it may be asked any more.
            executable.close();
        }
        refused(ErrorCode.CLOSED, () -> executable.launch(new GraphBindings(graph), List.of()));
    }

    @Test
    void collectivesThatHoldEachOtherUpAreToldAndAnAbortFreesThem() {
        Communicator first = Communicator.overAll(platform);
        Communicator second = Communicator.overAll(platform);
        try (Stream zero = platform.device(0).createStream();
                Stream one = platform.device(1).createStream();
                Buffer here = platform.device(0).allocate(COUNT * 4L);
                Buffer there = platform.device(1).allocate(COUNT * 4L)) {
            first.allReduce(0, all(here), all(here), ReduceOp.SUM, zero);
            second.group().barrier(1, one).close();
            second.group().barrier(0, zero).close();
            first.allReduce(1, all(there), all(there), ReduceOp.SUM, one);
            AcceleratorException told = refused(ErrorCode.TIMEOUT, zero::synchronize);
            assertTrue(told.getMessage().contains("wait for each other"), told.getMessage());
            first.abort();
            second.abort();
            refused(ErrorCode.ABORTED, zero::synchronize);
            refused(ErrorCode.ABORTED, one::synchronize);
        }
        first.close();
        second.close();
        // The devices are as good as before.
        try (Communicator fresh = Communicator.overAll(platform);
                Stream zero = platform.device(0).createStream();
                Stream one = platform.device(1).createStream()) {
            try (Communicator.Group group = fresh.group()) {
                group.barrier(0, zero).barrier(1, one);
            }
            zero.synchronize();
            one.synchronize();
        }
    }

    @Test
    void aCommunicatorThatEndedWellLeavesItsHandlesToTheNext() {
        try (Platform own = standIn.open()) {
            long before = standIn.get("communicators");
            for (int round = 0; round < 5; round++) {
                try (Communicator communicator = Communicator.overAll(own);
                        Stream zero = own.device(0).createStream();
                        Stream one = own.device(1).createStream()) {
                    try (Communicator.Group group = communicator.group()) {
                        group.barrier(0, zero).barrier(1, one);
                    }
                    zero.synchronize();
                    one.synchronize();
                }
            }
            assertEquals(2, standIn.get("communicators") - before, "handles made for two ranks, once");
        }
    }

    @Test
    void closingAPlatformEndsCollectivesThatNeverEnd() {
        Platform own = standIn.open("stall-timeout-ms=100");
        Communicator communicator = Communicator.overAll(own);
        Stream lonely = own.device(0).createStream();
        communicator.group().barrier(0, lonely).close();
        own.close();
        refused(ErrorCode.CLOSED, lonely::synchronize);
    }
}

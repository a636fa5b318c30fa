// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
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
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultTest {
    private static final int SIZE = 4096;
    private final AcceleratorException cause =
            new AcceleratorException(ErrorCode.VENDOR, "kernel", "an injected fault");

    private Platform platform;
    private Device device;
    private SimFaults faults;
    private Buffer buffer;
    private BufferView view;

    @BeforeEach
    void open() {
        platform = Sim.open("sim:mesh-8?stall-timeout-ms=20");
        device = platform.device(0);
        faults = platform.extension(SimFaults.class).orElseThrow();
        buffer = device.allocate(SIZE);
        view = buffer.vector(SIZE, ElementType.INT8);
    }

    @AfterEach
    void close() {
        platform.close();
    }

    @Test
    void theNthCommandFailsAndWritesNothing() {
        faults.failCommand(0, 2, cause);
        try (Stream stream = device.createStream()) {
            stream.fill(view, 1);
            stream.fill(view, 2);
            stream.fill(view, 3);
            AcceleratorException failure = Sim.refused(ErrorCode.STREAM_FAILED, stream::synchronize, "injected fault");
            assertSame(cause, Sim.root(failure));
            assertArrayEquals(Sim.filled(SIZE, 1), Sim.read(buffer, SIZE));
        }
    }

    @Test
    void aFailedStreamStaysFailedForEveryCall() {
        faults.failCommand(0, 1, cause);
        try (Stream stream = device.createStream();
                Event event = device.createEvent(EventOptions.timed())) {
            stream.fill(view, 1);
            Sim.refused(ErrorCode.STREAM_FAILED, stream::synchronize);
            Sim.refused(ErrorCode.STREAM_FAILED, stream::synchronize, "injected fault");
            Sim.refused(ErrorCode.STREAM_FAILED, stream::query);
            Sim.refused(ErrorCode.STREAM_FAILED, () -> stream.fill(view, 2));
            Sim.refused(ErrorCode.STREAM_FAILED, () -> stream.record(event));
            Sim.refused(ErrorCode.STREAM_FAILED, () -> stream.waitFor(recorded()));
            try (Stream fresh = device.createStream()) {
                fresh.fill(view, 4);
                fresh.synchronize();
            }
            assertArrayEquals(Sim.filled(SIZE, 4), Sim.read(buffer, SIZE));
        }
    }

    private Event recorded() {
        Event event = device.createEvent(EventOptions.timed());
        device.defaultStream().record(event);
        return event;
    }

    @Test
    void waitersByEventGetTheCauseAndFailThemselves() {
        faults.failCommand(0, 1, cause);
        try (Stream failing = device.createStream();
                Stream waiting = platform.device(1).createStream();
                Stream bystander = platform.device(2).createStream();
                Event event = device.createEvent(EventOptions.timed())) {
            Buffer there = platform.device(1).allocate(SIZE);
            failing.fill(view, 1);
            failing.record(event);
            waiting.waitFor(event);
            waiting.fill(there.vector(SIZE, ElementType.INT8), 5);
            Sim.refused(ErrorCode.STREAM_FAILED, waiting::synchronize, "injected fault");
            Sim.refused(ErrorCode.STREAM_FAILED, event::synchronize, "injected fault");
            Sim.refused(ErrorCode.STREAM_FAILED, event::query);
            assertArrayEquals(Sim.filled(SIZE, 0xFF), Sim.read(there, SIZE));
            bystander.synchronize();
        }
    }

    @Test
    void deviceSynchronizeThrowsTheFirstFailure() {
        faults.failCommand(0, 1, cause);
        Stream stream = device.createStream();
        stream.fill(view, 1);
        Sim.refused(ErrorCode.STREAM_FAILED, device::synchronize, "injected fault");
        stream.close();
        device.synchronize();
    }

    @Test
    void aFailureThatNobodyHeardOfIsReportedByTheDeviceOnce() {
        faults.failCommand(0, 1, cause);
        Stream stream = device.createStream();
        stream.fill(view, 1);
        stream.close();
        Sim.refused(ErrorCode.STREAM_FAILED, device::synchronize, "injected fault", "closed");
        device.synchronize();
    }

    @Test
    void aCollectiveWithAFailedRankFailsEverywhere() {
        faults.failCommand(1, 1, cause);
        try (Communicator communicator =
                Communicator.over(platform, platform.devices().subList(0, 3))) {
            Stream[] streams = new Stream[3];
            try (Communicator.Group group = communicator.group()) {
                for (int rank = 0; rank < 3; rank++) {
                    streams[rank] = platform.device(rank).createStream();
                    BufferView part = platform.device(rank).allocate(64).vector(16, ElementType.FP32);
                    if (rank == 1) {
                        streams[rank].fill(part, 0);
                    }
                    group.allReduce(rank, part, part, ReduceOp.SUM, streams[rank]);
                }
            }
            for (Stream stream : streams) {
                AcceleratorException failure = Sim.refused(ErrorCode.STREAM_FAILED, stream::synchronize);
                assertSame(cause, Sim.root(failure));
            }
            assertTrue(communicator.asyncError().isPresent());
        }
    }

    @Test
    void aFailedStreamSaysSoEvenWhenItsRestCanNeverEnd() {
        try (Communicator communicator =
                        Communicator.over(platform, platform.devices().subList(0, 2));
                Stream stream = device.createStream();
                Event event = device.createEvent(EventOptions.timed())) {
            communicator.group().barrier(0, stream).close();
            stream.record(event);
            faults.loseDevice(0);
            Sim.refused(ErrorCode.STREAM_FAILED, stream::synchronize, "device 0 is gone");
            Sim.refused(ErrorCode.STREAM_FAILED, event::synchronize, "device 0 is gone");
        }
    }

    @Test
    void aLostDeviceFailsItsStreamsAndItsPeersInCollectives() {
        Stream other = platform.device(1).createStream();
        Stream lost = device.createStream();
        try (Communicator communicator =
                Communicator.over(platform, platform.devices().subList(0, 2))) {
            communicator.group().barrier(0, lost).barrier(1, other).close();
            faults.loseDevice(0);
            assertEquals(
                    ErrorCode.DEVICE_LOST,
                    Sim.root(Sim.refused(ErrorCode.STREAM_FAILED, other::synchronize))
                            .code());
            assertEquals(
                    ErrorCode.DEVICE_LOST,
                    Sim.root(Sim.refused(ErrorCode.STREAM_FAILED, lost::synchronize))
                            .code());
        }
        Sim.refused(ErrorCode.DEVICE_LOST, () -> device.allocate(1), "device 0");
        Sim.refused(ErrorCode.DEVICE_LOST, device::createStream);
        buffer.close();
        try (Stream fresh = platform.device(1).createStream()) {
            fresh.synchronize();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.spi.Enqueue;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StreamTest {
    private static final int SIZE = 1 << 18;

    private Platform platform;
    private Device device;
    private Buffer near;
    private Buffer far;
    private Buffer other;

    @BeforeEach
    void open() {
        platform = Sim.mesh();
        device = platform.device(0);
        near = device.allocate(SIZE);
        other = device.allocate(SIZE);
        far = platform.device(1).allocate(SIZE);
        Sim.write(far, Sim.filled(SIZE, 7));
    }

    @AfterEach
    void close() {
        platform.close();
    }

    private static BufferView all(Buffer buffer) {
        return buffer.vector(SIZE, ElementType.INT8);
    }

    private static Event event(Device of) {
        return of.createEvent(EventOptions.timed());
    }

    @Test
    void commandsOfOneStreamRunInOrder() {
        try (Stream stream = device.createStream()) {
            stream.copy(all(near), all(far));
            stream.copy(all(other), all(near));
            stream.fill(all(near), 3);
            stream.synchronize();
        }
        assertArrayEquals(Sim.filled(SIZE, 7), Sim.read(other, SIZE));
        assertArrayEquals(Sim.filled(SIZE, 3), Sim.read(near, SIZE));
    }

    @Test
    void virtualTimeMovesOnlyWhileTheHostCallsAndTheSameProgramTakesTheSameTime() {
        List<Double> first = timedProgram();
        platform.close();
        open();
        assertEquals(first, timedProgram());
        assertTrue(first.get(1) > first.get(0));
    }

    private List<Double> timedProgram() {
        try (Stream stream = device.createStream();
                Stream second = device.createStream();
                Event start = event(device);
                Event middle = event(device);
                Event end = event(device)) {
            stream.record(start);
            stream.copy(all(near), all(far));
            stream.record(middle);
            second.waitFor(middle);
            second.copy(all(other), all(near));
            second.record(end);
            second.synchronize();
            return List.of(middle.nanosSince(start), end.nanosSince(start), (double) platform.nanoTime());
        }
    }

    @Test
    void everyHostCallCostsVirtualTime() {
        try (Stream stream = device.createStream()) {
            long before = platform.nanoTime();
            stream.fill(all(near), 1);
            assertTrue(platform.nanoTime() > before);
        }
    }

    @Test
    void devicesHaveIssuingClocksOfTheirOwn() {
        try (Stream a = device.createStream();
                Stream b = platform.device(1).createStream();
                Event startA = event(device);
                Event startB = event(platform.device(1))) {
            for (int i = 0; i < 20; i++) {
                a.fill(all(near), i);
            }
            a.record(startA);
            b.record(startB);
            platform.synchronize();
            assertTrue(startB.nanosSince(startA) < 0, "device 1 must not wait for the calls to device 0");
        }
    }

    @Test
    void anEventThatWasNeverRecordedIsCompleteAndHoldsNothingUp() {
        try (Stream stream = device.createStream();
                Event event = event(device)) {
            assertTrue(event.query());
            event.synchronize();
            stream.waitFor(event);
            stream.driver().waitFor(event.driver());
            stream.synchronize();
            Sim.refused(ErrorCode.INVALID_STATE, () -> event.nanosSince(event), "never recorded");
        }
    }

    @Test
    void recordingAgainMovesAnEvent() {
        try (Stream stream = device.createStream();
                Event event = event(device);
                Event reference = event(device)) {
            stream.record(event);
            stream.record(reference);
            stream.synchronize();
            assertTrue(event.query());
            double first = event.nanosSince(reference);
            stream.copy(all(near), all(far));
            stream.record(event);
            assertFalse(event.query());
            event.synchronize();
            assertTrue(event.nanosSince(reference) > first);
        }
    }

    @Test
    void aWaitKeepsTheRecordThatItWasIssuedFor() {
        try (Stream writer = device.createStream();
                Stream reader = device.createStream();
                Event event = event(device)) {
            writer.copy(all(near), all(far));
            writer.record(event);
            reader.waitFor(event);
            for (int i = 0; i < 8; i++) {
                writer.copy(all(near), all(far));
            }
            writer.record(event);
            reader.fill(all(other), 1);
            reader.synchronize();
            assertFalse(event.query(), "the reader must not have waited for the second record");
        }
    }

    @Test
    void theDefaultStreamJoinsBlockingStreamsBothWays() {
        try (Stream blocking = device.createStream(StreamOptions.defaults().withBlocking(true))) {
            blocking.copy(all(near), all(far));
            device.defaultStream().copy(all(other), all(near));
            device.defaultStream().synchronize();
            assertArrayEquals(Sim.filled(SIZE, 7), Sim.read(other, SIZE));

            Sim.write(far, Sim.filled(SIZE, 9));
            device.defaultStream().copy(all(near), all(far));
            blocking.copy(all(other), all(near));
            blocking.synchronize();
            assertArrayEquals(Sim.filled(SIZE, 9), Sim.read(other, SIZE));
        }
    }

    @Test
    void theDefaultStreamNeverJoinsNonBlockingStreams() {
        try (Stream free = device.createStream()) {
            free.copy(all(near), all(far));
            device.defaultStream().copy(all(other), all(near));
            device.defaultStream().synchronize();
            platform.synchronize();
            assertArrayEquals(Sim.filled(SIZE, 0xFF), Sim.read(other, SIZE));
        }
    }

    @Test
    void pollingEnds() {
        try (Stream stream = device.createStream();
                Event event = event(device)) {
            stream.copy(all(near), all(far));
            stream.record(event);
            int polls = 0;
            while (!event.query()) {
                polls++;
                assertTrue(polls < 1_000_000, "polling must end");
            }
            assertTrue(polls > 0, "a megabyte over a link takes longer than one poll");
            assertTrue(stream.query());
        }
    }

    @Test
    void aFullQueueIsReportedAndTryingAgainSucceedsInTime() {
        platform.close();
        platform = Sim.open("sim:mesh-8?queue-depth=3");
        device = platform.device(0);
        near = device.allocate(SIZE);
        try (Stream stream = device.createStream()) {
            Command fill = new Command.Fill(all(near), 5);
            for (int i = 0; i < 3; i++) {
                assertEquals(Enqueue.ACCEPTED, stream.tryEnqueue(fill));
            }
            assertEquals(Enqueue.QUEUE_FULL, stream.tryEnqueue(fill));
            int tries = 0;
            while (stream.tryEnqueue(fill) == Enqueue.QUEUE_FULL) {
                assertTrue(++tries < 1_000_000, "the queue must drain");
            }
            for (int i = 0; i < 10; i++) {
                stream.enqueue(fill);
            }
            stream.synchronize();
            assertArrayEquals(Sim.filled(SIZE, 5), Sim.read(near, SIZE));
        }
    }

    @Test
    void moreStreamsThanHardwareQueuesShareThemInOrder() {
        int queues = device.properties().hardwareQueues();
        List<Stream> streams = new ArrayList<>();
        List<Event> ends = new ArrayList<>();
        // The default stream has queue 0, so these have 1, 2, ..., 0, 1.
        for (int i = 0; i <= queues; i++) {
            streams.add(device.createStream());
            ends.add(event(device));
        }
        for (int i = 0; i <= queues; i++) {
            streams.get(i).fill(all(i == 0 ? near : other), i);
            streams.get(i).record(ends.get(i));
        }
        platform.synchronize();
        double first = ends.get(0).nanosSince(ends.get(1));
        double shared = ends.get(queues).nanosSince(ends.get(0));
        assertTrue(shared > 0, "the last stream shares the first one's queue and comes after it");
        assertTrue(shared > Math.abs(first) / 2);
    }

    @Test
    void prioritiesOutsideWhatTheDeviceKnowsAreClamped() {
        int known = device.properties().priorities();
        for (Priority wish : Priority.values()) {
            try (Stream stream = device.createStream(StreamOptions.defaults().withPriority(wish))) {
                Priority expected = (wish == Priority.HIGH && known < 2) || (wish == Priority.LOW && known < 3)
                        ? Priority.NORMAL
                        : wish;
                assertEquals(expected, stream.effectivePriority());
            }
        }
    }

    @Test
    void untimedEventsHaveNoTimeAndUnfinishedOnesAreNotReady() {
        try (Stream stream = device.createStream();
                Event untimed = device.createEvent(EventOptions.untimed());
                Event timed = event(device);
                Event late = event(device)) {
            stream.record(untimed);
            stream.record(timed);
            stream.copy(all(near), all(far));
            stream.record(late);
            Sim.refused(ErrorCode.INVALID_STATE, () -> timed.nanosSince(untimed), "without timing");
            Sim.refused(ErrorCode.NOT_READY, () -> late.nanosSince(timed));
            stream.synchronize();
            assertNotEquals(0, late.nanosSince(timed));
        }
    }

    @Test
    void copiesByKernelAndByEngineGiveTheSameBytes() {
        try (Stream stream = device.createStream()) {
            for (CopyMethod method : CopyMethod.values()) {
                stream.fill(all(near), 0);
                stream.copy(all(near), all(far), method);
                stream.synchronize();
                assertArrayEquals(Sim.filled(SIZE, 7), Sim.read(near, SIZE), method.toString());
            }
        }
    }

    @Test
    void closingAStreamCompletesWhatWasIssued() {
        Stream stream = device.createStream();
        stream.copy(all(near), all(far));
        stream.close();
        assertArrayEquals(Sim.filled(SIZE, 7), Sim.read(near, SIZE));
    }

    @Test
    void integerProductsTakeWholeFactorsOnly() {
        try (Stream stream = device.createStream()) {
            Command.Gemm half = new Command.Gemm(
                    near.matrix(4, 4, ElementType.INT32),
                    other.matrix(4, 4, ElementType.INT8),
                    BufferView.matrix(other, 64, 4, 4, ElementType.INT8),
                    false,
                    false,
                    0.5f,
                    0,
                    1,
                    0,
                    0,
                    0);
            if (device.properties().gemmTypes().contains(ElementType.INT8)) {
                Sim.refused(ErrorCode.INVALID_ARGUMENT, () -> stream.enqueue(half), "alpha", "whole number");
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.amd.Nodes;
import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HipStreamsTest {
    private static final int SIZE = 1024;
    private Platform platform;
    private Device device;

    @BeforeEach
    void open() {
        platform = Nodes.open("amd:mi300x-8?mode=timing");
        device = platform.device(0);
    }

    @AfterEach
    void close() {
        platform.close();
    }

    /** A product that takes few compute units for a while. */
    private void work(Stream stream) {
        Buffer a = device.allocate(16L * 1_048_576 * 2);
        Buffer b = device.allocate(16L * 1_048_576 * 2);
        Buffer c = device.allocate(SIZE);
        stream.gemm(
                c.matrix(16, 16, ElementType.BF16),
                a.matrix(16, 1_048_576, ElementType.BF16),
                b.matrix(1_048_576, 16, ElementType.BF16));
    }

    @ParameterizedTest
    @CsvSource({"-1, HIGH", "0, NORMAL", "1, LOW", "-7, HIGH", "99, LOW"})
    void prioritiesGoFromMinusOneToOneAndAreClamped(int number, Priority priority) {
        assertEquals(priority, HipStreams.priority(number));
        assertEquals(Math.clamp(number, -1, 1), HipStreams.number(priority));
        Stream stream = device.createStream(HipStreams.options(HipStreams.NON_BLOCKING, number));
        assertEquals(priority, stream.effectivePriority());
    }

    @Test
    void flagsOtherThanZeroAndOneAreInvalid() {
        assertTrue(HipStreams.options(0, 0).blocking());
        assertTrue(!HipStreams.options(1, 0).blocking());
        AcceleratorException refusal =
                Nodes.refused(ErrorCode.INVALID_ARGUMENT, () -> HipStreams.options(2, 0), "0 (hipStreamDefault)");
        assertEquals(1, refusal.vendorError().orElseThrow().code());
    }

    @Test
    void theFifthStreamWaitsForTheFirst() {
        List<Double> ends = ends(5, "");
        for (int i = 1; i < 4; i++) {
            assertEquals(ends.get(0), ends.get(i), 0.3 * ends.get(0), "stream " + i);
        }
        assertTrue(ends.get(4) > 1.6 * ends.get(0), ends::toString);
    }

    @Test
    void moreQueuesLetMoreStreamsRunAndOneLetsNoneRunTogether() {
        List<Double> eight = ends(5, "&GPU_MAX_HW_QUEUES=8");
        assertTrue(eight.get(4) < 1.4 * eight.get(0), eight::toString);
        List<Double> one = ends(2, "&GPU_MAX_HW_QUEUES=1");
        assertTrue(one.get(1) > 1.6 * one.get(0), one::toString);
    }

    /** When each of some streams with equal work is through, ns after the start. */
    private List<Double> ends(int streams, String options) {
        try (Platform other = Nodes.open("amd:mi300x-8?mode=timing" + options)) {
            Device first = device;
            device = other.device(0);
            // The default stream has the first queue, so each stream finds one of its own only from the second on.
            List<Stream> all = new ArrayList<>();
            all.add(device.defaultStream());
            for (int i = 1; i < streams; i++) {
                all.add(device.createStream());
            }
            Event start = device.createEvent(EventOptions.timed());
            all.getFirst().record(start);
            List<Event> events = new ArrayList<>();
            for (Stream stream : all) {
                work(stream);
                Event done = device.createEvent(EventOptions.timed());
                stream.record(done);
                events.add(done);
            }
            other.synchronize();
            List<Double> ends =
                    events.stream().map(event -> event.nanosSince(start)).toList();
            device = first;
            return ends;
        }
    }

    /** Which kinds of stream join the null stream, in both orders of issue. */
    @ParameterizedTest
    @CsvSource({
        "blocking,     null,         true",
        "null,         blocking,     true",
        "per-thread,   null,         true",
        "null,         per-thread,   true",
        "non-blocking, null,         false",
        "null,         non-blocking, false",
        "blocking,     blocking,     false",
        "blocking,     non-blocking, false",
        "per-thread,   blocking,     false"
    })
    void onlyBlockingAndPerThreadStreamsJoinTheNullStream(String first, String second, boolean joins) {
        try (PerThreadStreams perThread = new PerThreadStreams(device)) {
            Stream before = stream(first, perThread);
            Stream after = stream(second, perThread);
            work(before);
            Event end = device.createEvent(EventOptions.untimed());
            before.record(end);
            Event done = device.createEvent(EventOptions.untimed());
            after.record(done);
            done.synchronize();
            assertEquals(joins, end.query(), first + " then " + second);
            platform.synchronize();
        }
    }

    private Stream stream(String kind, PerThreadStreams perThread) {
        return switch (kind) {
            case "null" -> device.defaultStream();
            case "per-thread" -> perThread.stream();
            case "blocking" -> device.createStream(HipStreams.options(HipStreams.DEFAULT, 0));
            default -> device.createStream(HipStreams.options(HipStreams.NON_BLOCKING, 0));
        };
    }

    @Test
    void eachThreadHasAStreamOfItsOwn() throws InterruptedException {
        try (PerThreadStreams perThread = new PerThreadStreams(device)) {
            AtomicReference<Stream> other = new AtomicReference<>();
            Thread thread = new Thread(() -> other.set(perThread.stream()));
            thread.start();
            thread.join();
            assertSame(perThread.stream(), perThread.stream());
            assertNotSame(other.get(), perThread.stream());
        }
    }

    @Test
    void anEventThatWasNeverRecordedIsCompleteAndHoldsNothingUp() {
        Event event = device.createEvent(EventOptions.timed());
        Stream stream = device.createStream(StreamOptions.defaults());
        assertTrue(event.query());
        event.synchronize();
        stream.waitFor(event);
        stream.synchronize();
        Event recorded = device.createEvent(EventOptions.timed());
        stream.record(recorded);
        stream.synchronize();
        assertThrows(AcceleratorException.class, () -> recorded.nanosSince(event), "hipErrorInvalidHandle");
        assertThrows(
                AcceleratorException.class,
                () -> recorded.nanosSince(device.createEvent(EventOptions.untimed())),
                "timing is off");
        assertThrows(
                AcceleratorException.class,
                () -> stream.record(platform.device(1).createEvent(EventOptions.timed())),
                "another device's");
    }
}

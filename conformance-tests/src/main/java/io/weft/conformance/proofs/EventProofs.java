// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import java.util.ArrayList;
import java.util.List;

/** Proofs of the rules about events. */
final class EventProofs {
    private static final int BYTES = 2_048;

    @Proves("EVT-001")
    void aFreshEventIsComplete(Bench bench) {
        for (EventOptions options : List.of(EventOptions.timed(), EventOptions.untimed())) {
            Event event = bench.event(bench.device(), options);
            bench.that(event.driver().query(), "a fresh event to be complete", "query says that it is not");
            event.driver().synchronize();
        }
    }

    @Proves("EVT-002")
    void waitingForAFreshEventHoldsNothingUp(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        bench.step("waiting for an event that was never recorded");
        stream.driver().waitFor(event.driver());
        stream.fill(Bench.bytes(buffer), 0x1F);
        stream.synchronize();
        bench.holds("what was filled after the wait", Bench.filled(BYTES, 0x1F), buffer);
    }

    @Proves("EVT-003")
    void anEventIsNotCompleteTooEarly(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device());
        Gate gate = Gate.on(bench, stream);
        stream.record(event);
        bench.equal("query while the stream is held up", false, event.query());
        gate.open();
        event.synchronize();
        bench.equal("query after synchronize", true, event.query());
    }

    @Proves("EVT-004")
    void synchronizingAnEventWaitsForTheWorkBefore(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        Busy.on(bench, bench.device()).issue(stream);
        stream.fill(Bench.bytes(buffer), 0x2E);
        stream.record(event);
        event.synchronize();
        bench.holds("what was filled before the record", Bench.filled(BYTES, 0x2E), buffer);
        stream.synchronize();
    }

    @Proves("EVT-005")
    void synchronizingAnEventWaitsForNothingAfter(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device());
        stream.record(event);
        Gate gate = Gate.on(bench, stream);
        bench.step("synchronizing an event while work issued after its record is held up");
        event.synchronize();
        bench.equal("query of the event", true, event.query());
        gate.open();
        stream.synchronize();
    }

    @Proves("EVT-006")
    void recordingAgainMovesAnEvent(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device());
        stream.record(event);
        event.synchronize();
        Gate gate = Gate.on(bench, stream);
        stream.record(event);
        bench.equal("query after the second record, which is held up", false, event.query());
        gate.open();
        event.synchronize();
    }

    @Proves("EVT-007")
    void aWaitKeepsToTheRecordBeforeIt(Bench bench) {
        Stream first = bench.stream(bench.device());
        Stream second = bench.stream(bench.device());
        Event event = bench.event(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        first.record(event);
        second.waitFor(event);
        Gate gate = Gate.on(bench, first);
        first.record(event);
        second.fill(Bench.bytes(buffer), 0x1A);
        bench.step("running what waits for the event's first record, while its second is held up");
        second.synchronize();
        bench.holds("what was filled after the wait", Bench.filled(BYTES, 0x1A), buffer);
        gate.open();
        first.synchronize();
    }

    @Proves("EVT-008")
    void timeStampsKeepTheOrderOfAStream(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event before = bench.event(bench.device(), EventOptions.timed());
        Event after = bench.event(bench.device(), EventOptions.timed());
        stream.record(before);
        Busy.on(bench, bench.device()).issue(stream);
        stream.record(after);
        stream.synchronize();
        double nanos = after.nanosSince(before);
        bench.that(nanos > 0, "work between two events to take time", "it took " + nanos + " ns");
    }

    @Proves("EVT-009")
    void timeStampsAreOfThePlatformsClock(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device(), EventOptions.timed());
        double before = bench.driver().nanoTime();
        Busy.on(bench, bench.device()).issue(stream);
        stream.record(event);
        event.synchronize();
        double stamp = event.driver().timestampNanos();
        double after = bench.driver().nanoTime();
        // The clock counts whole ns, and the stamp may have a fraction.
        bench.that(
                stamp >= before && stamp <= after + 1,
                "a time stamp between " + before + " and " + after + " ns",
                "it is " + stamp + " ns");
    }

    @Proves("EVT-010")
    void timeStampsKeepTheOrderOfDevices(Bench bench) {
        List<Device> devices = bench.devices(2);
        for (int round = 0; round < 2; round++) {
            Device from = devices.get(round);
            Device to = devices.get(1 - round);
            Stream first = bench.stream(from);
            Stream second = bench.stream(to);
            Event cause = bench.event(from, EventOptions.timed());
            Event effect = bench.event(to, EventOptions.timed());
            first.record(cause);
            second.waitFor(cause);
            second.record(effect);
            second.synchronize();
            double nanos = effect.nanosSince(cause);
            bench.that(
                    nanos >= 0,
                    "an event of " + to + " that waited for one of " + from + " not to be earlier",
                    "it is " + -nanos + " ns earlier");
        }
    }

    @Proves("EVT-011")
    void aTimeStampStays(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device(), EventOptions.timed());
        stream.record(event);
        stream.synchronize();
        double first = event.driver().timestampNanos();
        Busy.on(bench, bench.device()).issue(stream);
        stream.synchronize();
        bench.equal("the time stamp, asked for again", first, event.driver().timestampNanos());
    }

    @Proves("EVT-012")
    void recordingAgainGivesANewTime(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device(), EventOptions.timed());
        stream.record(event);
        stream.synchronize();
        double first = event.driver().timestampNanos();
        Busy.on(bench, bench.device()).issue(stream);
        stream.record(event);
        stream.synchronize();
        double second = event.driver().timestampNanos();
        bench.that(second > first, "a time stamp later than " + first + " ns", "it is " + second + " ns");
    }

    @Proves("EVT-013")
    void manyStreamsWaitForOneEvent(Bench bench) {
        Device device = bench.device();
        Stream writer = bench.stream(device);
        Event event = bench.event(device);
        Buffer source = bench.buffer(device, BYTES);
        List<Stream> readers = new ArrayList<>();
        List<Buffer> copies = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            readers.add(bench.stream(device));
            copies.add(bench.buffer(device, BYTES));
        }
        Busy.on(bench, device).issue(writer);
        writer.fill(Bench.bytes(source), 0x3D);
        writer.record(event);
        for (int i = 0; i < readers.size(); i++) {
            readers.get(i).waitFor(event);
            readers.get(i).copy(Bench.bytes(copies.get(i)), Bench.bytes(source));
        }
        for (int i = 0; i < readers.size(); i++) {
            readers.get(i).synchronize();
            bench.holds("the copy of reader " + i, Bench.filled(BYTES, 0x3D), copies.get(i));
        }
    }

    @Proves("EVT-014")
    void anEventIsUsedOverAndOver(Bench bench) {
        Device device = bench.device();
        Stream writer = bench.stream(device);
        Stream reader = bench.stream(device);
        Event written = bench.event(device);
        Event read = bench.event(device);
        Buffer cell = bench.buffer(device, 256);
        Buffer copy = bench.buffer(device, 256 * 90);
        Busy.on(bench, device).issue(writer);
        for (int i = 0; i < 90; i++) {
            if (i > 0) {
                writer.waitFor(read);
            }
            writer.fill(Bench.bytes(cell), 0x81 + i);
            writer.record(written);
            reader.waitFor(written);
            reader.copy(
                    io.weft.api.BufferView.vector(copy, 256L * i, 256, io.weft.api.ElementType.INT8),
                    Bench.bytes(cell));
            reader.record(read);
        }
        reader.synchronize();
        byte[] all = bench.download(copy);
        for (int i = 0; i < 90; i++) {
            bench.sameBytes(
                    "what was read in round " + i,
                    Bench.filled(256, 0x81 + i),
                    java.util.Arrays.copyOfRange(all, 256 * i, 256 * (i + 1)));
        }
        writer.synchronize();
    }

    @Proves("EVT-015")
    void closingAnEventLosesNoWait(Bench bench) {
        Device device = bench.device();
        Stream first = bench.stream(device);
        Stream second = bench.stream(device);
        Event event = bench.event(device);
        Buffer source = bench.buffer(device, BYTES);
        Buffer copy = bench.buffer(device, BYTES);
        Busy.on(bench, device).issue(first);
        first.fill(Bench.bytes(source), 0x3E);
        first.record(event);
        second.waitFor(event);
        event.close();
        second.copy(Bench.bytes(copy), Bench.bytes(source));
        second.synchronize();
        bench.holds("what was copied after the wait", Bench.filled(BYTES, 0x3E), copy);
        first.synchronize();
    }

    @Proves("EVT-016")
    void aThousandEventsLiveAtOnce(Bench bench) {
        Stream stream = bench.stream(bench.device());
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            bench.step("event " + i);
            events.add(bench.event(bench.device()));
            stream.record(events.getLast());
        }
        for (Event event : events) {
            event.synchronize();
        }
    }

    @Proves("EVT-017")
    void anEventMovesToAnotherStream(Bench bench) {
        Stream held = bench.stream(bench.device());
        Stream free = bench.stream(bench.device());
        Event event = bench.event(bench.device());
        Gate gate = Gate.on(bench, held);
        held.record(event);
        free.record(event);
        bench.step("synchronizing an event that was recorded again on a free stream");
        event.synchronize();
        bench.equal("query of the event", true, event.query());
        gate.open();
        held.synchronize();
    }

    @Proves("EVT-018")
    void timedAndUntimedEventsOrderAlike(Bench bench) {
        Device device = bench.device();
        for (EventOptions options : List.of(EventOptions.timed(), EventOptions.untimed())) {
            StreamProofs.ordered(bench, bench.stream(device), bench.stream(device), bench.event(device, options));
        }
    }

    @Proves("EVT-019")
    void pollingAnEventIsEnough(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Event event = bench.event(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        stream.fill(Bench.bytes(buffer), 0x22);
        stream.record(event);
        bench.eventually("the event is complete", event::query);
    }
}

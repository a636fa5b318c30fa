// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Event;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.spi.Enqueue;
import java.util.ArrayList;
import java.util.List;

/** Proofs of the rules about streams. What must wait is shown by data: the work before it is long, and whoever comes too early finds what was there before. */
final class StreamProofs {
    private static final int BYTES = 4_096;

    @Proves("STR-001")
    void synchronizeWaitsForWhatWasIssued(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        Busy busy = Busy.on(bench, bench.device());
        busy.issue(stream);
        stream.fill(Bench.bytes(buffer), 0x5C);
        stream.synchronize();
        bench.holds("the buffer that was filled last", Bench.filled(BYTES, 0x5C), buffer);
    }

    @Proves("STR-002")
    void commandsKeepTheirOrder(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer cell = bench.buffer(bench.device(), BYTES);
        List<Buffer> seen = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            seen.add(bench.buffer(bench.device(), BYTES));
        }
        for (int i = 0; i < seen.size(); i++) {
            stream.fill(Bench.bytes(cell), 0x11 * (i + 1));
            stream.copy(Bench.bytes(seen.get(i)), Bench.bytes(cell));
        }
        stream.synchronize();
        for (int i = 0; i < seen.size(); i++) {
            bench.holds("copy " + i + " of a cell", Bench.filled(BYTES, 0x11 * (i + 1)), seen.get(i));
        }
    }

    @Proves("STR-003")
    void aWaitOrdersStreamsOfADevice(Bench bench) {
        Device device = bench.device();
        ordered(bench, bench.stream(device), bench.stream(device), bench.event(device));
    }

    @Proves("STR-004")
    void aWaitOrdersStreamsOfTwoDevices(Bench bench) {
        List<Device> pair = bench.copyablePair();
        Device from = pair.get(0);
        Device to = pair.get(1);
        ordered(bench, bench.stream(from), bench.stream(to), bench.event(from));
    }

    /** Fills on the one stream after long work, copies on the other after a wait. */
    static void ordered(Bench bench, Stream first, Stream second, Event event) {
        Buffer source = bench.buffer(first.device(), BYTES);
        Buffer copy = bench.buffer(second.device(), BYTES);
        Busy.on(bench, first.device()).issue(first);
        first.fill(Bench.bytes(source), 0x3C);
        first.record(event);
        second.waitFor(event);
        second.copy(Bench.bytes(copy), Bench.bytes(source));
        second.synchronize();
        bench.holds("what was copied after the wait", Bench.filled(BYTES, 0x3C), copy);
    }

    @Proves("STR-005")
    void nonBlockingStreamsDoNotHoldEachOtherUp(Bench bench) {
        if (bench.device().properties().hardwareQueues() < 3) {
            throw new NotApplicable("the device has fewer than 3 hardware queues");
        }
        Stream held = bench.stream(bench.device());
        Stream free = bench.stream(bench.device());
        Gate gate = Gate.on(bench, held);
        runs(bench, free, 0x66, "a stream beside one that is held up");
        gate.open();
        held.synchronize();
    }

    private static void runs(Bench bench, Stream stream, int value, String what) {
        Buffer buffer = bench.buffer(stream.device(), BYTES);
        bench.step("running " + what);
        stream.fill(Bench.bytes(buffer), value);
        stream.synchronize();
        bench.holds("what was filled on " + what, Bench.filled(BYTES, value), buffer);
    }

    @Proves("STR-006")
    void theDefaultStreamWaitsForBlockingStreams(Bench bench) {
        Stream blocking = bench.stream(bench.device(), StreamOptions.defaults().withBlocking(true));
        joins(bench, blocking, bench.device().defaultStream());
    }

    @Proves("STR-007")
    void blockingStreamsWaitForTheDefaultStream(Bench bench) {
        Stream blocking = bench.stream(bench.device(), StreamOptions.defaults().withBlocking(true));
        joins(bench, bench.device().defaultStream(), blocking);
    }

    private static void joins(Bench bench, Stream first, Stream second) {
        Buffer source = bench.buffer(bench.device(), BYTES);
        Buffer copy = bench.buffer(bench.device(), BYTES);
        Busy.on(bench, bench.device()).issue(first);
        first.fill(Bench.bytes(source), 0x4D);
        second.copy(Bench.bytes(copy), Bench.bytes(source));
        second.synchronize();
        first.synchronize();
        bench.holds("what was copied by the joined stream", Bench.filled(BYTES, 0x4D), copy);
    }

    @Proves("STR-008")
    void nonBlockingStreamsDoNotWaitForTheDefaultStream(Bench bench) {
        if (bench.device().properties().hardwareQueues() < 2) {
            throw new NotApplicable("the device has one hardware queue");
        }
        Stream free = bench.stream(bench.device());
        Gate gate = Gate.on(bench, bench.device().defaultStream());
        runs(bench, free, 0x67, "a non-blocking stream while the default stream is held up");
        gate.open();
        bench.device().defaultStream().synchronize();
    }

    @Proves("STR-009")
    void moreStreamsThanQueuesWork(Bench bench) {
        int count = Math.max(48, 2 * bench.device().properties().hardwareQueues());
        List<Stream> streams = new ArrayList<>();
        List<Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            bench.step("using " + (i + 1) + " streams at once");
            streams.add(bench.stream(bench.device(), StreamOptions.defaults().withName("one of many")));
            buffers.add(bench.buffer(bench.device(), 256));
            streams.get(i).fill(Bench.bytes(buffers.get(i)), i + 1);
        }
        for (int i = 0; i < count; i++) {
            streams.get(i).synchronize();
            bench.holds("the buffer of stream " + i, Bench.filled(256, i + 1), buffers.get(i));
        }
    }

    @Proves("STR-010")
    void streamsAreNotUsedUp(Bench bench) {
        for (int i = 0; i < 300; i++) {
            bench.step("creating stream " + i + ", the others being closed");
            bench.device().createStream().close();
        }
    }

    @Proves("STR-011")
    void queryDoesNotSayCompleteTooEarly(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Gate gate = Gate.on(bench, stream);
        bench.equal("query while the stream is held up", false, stream.query());
        gate.open();
        stream.synchronize();
        bench.equal("query after synchronize", true, stream.query());
    }

    @Proves("STR-012")
    void pollingIsEnough(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        stream.fill(Bench.bytes(buffer), 0x21);
        bench.eventually("the stream is complete", stream::query);
    }

    @Proves("STR-013")
    void prioritiesKeepTheirSign(Bench bench) {
        for (Priority wish : Priority.values()) {
            Stream stream =
                    bench.stream(bench.device(), StreamOptions.defaults().withPriority(wish));
            Priority got = stream.effectivePriority();
            bench.that(
                    got == wish || got == Priority.NORMAL,
                    "the effective priority of a " + wish + " stream to be " + wish + " or NORMAL",
                    "it is " + got);
        }
    }

    @Proves("STR-014")
    void prioritiesDiffer(Bench bench) {
        Stream high = bench.stream(bench.device(), StreamOptions.defaults().withPriority(Priority.HIGH));
        bench.equal("the effective priority of a HIGH stream", Priority.HIGH, high.effectivePriority());
    }

    @Proves("STR-015")
    void refusedCommandsDoNotRun(Bench bench) {
        int commands = 6_000;
        Stream stream = bench.stream(bench.device());
        Buffer buffer = counter(bench);
        BufferView count = buffer.vector(1, ElementType.INT32);
        BufferView one = BufferView.vector(buffer, 4, 1, ElementType.INT32);
        Command add = new Command.Reduce(count, List.of(count, one), ReduceOp.SUM);
        int accepted = 0;
        for (int i = 0; i < commands; i++) {
            if (stream.tryEnqueue(add) == Enqueue.ACCEPTED) {
                accepted++;
            } else {
                stream.synchronize();
            }
        }
        stream.synchronize();
        int ran = counted(bench, buffer);
        bench.that(ran <= accepted, accepted + " accepted commands to run at most", ran + " ran");
    }

    @Proves("STR-016")
    void acceptedCommandsRunOnce(Bench bench) {
        int commands = 3_000;
        Stream stream = bench.stream(bench.device());
        Buffer buffer = counter(bench);
        BufferView count = buffer.vector(1, ElementType.INT32);
        BufferView one = BufferView.vector(buffer, 4, 1, ElementType.INT32);
        int accepted = 0;
        while (accepted < commands) {
            if (stream.tryEnqueue(new Command.Reduce(count, List.of(count, one), ReduceOp.SUM)) == Enqueue.ACCEPTED) {
                accepted++;
            } else {
                stream.synchronize();
            }
        }
        stream.synchronize();
        bench.equal("the number of commands that ran", commands, counted(bench, buffer));
    }

    /** A buffer of two integers: a count of 0, and 1. */
    private static Buffer counter(Bench bench) {
        Buffer buffer = bench.buffer(bench.device(), 8);
        buffer.write(ElementType.INT32, 0, 1);
        return buffer;
    }

    private static int counted(Bench bench, Buffer buffer) {
        bench.step("");
        return (int) buffer.read(ElementType.INT32, 1)[0];
    }

    @Proves("STR-017")
    void closingCompletesTheWork(Bench bench) {
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        Busy busy = Busy.on(bench, bench.device());
        Stream stream = bench.stream(bench.device());
        busy.issue(stream);
        stream.fill(Bench.bytes(buffer), 0x5D);
        stream.close();
        bench.holds("what was issued before the stream was closed", Bench.filled(BYTES, 0x5D), buffer);
    }

    @Proves("STR-018")
    void severalThreadsShareAStream(Bench bench) {
        int threads = 4;
        int each = 200;
        Stream stream = bench.stream(bench.device());
        Buffer buffer = counter(bench);
        BufferView count = buffer.vector(1, ElementType.INT32);
        BufferView one = BufferView.vector(buffer, 4, 1, ElementType.INT32);
        bench.together(threads, thread -> {
            for (int i = 0; i < each; i++) {
                stream.reduce(count, List.of(count, one), ReduceOp.SUM);
            }
        });
        stream.synchronize();
        bench.equal("the number of commands that ran", threads * each, counted(bench, buffer));
    }

    @Proves("STR-019")
    void devicesDoNotHoldEachOtherUp(Bench bench) {
        if (bench.platform().devices().size() < 3) {
            throw new NotApplicable("the platform has fewer than 3 devices");
        }
        Stream held = bench.stream(bench.device());
        Gate gate = Gate.on(bench, held);
        runs(bench, bench.stream(bench.platform().device(2)), 0x68, "a stream of another device");
        gate.open();
        held.synchronize();
    }

    @Proves("STR-020")
    void synchronizingADeviceWaitsForAllStreams(Bench bench) {
        Device device = bench.device();
        List<Stream> streams = List.of(
                bench.stream(device),
                device.defaultStream(),
                bench.stream(device, StreamOptions.defaults().withBlocking(true)),
                bench.stream(device));
        Busy busy = Busy.on(bench, device);
        List<Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < streams.size(); i++) {
            buffers.add(bench.buffer(device, 512));
            for (int times = 0; times <= i; times++) {
                busy.issue(streams.get(i));
            }
            streams.get(i).fill(Bench.bytes(buffers.get(i)), 0x51 + i);
        }
        streams.getFirst().close();
        device.synchronize();
        for (int i = 0; i < streams.size(); i++) {
            bench.holds("the buffer of stream " + i, Bench.filled(512, 0x51 + i), buffers.get(i));
        }
    }

    @Proves("STR-021")
    void waitsInACircleEnd(Bench bench) {
        Device device = bench.device();
        int count = device.properties().hardwareQueues() + 3;
        int rounds = 3;
        Buffer baton = bench.buffer(device, 8);
        baton.write(ElementType.INT32, 0, 1);
        BufferView value = baton.vector(1, ElementType.INT32);
        BufferView one = BufferView.vector(baton, 4, 1, ElementType.INT32);
        List<Stream> streams = new ArrayList<>();
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            streams.add(bench.stream(device));
            events.add(bench.event(device));
        }
        Busy.on(bench, device).issue(streams.getFirst());
        for (int step = 0; step < rounds * count; step++) {
            Stream stream = streams.get(step % count);
            if (step > 0) {
                stream.waitFor(events.get((step - 1) % count));
            }
            stream.reduce(value, List.of(value, one), ReduceOp.SUM);
            stream.record(events.get(step % count));
        }
        for (Stream stream : streams) {
            stream.synchronize();
        }
        bench.equal("the number of hands that the baton went through", rounds * count, counted(bench, baton));
    }

    @Proves("STR-022")
    void anIdleStreamIsComplete(Bench bench) {
        Stream stream = bench.stream(bench.device());
        bench.equal("query of a fresh stream", true, stream.query());
        stream.synchronize();
        Buffer buffer = bench.buffer(bench.device(), 64);
        stream.fill(Bench.bytes(buffer), 1);
        stream.synchronize();
        bench.equal("query after synchronize", true, stream.query());
        stream.synchronize();
    }

    @Proves("STR-023")
    void theDefaultStreamKeepsOrder(Bench bench) {
        Stream stream = bench.device().defaultStream();
        Buffer cell = bench.buffer(bench.device(), BYTES);
        Buffer first = bench.buffer(bench.device(), BYTES);
        Buffer second = bench.buffer(bench.device(), BYTES);
        Busy.on(bench, bench.device()).issue(stream);
        stream.fill(Bench.bytes(cell), 0x12);
        stream.copy(Bench.bytes(first), Bench.bytes(cell));
        stream.fill(Bench.bytes(cell), 0x13);
        stream.copy(Bench.bytes(second), Bench.bytes(cell));
        stream.synchronize();
        bench.holds("the first copy", Bench.filled(BYTES, 0x12), first);
        bench.holds("the second copy", Bench.filled(BYTES, 0x13), second);
    }

    @Proves("STR-024")
    void synchronizingADeviceWaitsForNoOther(Bench bench) {
        if (bench.platform().devices().size() < 3) {
            throw new NotApplicable("the platform has fewer than 3 devices");
        }
        Stream held = bench.stream(bench.device());
        Gate gate = Gate.on(bench, held);
        bench.step("synchronizing a device while another one's stream is held up");
        bench.platform().device(2).synchronize();
        gate.open();
        held.synchronize();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.Leftovers;
import io.weft.spi.DeviceDriver;
import io.weft.spi.DeviceMemory;
import io.weft.spi.EventDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import io.weft.spi.SymmetricMemoryDriver;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Proofs of the rules about lifetimes. */
final class LifetimeProofs {
    private static final int BYTES = 2_048;
    /** Rounds of which one must take no memory. */
    private static final int ROUNDS = 3;

    @Proves("LIF-003")
    void freedMemoryIsFree(Bench bench) {
        Device device = bench.device();
        long before = device.memoryInfo().freeBytes();
        Buffer buffer = bench.raw(device, MemoryKind.DEVICE, 1 << 20);
        buffer.close();
        bench.equal(
                "free bytes after the memory was freed",
                before,
                device.memoryInfo().freeBytes());
    }

    @Proves("LIF-004")
    void closedStreamsGiveTheirMemoryBack(Bench bench) {
        same(bench, "40 streams that were closed", () -> {
            for (int i = 0; i < 40; i++) {
                bench.device().createStream().close();
            }
        });
    }

    @Proves("LIF-005")
    void closedEventsGiveTheirMemoryBack(Bench bench) {
        Stream stream = bench.stream(bench.device());
        same(bench, "100 events that were closed", () -> {
            for (int i = 0; i < 100; i++) {
                Event event = bench.event(bench.device(), EventOptions.timed());
                stream.record(event);
                event.synchronize();
                event.close();
            }
        });
    }

    @Proves("LIF-006")
    void closedCommunicatorsGiveTheirMemoryBack(Bench bench) {
        List<Device> devices = bench.devicesUpTo(4);
        same(bench, "3 communicators that were closed", () -> {
            for (int i = 0; i < 3; i++) {
                Communicator.over(bench.platform(), devices).close();
            }
        });
    }

    @Proves("LIF-007")
    void closedGraphsGiveTheirMemoryBack(Bench bench) {
        CommandGraph.Builder builder = CommandGraph.builder(1);
        Slot from = builder.slot(0, "from", BYTES, Slot.Role.INPUT);
        Slot to = builder.slot(0, "to", BYTES, Slot.Role.OUTPUT);
        builder.add(
                0,
                0,
                Priority.NORMAL,
                new Command.Copy(
                        BufferView.vector(to, 0, BYTES, ElementType.INT8),
                        BufferView.vector(from, 0, BYTES, ElementType.INT8),
                        CopyMethod.AUTO),
                "copy");
        CommandGraph graph = builder.build();
        GraphDriver graphs = bench.extension(GraphDriver.class);
        same(bench, "20 graphs that were closed", () -> {
            for (int i = 0; i < 20; i++) {
                graphs.instantiate(graph, List.of(bench.device().driver())).close();
            }
        });
    }

    @Proves("LIF-008")
    void freedWindowsAreFree(Bench bench) {
        SymmetricMemoryDriver symmetric = bench.extension(SymmetricMemoryDriver.class);
        List<DeviceDriver> devices =
                bench.devicesUpTo(4).stream().map(Device::driver).toList();
        same(bench, "symmetric memory that was freed", () -> {
            List<? extends DeviceMemory> windows = symmetric.reserve(devices, 2 * symmetric.windowAlignment());
            for (int i = 0; i < windows.size(); i++) {
                devices.get(i).free(windows.get(i));
            }
        });
    }

    /**
     * Work that opens and closes takes no more memory each time. Its first round is not counted, and neither is any before one that takes nothing: drivers keep memory for handles to come, as CUDA does for the
     * channels of streams.
     */
    private static void same(Bench bench, String what, Runnable work) {
        work.run();
        long[] before = Leftovers.freeBytes(bench.platform());
        for (int round = 1; ; round++) {
            work.run();
            long[] after = Leftovers.freeBytes(bench.platform());
            int less = less(before, after);
            if (less < 0) {
                return;
            }
            bench.that(
                    round < ROUNDS,
                    before[less] + " bytes free on device " + less + " after " + what + ", for the " + (round + 1)
                            + ". time",
                    "it is " + after[less] + "; each time took more");
            before = after;
        }
    }

    /** The first device with less memory than before, or -1. */
    private static int less(long[] before, long[] after) {
        for (int i = 0; i < before.length; i++) {
            if (after[i] < before[i]) {
                return i;
            }
        }
        return -1;
    }

    @Proves("LIF-009")
    void anEventOutlivesItsStream(Bench bench) {
        Device device = bench.device();
        Buffer source = bench.buffer(device, BYTES);
        Buffer copy = bench.buffer(device, BYTES);
        Event event = bench.event(device);
        Stream first = bench.stream(device);
        Stream second = bench.stream(device);
        Busy.on(bench, device).issue(first);
        first.fill(Bench.bytes(source), 0x3F);
        first.record(event);
        first.close();
        second.waitFor(event);
        second.copy(Bench.bytes(copy), Bench.bytes(source));
        second.synchronize();
        event.synchronize();
        bench.holds("what was copied after the wait", Bench.filled(BYTES, 0x3F), copy);
    }

    /** A platform with a stream under way, an event and memory, all open. */
    private static PlatformDriver inUse(Bench bench, List<Runnable> closers) {
        Platform platform = bench.openAnother();
        Device device = platform.devices().getFirst();
        Buffer buffer = device.allocate(BYTES);
        StreamDriver stream = device.createStream().driver();
        EventDriver event = device.createEvent(EventOptions.untimed()).driver();
        stream.enqueue(new Command.Fill(Bench.bytes(buffer), 1));
        stream.record(event);
        DeviceMemory memory = buffer.memory();
        closers.add(stream::close);
        closers.add(event::close);
        closers.add(() -> device.driver().free(memory));
        bench.step("closing a platform with live handles");
        platform.close();
        return platform.driver();
    }

    @Proves("LIF-010")
    void aPlatformInUseIsClosed(Bench bench) {
        inUse(bench, new ArrayList<>());
    }

    @Proves("LIF-011")
    void handlesOfAClosedPlatformAreClosed(Bench bench) {
        List<Runnable> closers = new ArrayList<>();
        inUse(bench, closers);
        bench.step("closing handles of a platform that was closed");
        closers.forEach(Runnable::run);
    }

    @Proves("LIF-012")
    void aPlatformFindsTheMemoryFreeAgain(Bench bench) {
        long[] first;
        try (Platform platform = open(bench)) {
            first = Leftovers.freeBytes(platform);
        }
        inUse(bench, new ArrayList<>());
        try (Platform platform = open(bench)) {
            long[] again = Leftovers.freeBytes(platform);
            for (int i = 0; i < first.length; i++) {
                bench.equal("free bytes of device " + i + " on a platform opened later", first[i], again[i]);
            }
        }
    }

    private static Platform open(Bench bench) {
        return new Platform(
                bench.subject().uri(), bench.subject().open(bench.subject().uri()));
    }

    @Proves("LIF-013")
    void openPlatformsLeaveEachOtherAlone(Bench bench) {
        byte[] data = bench.randomBytes(BYTES);
        Buffer own = bench.upload(bench.device(), data);
        Stream stream = bench.stream(bench.device());
        Buffer copy = bench.buffer(bench.device(), BYTES);
        Platform other = bench.openAnother();
        Device device = other.devices().getFirst();
        Stream otherStream = device.createStream();
        List<Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            buffers.add(device.allocate(BYTES));
            otherStream.fill(Bench.bytes(buffers.getLast()), 0x77);
        }
        otherStream.synchronize();
        stream.copy(Bench.bytes(copy), Bench.bytes(own));
        stream.synchronize();
        bench.holds("a buffer of this platform", data, own);
        bench.holds("a copy on this platform", data, copy);
        for (Buffer buffer : buffers) {
            bench.holds("a buffer of the other platform", Bench.filled(BYTES, 0x77), buffer);
        }
        other.close();
        stream.fill(Bench.bytes(copy), 0x55);
        stream.synchronize();
        bench.holds("what was filled after the other platform was closed", Bench.filled(BYTES, 0x55), copy);
    }

    @Proves("LIF-014")
    void noThreadIsLeftBehind(Bench bench) {
        Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
        Platform platform = bench.openAnother();
        try (Stream stream = platform.devices().getFirst().createStream()) {
            stream.synchronize();
        }
        platform.close();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            bench.that(
                    before.contains(thread)
                            || thread.isDaemon()
                            || !thread.isAlive()
                            || !Thread.currentThread().getThreadGroup().equals(thread.getThreadGroup()),
                    "no thread left that is no daemon",
                    "there is '" + thread.getName() + "'");
        }
    }

    @Proves("LIF-015")
    void platformsAreOpenedOverAndOver(Bench bench) {
        for (int i = 0; i < 12; i++) {
            bench.step("opening the platform for the " + (i + 1) + ". time");
            open(bench).close();
        }
    }

    @Proves("LIF-016")
    void closingAStreamLeavesTheOthersAlone(Bench bench) {
        Device device = bench.device();
        List<Stream> streams = new ArrayList<>();
        List<Buffer> buffers = new ArrayList<>();
        Busy busy = Busy.on(bench, device);
        int count = 2 * Math.min(8, device.properties().hardwareQueues()) + 2;
        for (int i = 0; i < count; i++) {
            streams.add(bench.stream(device));
            buffers.add(bench.buffer(device, 256));
        }
        busy.issue(streams.getFirst());
        for (int i = 0; i < count; i++) {
            streams.get(i).fill(Bench.bytes(buffers.get(i)), 0x71);
            if (i % 2 == 1) {
                streams.get(i).close();
            }
        }
        for (int i = 0; i < count; i += 2) {
            streams.get(i).fill(Bench.bytes(buffers.get(i)), 0x72);
        }
        for (int i = 0; i < count; i += 2) {
            streams.get(i).synchronize();
            bench.holds("the buffer of stream " + i + ", which stayed open", Bench.filled(256, 0x72), buffers.get(i));
        }
    }
}

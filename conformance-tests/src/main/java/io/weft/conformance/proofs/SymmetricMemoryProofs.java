// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.MemoryKind;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.reference.Collectives;
import io.weft.conformance.reference.Expectation;
import io.weft.spi.DeviceMemory;
import io.weft.spi.SymmetricMemoryDriver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Symmetric memory: equal reservations on several devices, reached by device and offset. */
final class SymmetricMemoryProofs {
    private static final int BLOCK = 512;

    private static SymmetricMemoryDriver driver(Bench bench) {
        return bench.extension(SymmetricMemoryDriver.class);
    }

    /** A reservation whose buffers the bench closes. */
    private static List<Buffer> reserve(Bench bench, List<Device> devices, long bytes) {
        List<? extends DeviceMemory> memories =
                driver(bench).reserve(devices.stream().map(Device::driver).toList(), bytes);
        List<Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < memories.size(); i++) {
            Device device = bench.platform()
                    .device(memories.get(i).device().properties().ordinal());
            buffers.add(bench.adopted(device, memories.get(i)));
        }
        return buffers;
    }

    private static long window(Bench bench) {
        return driver(bench).windowAlignment();
    }

    @Proves("SYM-002")
    void theAlignmentIsAPowerOfTwo(Bench bench) {
        long alignment = window(bench);
        bench.that(alignment > 0 && Long.bitCount(alignment) == 1, "a power of two as alignment", "it is " + alignment);
        for (Device device : bench.platform().devices()) {
            bench.that(
                    alignment >= device.properties().allocationAlignment(),
                    "an alignment of at least " + device.properties().allocationAlignment() + " bytes",
                    "it is " + alignment);
        }
    }

    @Proves("SYM-003")
    void everyDeviceGetsItsPart(Bench bench) {
        List<Device> devices = bench.devicesUpTo(4);
        long bytes = 2 * window(bench);
        List<Buffer> buffers = reserve(bench, devices, bytes);
        bench.equal("the number of allocations", devices.size(), buffers.size());
        for (int i = 0; i < devices.size(); i++) {
            bench.equal(
                    "the device of allocation " + i,
                    devices.get(i).ordinal(),
                    buffers.get(i).device().ordinal());
            bench.equal("the bytes of allocation " + i, bytes, buffers.get(i).bytes());
        }
    }

    @Proves("SYM-004")
    void windowsAreAligned(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        long alignment = window(bench);
        for (int round = 0; round < 3; round++) {
            // Something small in between, so that the next address is not aligned by chance.
            devices.forEach(device -> bench.raw(device, MemoryKind.DEVICE, 1));
            for (Buffer buffer : reserve(bench, devices, alignment)) {
                bench.that(
                        buffer.address() % alignment == 0,
                        "an address that is a multiple of " + alignment,
                        "it is 0x" + Long.toHexString(buffer.address()) + " on device "
                                + buffer.device().ordinal());
            }
        }
    }

    @Proves("SYM-005")
    void equalOffsetsCorrespond(Bench bench) {
        List<Device> devices = bench.copyablePair();
        long bytes = 2 * window(bench);
        List<Buffer> windows = reserve(bench, devices, bytes);
        long offset = window(bench) + BLOCK;
        for (int side = 0; side < 2; side++) {
            byte[] data = bench.randomBytes(BLOCK);
            Buffer source = bench.upload(devices.get(side), data);
            Stream stream = bench.stream(devices.get(side));
            bench.step("device " + devices.get(side).ordinal() + " writes at offset " + offset + " of its peer");
            stream.copy(BufferView.vector(windows.get(1 - side), offset, BLOCK, ElementType.INT8), Bench.bytes(source));
            stream.synchronize();
            byte[] found = new byte[BLOCK];
            windows.get(1 - side).read(MemorySegment.ofArray(found), offset);
            bench.sameBytes("the peer's bytes at the same offset", data, found);
        }
    }

    @Proves("SYM-006")
    void allOrNothingIsReserved(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        long alignment = window(bench);
        long[] before = free(devices);
        long more = (Arrays.stream(before).max().orElseThrow() / alignment + 2) * alignment;
        bench.refuses(
                "a reservation of more memory than a device has",
                () -> reserve(bench, devices, more),
                ErrorCode.OUT_OF_MEMORY);
        for (int i = 0; i < devices.size(); i++) {
            long after = devices.get(i).memoryInfo().freeBytes();
            // More is no fault: a backend may give up what it kept of earlier work before it refuses.
            bench.that(
                    after >= before[i],
                    "the free bytes of device " + i + " after a refused reservation to be " + before[i] + " or more",
                    "it is " + after);
        }
    }

    private static long[] free(List<Device> devices) {
        return devices.stream()
                .mapToLong(device -> device.memoryInfo().freeBytes())
                .toArray();
    }

    @Proves("SYM-008")
    void reservationsAreApart(Bench bench) {
        List<Device> devices = bench.devicesUpTo(2);
        int bytes = Math.toIntExact(window(bench));
        List<List<Buffer>> all = new ArrayList<>();
        List<byte[]> data = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            List<Buffer> windows = reserve(bench, devices, bytes);
            for (Buffer one : windows) {
                data.add(bench.randomBytes(bytes));
                one.write(0, MemorySegment.ofArray(data.getLast()));
            }
            all.add(windows);
        }
        for (int i = 0; i < 3; i++) {
            for (int d = 0; d < devices.size(); d++) {
                bench.holds(
                        "reservation " + i + " on device " + d,
                        data.get(i * devices.size() + d),
                        all.get(i).get(d));
            }
        }
    }

    @Proves("SYM-009")
    void collectivesRunOnWindows(Bench bench) {
        List<Device> devices = bench.devicesUpTo(3);
        int ranks = devices.size();
        List<Buffer> windows = reserve(bench, devices, 2 * window(bench));
        Communicator communicator = bench.communicator(devices);
        List<Stream> streams = devices.stream().map(bench::stream).toList();
        int[][] sent = new int[ranks][];
        bench.step("a reduction from the start of each window to its middle");
        try (Communicator.Group group = communicator.group()) {
            for (int rank = 0; rank < ranks; rank++) {
                sent[rank] = Elements.random(bench, ElementType.FP32, 128);
                windows.get(rank).write(0, MemorySegment.ofArray(Elements.bytes(ElementType.FP32, sent[rank])));
                group.allReduce(
                        rank,
                        windows.get(rank).vector(128, ElementType.FP32),
                        BufferView.vector(windows.get(rank), window(bench), 128, ElementType.FP32),
                        ReduceOp.SUM,
                        streams.get(rank));
            }
        }
        streams.forEach(Stream::synchronize);
        Expectation[] expected = Collectives.results(
                CollectiveKind.ALL_REDUCE, ReduceOp.Kind.SUM, new float[ranks], ElementType.FP32, 0, sent);
        for (int rank = 0; rank < ranks; rank++) {
            Elements.expect(
                    bench,
                    "rank " + rank,
                    expected[rank],
                    BufferView.vector(windows.get(rank), window(bench), 128, ElementType.FP32));
        }
    }

    @Proves("SYM-010")
    void someDevicesInAnyOrder(Bench bench) {
        List<Device> devices = bench.devices(3);
        List<Device> some = List.of(devices.get(2), devices.get(0));
        List<Buffer> windows = reserve(bench, some, window(bench));
        for (int i = 0; i < some.size(); i++) {
            bench.equal(
                    "the device of allocation " + i,
                    some.get(i).ordinal(),
                    windows.get(i).device().ordinal());
            byte[] data = bench.randomBytes(BLOCK);
            windows.get(i).write(0, MemorySegment.ofArray(data));
            Buffer copy = bench.buffer(some.get(i), BLOCK);
            Stream stream = bench.stream(some.get(i));
            stream.copy(Bench.bytes(copy), windows.get(i).vector(BLOCK, ElementType.INT8));
            stream.synchronize();
            bench.holds("a copy out of the window", data, copy);
        }
    }
}

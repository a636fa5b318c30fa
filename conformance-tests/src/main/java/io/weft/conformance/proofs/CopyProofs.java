// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.MatrixLayout;
import io.weft.api.MemoryKind;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.topology.Link;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.NotApplicable;
import io.weft.conformance.reference.SlotMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Copies and engines. Data tell, never the status of a call. */
final class CopyProofs {
    /** A size that no method switch is near, a whole number of words. */
    private static final int PLAIN = 3072;

    private static final int[] ODD = {1, 2, 3, 5, 7, 9, 15, 17, 31, 127, 129, 1021, 4097};

    /** Issues one copy, waits, and requires the destination's elements; nothing else is looked at. */
    private static void copies(
            Bench bench, String what, Stream stream, BufferView destination, BufferView source, CopyMethod method) {
        int[] expected = Elements.of(bench, source);
        bench.step(what);
        stream.copy(destination, source, method);
        stream.synchronize();
        Elements.expectBits(bench, what, expected, destination);
    }

    private static Buffer random(Bench bench, Device device, int bytes) {
        return bench.upload(device, bench.randomBytes(bytes));
    }

    private static Buffer randomHost(Bench bench, Device device, int bytes) {
        Buffer buffer = bench.buffer(device, MemoryKind.HOST_PINNED, bytes);
        buffer.write(0, MemorySegment.ofArray(bench.randomBytes(bytes)));
        return buffer;
    }

    private static List<Device[]> copyablePairs(Bench bench) {
        List<Device[]> pairs = new ArrayList<>();
        for (Link link : links(bench)) {
            if (link.copyable()) {
                pairs.add(new Device[] {
                    bench.platform().device(link.from()), bench.platform().device(link.to())
                });
            }
        }
        if (pairs.isEmpty()) {
            throw new NotApplicable("no device can copy to another");
        }
        return pairs;
    }

    private static List<Link> links(Bench bench) {
        List<Link> links = new ArrayList<>();
        int devices = bench.platform().topology().devices();
        for (int from = 0; from < devices; from++) {
            for (int to = 0; to < devices; to++) {
                if (from != to) {
                    links.add(bench.platform().topology().link(from, to));
                }
            }
        }
        return links;
    }

    private static String pair(Device from, Device to) {
        return "the copy from device " + from.ordinal() + " to device " + to.ordinal();
    }

    @Proves("CPY-001")
    void aCopyInsideADeviceWritesEverything(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        for (int bytes : new int[] {64, PLAIN, 40_960}) {
            Buffer source = random(bench, device, bytes);
            Buffer destination = bench.buffer(device, bytes);
            copies(
                    bench,
                    "a copy of " + bytes + " bytes",
                    stream,
                    Bench.bytes(destination),
                    Bench.bytes(source),
                    CopyMethod.AUTO);
        }
    }

    @Proves("CPY-002")
    void everyMethodCopiesInsideADevice(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        for (CopyMethod method : CopyMethod.values()) {
            Buffer source = random(bench, device, PLAIN);
            Buffer destination = bench.buffer(device, PLAIN);
            copies(bench, "a copy by " + method, stream, Bench.bytes(destination), Bench.bytes(source), method);
        }
    }

    @Proves("CPY-003")
    void theReceivingDeviceCopies(Bench bench) {
        for (Device[] pair : copyablePairs(bench)) {
            Buffer source = random(bench, pair[0], PLAIN);
            Buffer destination = bench.buffer(pair[1], PLAIN);
            copies(
                    bench,
                    pair(pair[0], pair[1]) + ", issued by the receiver",
                    bench.stream(pair[1]),
                    Bench.bytes(destination),
                    Bench.bytes(source),
                    CopyMethod.AUTO);
        }
    }

    @Proves("CPY-004")
    void theSendingDeviceCopies(Bench bench) {
        for (Device[] pair : copyablePairs(bench)) {
            Buffer source = random(bench, pair[0], PLAIN);
            Buffer destination = bench.buffer(pair[1], PLAIN);
            copies(
                    bench,
                    pair(pair[0], pair[1]) + ", issued by the sender",
                    bench.stream(pair[0]),
                    Bench.bytes(destination),
                    Bench.bytes(source),
                    CopyMethod.AUTO);
        }
    }

    @Proves("CPY-005")
    void everyMethodCopiesBetweenDevices(Bench bench) {
        List<Device> pair = bench.copyablePair();
        for (CopyMethod method : CopyMethod.values()) {
            for (Device issuer : pair) {
                Buffer source = random(bench, pair.get(0), PLAIN);
                Buffer destination = bench.buffer(pair.get(1), PLAIN);
                copies(
                        bench,
                        pair(pair.get(0), pair.get(1)) + " by " + method + " on a stream of device " + issuer.ordinal(),
                        bench.stream(issuer),
                        Bench.bytes(destination),
                        Bench.bytes(source),
                        method);
            }
        }
    }

    @Proves("CPY-006")
    void hostMemoryIsCopiedBothWays(Bench bench) {
        hostBothWays(bench, CopyMethod.AUTO);
    }

    @Proves("CPY-007")
    void everyMethodCopiesHostMemory(Bench bench) {
        hostBothWays(bench, CopyMethod.ENGINE);
        hostBothWays(bench, CopyMethod.KERNEL);
    }

    private static void hostBothWays(Bench bench, CopyMethod method) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        Buffer host = randomHost(bench, device, PLAIN);
        Buffer there = bench.buffer(device, PLAIN);
        copies(bench, "a copy to the device by " + method, stream, Bench.bytes(there), Bench.bytes(host), method);
        Buffer back = bench.buffer(device, MemoryKind.HOST_PINNED, PLAIN);
        Buffer source = random(bench, device, PLAIN);
        copies(bench, "a copy to the host by " + method, stream, Bench.bytes(back), Bench.bytes(source), method);
    }

    @Proves("CPY-008")
    void oddSizesAreCopied(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        Buffer source = random(bench, device, 4097);
        for (int bytes : ODD) {
            Buffer destination = bench.buffer(device, bytes);
            copies(
                    bench,
                    "a copy of " + bytes + " bytes",
                    stream,
                    Bench.bytes(destination),
                    source.vector(bytes, ElementType.INT8),
                    CopyMethod.AUTO);
        }
    }

    @Proves("CPY-009")
    void oddOffsetsAreCopied(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        Buffer source = random(bench, device, 1200);
        for (int from : new int[] {0, 1, 2, 3, 7, 61}) {
            for (int to : new int[] {0, 1, 3, 5, 63}) {
                Buffer destination = bench.buffer(device, 1200);
                copies(
                        bench,
                        "a copy from offset " + from + " to offset " + to,
                        stream,
                        BufferView.vector(destination, to, 1024, ElementType.INT8),
                        BufferView.vector(source, from, 1024, ElementType.INT8),
                        CopyMethod.AUTO);
            }
        }
    }

    @Proves("CPY-010")
    void nothingOutsideTheDestinationChanges(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        Buffer source = random(bench, device, 4096);
        for (int bytes : new int[] {1, 3, 4, 33, 60, 250, 1021}) {
            for (CopyMethod method : CopyMethod.values()) {
                byte[] before = bench.randomBytes(1536);
                Buffer destination = bench.upload(device, before);
                BufferView view = BufferView.vector(destination, 256, bytes, ElementType.INT8);
                byte[] expected = before.clone();
                SlotMemory.write(expected, view, Elements.of(bench, source.vector(bytes, ElementType.INT8)));
                bench.step("a copy of " + bytes + " bytes by " + method + " into the middle of a buffer");
                stream.copy(view, source.vector(bytes, ElementType.INT8), method);
                stream.synchronize();
                bench.holds("the buffer around the copy's destination", expected, destination);
            }
        }
    }

    @Proves("CPY-011")
    void theSourceStays(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        for (CopyMethod method : CopyMethod.values()) {
            byte[] data = bench.randomBytes(PLAIN);
            Buffer source = bench.upload(device, data);
            Buffer destination = bench.buffer(device, PLAIN);
            bench.step("a copy by " + method);
            stream.copy(Bench.bytes(destination), Bench.bytes(source), method);
            stream.synchronize();
            bench.holds("the copy's source", data, source);
        }
    }

    @Proves("CPY-012")
    void sizesAroundMethodSwitchesAreCopied(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        int largest = (1 << 20) + 4;
        byte[] data = bench.randomBytes(largest);
        Buffer source = bench.upload(device, data);
        Buffer destination = bench.buffer(device, largest);
        for (int bytes : new int[] {4092, 4100, 16_380, 16_388, 65_532, 65_540, (1 << 20) - 4, 1 << 20, largest}) {
            bench.step("a copy of " + bytes + " bytes");
            stream.fill(Bench.bytes(destination), 0x11);
            stream.copy(destination.vector(bytes, ElementType.INT8), source.vector(bytes, ElementType.INT8));
            stream.synchronize();
            byte[] found = new byte[bytes];
            destination.read(MemorySegment.ofArray(found), 0);
            bench.sameBytes("the copy's destination", Arrays.copyOf(data, bytes), found);
        }
    }

    @Proves("CPY-013")
    void everyPatternSurvives(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        for (ElementType type : ElementType.values()) {
            int[] patterns = patterns(bench, type);
            Buffer source = bench.upload(device, Elements.bytes(type, patterns));
            Buffer destination = bench.buffer(device, (long) patterns.length * type.bytes());
            copies(
                    bench,
                    "a copy of " + type,
                    stream,
                    destination.vector(patterns.length, type),
                    source.vector(patterns.length, type),
                    CopyMethod.AUTO);
        }
    }

    /** Every pattern of a byte; for wider types zeros, infinities, quiet and signalling NaNs with payloads, and random patterns. */
    private static int[] patterns(Bench bench, ElementType type) {
        int[] patterns = new int[256];
        for (int i = 0; i < patterns.length; i++) {
            patterns[i] = type.bytes() == 1 ? i : bench.random().nextInt();
        }
        int[] special = type.bytes() == 2
                ? new int[] {0x0000, 0x8000, 0x7C00, 0xFC00, 0x7C01, 0xFE01, 0x7F80, 0xFF80, 0x7F81, 0xFFC5, 0x0001}
                : new int[] {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC12345, 1, 0x7FA00000};
        if (type.bytes() > 1) {
            System.arraycopy(special, 0, patterns, 0, special.length);
            for (int i = 0; i < patterns.length; i++) {
                patterns[i] = type.bytes() == 2 ? patterns[i] & 0xFFFF : patterns[i];
            }
        }
        return patterns;
    }

    @Proves("CPY-014")
    void nothingIsCopiedByACopyOfNothing(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        byte[] before = bench.randomBytes(64);
        Buffer source = random(bench, device, 64);
        Buffer destination = bench.upload(device, before);
        for (CopyMethod method : CopyMethod.values()) {
            bench.step("a copy of 0 elements by " + method);
            stream.copy(
                    BufferView.vector(destination, 16, 0, ElementType.INT8),
                    BufferView.vector(source, 0, 0, ElementType.INT8),
                    method);
            stream.enqueue(new Command.CopyStrided(
                    BufferView.pitched(destination, 0, 3, 0, 8, ElementType.INT8),
                    BufferView.pitched(source, 0, 3, 0, 16, ElementType.INT8),
                    method));
        }
        stream.synchronize();
        bench.holds("the destination of empty copies", before, destination);
    }

    /** A strided copy between two pitches; looks at the elements alone. */
    private static void strided(
            Bench bench, ElementType type, int rows, int columns, int toPitch, int fromPitch, MatrixLayout layout) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        int major = layout == MatrixLayout.ROW_MAJOR ? rows : columns;
        for (CopyMethod method : CopyMethod.values()) {
            Buffer source = random(bench, device, major * fromPitch * type.bytes());
            Buffer destination = bench.buffer(device, (long) major * toPitch * type.bytes());
            BufferView from = new BufferView(source, 0, rows, columns, fromPitch, layout, type);
            BufferView to = new BufferView(destination, 0, rows, columns, toPitch, layout, type);
            int[] expected = Elements.of(bench, from);
            String what = "a copy of [" + rows + ", " + columns + "] " + type + " from pitch " + fromPitch
                    + " to pitch " + toPitch + " by " + method;
            bench.step(what);
            stream.enqueue(new Command.CopyStrided(to, from, method));
            stream.synchronize();
            Elements.expectBits(bench, what, expected, to);
        }
    }

    @Proves("CPY-015")
    void everyPitchIsHonoured(Bench bench) {
        for (int[] pitches : new int[][] {{12, 12}, {12, 20}, {20, 12}, {20, 20}, {16, 64}, {64, 16}}) {
            strided(bench, ElementType.FP32, 9, 12, pitches[0], pitches[1], MatrixLayout.ROW_MAJOR);
        }
    }

    @Proves("CPY-016")
    void gapsOfAStridedCopyStay(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        for (CopyMethod method : CopyMethod.values()) {
            byte[] before = bench.randomBytes(7 * 24 * 4);
            Buffer source = random(bench, device, 7 * 24 * 4);
            Buffer destination = bench.upload(device, before);
            BufferView from = BufferView.pitched(source, 0, 7, 16, 24, ElementType.FP32);
            BufferView to = BufferView.pitched(destination, 0, 7, 16, 24, ElementType.FP32);
            byte[] expected = before.clone();
            SlotMemory.write(expected, to, Elements.of(bench, from));
            bench.step("a strided copy by " + method);
            stream.copy(to, from, method);
            stream.synchronize();
            bench.holds("the destination with its gaps", expected, destination);
        }
    }

    @Proves("CPY-017")
    void oddWidthsAndPitchesAreHonoured(Bench bench) {
        for (ElementType type : List.of(ElementType.INT8, ElementType.BF16, ElementType.FP32)) {
            for (int[] shape : new int[][] {{5, 1, 3, 7}, {3, 7, 9, 7}, {6, 13, 13, 17}, {4, 33, 35, 65}}) {
                strided(bench, type, shape[0], shape[1], shape[2], shape[3], MatrixLayout.ROW_MAJOR);
            }
        }
    }

    @Proves("CPY-018")
    void columnMajorViewsAreCopied(Bench bench) {
        strided(bench, ElementType.FP32, 12, 12, 16, 20, MatrixLayout.COLUMN_MAJOR);
        strided(bench, ElementType.FP32, 20, 8, 24, 20, MatrixLayout.COLUMN_MAJOR);
    }

    @Proves("CPY-019")
    void everyRowIsCopiedBetweenDevices(Bench bench) {
        List<Device> pair = bench.copyablePair();
        for (CopyMethod method : CopyMethod.values()) {
            for (Device issuer : pair) {
                Buffer source = random(bench, pair.get(0), 9 * 48);
                Buffer destination = bench.buffer(pair.get(1), 9 * 64);
                copies(
                        bench,
                        "a strided copy between devices by " + method + " on a stream of device " + issuer.ordinal(),
                        bench.stream(issuer),
                        BufferView.pitched(destination, 0, 9, 8, 16, ElementType.FP32),
                        BufferView.pitched(source, 0, 9, 8, 12, ElementType.FP32),
                        method);
            }
        }
    }

    @Proves("CPY-020")
    void copiesOfOneStreamKeepTheirOrder(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        int bytes = 65_536;
        Buffer first = random(bench, device, bytes);
        List<Buffer> stations = new ArrayList<>();
        bench.step("a chain of copies by changing methods");
        Buffer from = first;
        for (int i = 0; i < 6; i++) {
            Buffer to = bench.buffer(device, bytes);
            stream.copy(Bench.bytes(to), Bench.bytes(from), i % 2 == 0 ? CopyMethod.ENGINE : CopyMethod.KERNEL);
            stations.add(to);
            from = to;
        }
        stream.synchronize();
        byte[] expected = bench.download(first);
        for (int i = 0; i < stations.size(); i++) {
            bench.holds("station " + i + " of the chain", expected, stations.get(i));
        }
    }

    @Proves("CPY-021")
    void whatACopyHasToReadIsNotOverwritten(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        int bytes = 65_536;
        for (CopyMethod method : List.of(CopyMethod.ENGINE, CopyMethod.KERNEL)) {
            byte[] data = bench.randomBytes(bytes);
            Buffer source = bench.upload(device, data);
            Buffer destination = bench.buffer(device, bytes);
            Buffer other = random(bench, device, bytes);
            bench.step("a copy by " + method + " and another over its source");
            stream.copy(Bench.bytes(destination), Bench.bytes(source), method);
            stream.copy(
                    Bench.bytes(source),
                    Bench.bytes(other),
                    method == CopyMethod.ENGINE ? CopyMethod.KERNEL : CopyMethod.ENGINE);
            stream.synchronize();
            bench.holds("the first copy's destination", data, destination);
        }
    }

    @Proves("CPY-022")
    void anEventBehindACopyStandsForItsData(Bench bench) {
        List<Device> pair = bench.copyablePair();
        Device sender = pair.get(0);
        Device receiver = pair.get(1);
        Stream producer = bench.stream(sender);
        Stream consumer = bench.stream(receiver);
        int bytes = 262_144;
        for (CopyMethod method : List.of(CopyMethod.ENGINE, CopyMethod.KERNEL)) {
            Buffer source = random(bench, sender, bytes);
            Buffer middle = bench.buffer(receiver, bytes);
            Buffer end = bench.buffer(receiver, bytes);
            Event event = bench.event(sender);
            bench.step("a copy by " + method + ", an event, and a copy on another device that waits for it");
            producer.copy(Bench.bytes(middle), Bench.bytes(source), method);
            producer.record(event);
            consumer.waitFor(event);
            consumer.copy(Bench.bytes(end), Bench.bytes(middle), CopyMethod.KERNEL);
            consumer.synchronize();
            bench.holds("what was read behind the event", bench.download(source), end);
        }
    }

    @Proves("CPY-023")
    void moreCopiesThanEnginesAreAllCarriedOut(Bench bench) {
        Device device = bench.device();
        int copies = 2 * device.properties().copyEngines() + 5;
        int bytes = 8192;
        List<Buffer> sources = new ArrayList<>();
        List<Buffer> destinations = new ArrayList<>();
        List<Stream> streams = new ArrayList<>();
        for (int i = 0; i < copies; i++) {
            sources.add(random(bench, device, bytes));
            destinations.add(bench.buffer(device, bytes));
            streams.add(bench.stream(device));
        }
        bench.step(copies + " copies by engine at the same time");
        for (int i = 0; i < copies; i++) {
            streams.get(i).copy(Bench.bytes(destinations.get(i)), Bench.bytes(sources.get(i)), CopyMethod.ENGINE);
        }
        streams.forEach(Stream::synchronize);
        for (int i = 0; i < copies; i++) {
            bench.holds("the destination of copy " + i, bench.download(sources.get(i)), destinations.get(i));
        }
    }

    @Proves("CPY-024")
    void copiesFromAllPeersDoNotDisturbOneAnother(Bench bench) {
        List<Device> peers = new ArrayList<>();
        Device receiver = bench.device();
        for (Device peer : bench.platform().devices()) {
            if (peer != receiver
                    && bench.platform()
                            .topology()
                            .link(peer.ordinal(), receiver.ordinal())
                            .copyable()) {
                peers.add(peer);
            }
        }
        if (peers.size() < 2) {
            throw new NotApplicable("no device has two others to copy from");
        }
        int bytes = 16_384;
        Buffer destination = bench.buffer(receiver, (long) bytes * peers.size());
        byte[] expected = new byte[bytes * peers.size()];
        List<Stream> streams = new ArrayList<>();
        bench.step("copies from " + peers.size() + " devices into one buffer at the same time");
        for (int i = 0; i < peers.size(); i++) {
            byte[] data = bench.randomBytes(bytes);
            System.arraycopy(data, 0, expected, i * bytes, bytes);
            Buffer source = bench.upload(peers.get(i), data);
            Stream stream = bench.stream(receiver);
            stream.copy(
                    BufferView.vector(destination, (long) i * bytes, bytes, ElementType.INT8),
                    Bench.bytes(source),
                    CopyMethod.AUTO);
            streams.add(stream);
        }
        streams.forEach(Stream::synchronize);
        bench.holds("the blocks of all devices", expected, destination);
    }

    @Proves("CPY-025")
    void oppositeCopiesDoNotDisturbOneAnother(Bench bench) {
        List<Device> pair = bench.copyablePair();
        int bytes = 16_384;
        List<Buffer> sources = new ArrayList<>();
        List<Buffer> destinations = new ArrayList<>();
        List<Stream> streams = new ArrayList<>();
        for (int round = 0; round < 4; round++) {
            for (int side = 0; side < 2; side++) {
                sources.add(random(bench, pair.get(side), bytes));
                destinations.add(bench.buffer(pair.get(1 - side), bytes));
                streams.add(bench.stream(pair.get(1 - side)));
            }
        }
        bench.step("copies in both directions at the same time");
        for (int i = 0; i < streams.size(); i++) {
            streams.get(i).copy(Bench.bytes(destinations.get(i)), Bench.bytes(sources.get(i)));
        }
        streams.forEach(Stream::synchronize);
        for (int i = 0; i < streams.size(); i++) {
            bench.holds("the destination of copy " + i, bench.download(sources.get(i)), destinations.get(i));
        }
    }

    @Proves("CPY-028")
    void overlappingCopiesAreRefused(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        Buffer whole = random(bench, device, 2048);
        byte[] before = bench.download(whole);
        bench.refuses(
                "a copy over itself",
                () -> stream.copy(
                        BufferView.vector(whole, 0, 1024, ElementType.INT8),
                        BufferView.vector(whole, 1020, 1024, ElementType.INT8)),
                ErrorCode.INVALID_ARGUMENT);
        Buffer low = whole.suballocate(0, 1024, part -> {});
        Buffer high = whole.suballocate(512, 1024, part -> {});
        bench.refuses(
                "a copy between overlapping parts of one allocation",
                () -> stream.copy(Bench.bytes(low), Bench.bytes(high)),
                ErrorCode.INVALID_ARGUMENT);
        bench.refuses(
                "a strided copy between overlapping parts of one allocation",
                () -> stream.copy(
                        BufferView.pitched(low, 0, 8, 64, 128, ElementType.INT8),
                        BufferView.pitched(high, 32, 8, 64, 128, ElementType.INT8)),
                ErrorCode.INVALID_ARGUMENT);
        stream.synchronize();
        bench.holds("the buffer after refused copies", before, whole);
    }

    @Proves("CPY-029")
    void neighboursAreCopied(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        Buffer whole = random(bench, device, 4096);
        copies(
                bench,
                "a copy to the neighbouring range",
                stream,
                BufferView.vector(whole, 2048, 2048, ElementType.INT8),
                BufferView.vector(whole, 0, 2048, ElementType.INT8),
                CopyMethod.AUTO);
        Buffer high = whole.suballocate(2048, 1024, part -> {});
        Buffer low = whole.suballocate(1024, 1024, part -> {});
        low.write(0, MemorySegment.ofArray(bench.randomBytes(1024)));
        copies(bench, "a copy between parts", stream, Bench.bytes(high), Bench.bytes(low), CopyMethod.AUTO);
        // Rows that interleave without meeting.
        copies(
                bench,
                "a copy of every other column group",
                stream,
                BufferView.pitched(whole, 0, 16, 4, 16, ElementType.FP32),
                BufferView.pitched(whole, 32, 16, 4, 16, ElementType.FP32),
                CopyMethod.AUTO);
    }

    @Proves("CPY-030")
    void aFillSetsEveryElement(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        for (ElementType type : ElementType.values()) {
            int pattern = type.bytes() == 1 ? 0x9C : type.bytes() == 2 ? 0x3C85 : 0x3F81_92A3;
            Buffer buffer = bench.buffer(device, 512L * type.bytes());
            bench.step("a fill of " + type);
            stream.fill(buffer.vector(512, type), pattern);
            stream.synchronize();
            int[] expected = new int[512];
            Arrays.fill(expected, pattern);
            Elements.expectBits(bench, "a fill of " + type, expected, buffer.vector(512, type));
        }
    }

    @Proves("CPY-031")
    void aFillLeavesTheRestAlone(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        byte[] before = bench.randomBytes(10 * 24 * 4);
        Buffer buffer = bench.upload(device, before);
        BufferView view = BufferView.pitched(buffer, 96 + 16, 8, 16, 24, ElementType.FP32);
        byte[] expected = before.clone();
        int[] pattern = new int[8 * 16];
        Arrays.fill(pattern, 0x4049_0FDB);
        SlotMemory.write(expected, view, pattern);
        stream.fill(view, 0x4049_0FDB);
        stream.synchronize();
        bench.holds("the buffer around the fill", expected, buffer);
    }

    @Proves("CPY-032")
    void oddFillsAreCarriedOut(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        for (int count : ODD) {
            for (int offset : new int[] {0, 1, 3}) {
                Buffer buffer = bench.buffer(device, count + 8L);
                BufferView view = BufferView.vector(buffer, offset, count, ElementType.INT8);
                bench.step("a fill of " + count + " bytes at offset " + offset);
                stream.fill(view, 0x6D);
                stream.synchronize();
                int[] expected = new int[count];
                Arrays.fill(expected, 0x6D);
                Elements.expectBits(bench, "the filled range", expected, view);
            }
        }
    }

    @Proves("CPY-033")
    void copiesAndFillsKeepTheirOrder(Bench bench) {
        Device device = bench.device();
        Stream stream = bench.stream(device);
        int bytes = 131_072;
        Buffer source = random(bench, device, bytes);
        byte[] data = bench.download(source);
        Buffer first = bench.buffer(device, bytes);
        Buffer second = bench.buffer(device, bytes);
        bench.step("copy, fill over its source, copy of the filled source");
        stream.copy(Bench.bytes(first), Bench.bytes(source), CopyMethod.ENGINE);
        stream.fill(Bench.bytes(source), 0x2E);
        stream.copy(Bench.bytes(second), Bench.bytes(source), CopyMethod.ENGINE);
        stream.synchronize();
        bench.holds("the copy before the fill", data, first);
        bench.holds("the copy after the fill", Bench.filled(bytes, 0x2E), second);
    }

    @Proves("CPY-034")
    void dataGoAroundARing(Bench bench) {
        bench.devices(2);
        List<Device> ring = bench.devicesUpTo(8);
        for (int i = 0; i < ring.size(); i++) {
            int next = ring.get((i + 1) % ring.size()).ordinal();
            if (!bench.platform().topology().link(ring.get(i).ordinal(), next).copyable()) {
                throw new NotApplicable("the devices form no ring of copyable paths");
            }
        }
        int bytes = 32_768;
        int hops = ring.size();
        // Everything is made beforehand: a host write in between would give the copies time.
        List<Buffer> stations = new ArrayList<>();
        List<Stream> streams = new ArrayList<>();
        List<Event> events = new ArrayList<>();
        stations.add(random(bench, ring.getFirst(), bytes));
        for (int hop = 1; hop <= hops; hop++) {
            Device device = ring.get(hop % hops);
            stations.add(bench.buffer(device, bytes));
            streams.add(bench.stream(device));
            events.add(bench.event(device));
        }
        bench.step("a ring of copies, each behind the event of the one before");
        for (int hop = 0; hop < hops; hop++) {
            Stream stream = streams.get(hop);
            if (hop > 0) {
                stream.waitFor(events.get(hop - 1));
            }
            stream.copy(Bench.bytes(stations.get(hop + 1)), Bench.bytes(stations.get(hop)));
            stream.record(events.get(hop));
        }
        streams.getLast().synchronize();
        bench.holds("what came back to the first device", bench.download(stations.getFirst()), stations.getLast());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import io.weft.spi.FaultDriver;
import java.util.List;
import java.util.Map;

/** Proofs of the rules about errors. */
final class ErrorProofs {
    private static final int BYTES = 1_024;
    private static final String MADE = "made to fail by a proof";

    private static void fail(Bench bench, Device device, int nth) {
        bench.extension(FaultDriver.class)
                .failCommand(device.ordinal(), nth, new AcceleratorException(ErrorCode.VENDOR, "fill", MADE));
    }

    /** A stream of the first device whose last command fails. */
    private static Stream failing(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        fail(bench, bench.device(), 1);
        stream.fill(Bench.bytes(buffer), 0x5C);
        return stream;
    }

    /** Issues a command that fails, so late that what comes next is issued before the failure shows. */
    private static void failsBehindBusyWork(Bench bench, Stream stream) {
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        Busy busy = Busy.on(bench, bench.device());
        fail(bench, bench.device(), Busy.COMMANDS + 1);
        busy.issue(stream);
        stream.fill(Bench.bytes(buffer), 0x5C);
    }

    /** A stream of the first device that has failed. */
    private static Stream failed(Bench bench) {
        Stream stream = failing(bench);
        bench.refuses("synchronize of a stream whose command failed", stream::synchronize, ErrorCode.STREAM_FAILED);
        return stream;
    }

    @Proves("ERR-001")
    void aFailedStreamStaysFailed(Bench bench) {
        Stream stream = failed(bench);
        for (int i = 0; i < 2; i++) {
            bench.refuses("synchronize, once more", stream::synchronize, ErrorCode.STREAM_FAILED);
            bench.refuses("query", stream::query, ErrorCode.STREAM_FAILED);
        }
    }

    @Proves("ERR-002")
    void aFailedStreamTakesNoCommand(Bench bench) {
        Stream stream = failed(bench);
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        bench.refuses("a new command", () -> stream.fill(Bench.bytes(buffer), 0x5C), ErrorCode.STREAM_FAILED);
        bench.holds("the buffer of the refused command", Bench.filled(BYTES, Bench.POISON), buffer);
    }

    @Proves("ERR-003")
    void theFirstFailureIsTheCause(Bench bench) {
        Stream stream = failing(bench);
        AcceleratorException refusal = bench.refuses("synchronize", stream::synchronize, ErrorCode.STREAM_FAILED);
        bench.that(
                caused(refusal, ErrorCode.VENDOR, MADE),
                "a cause with code VENDOR and the text '" + MADE + "'",
                "the causes are " + causes(refusal));
    }

    private static boolean caused(Throwable failure, ErrorCode code, String text) {
        for (Throwable at = failure.getCause(); at != null; at = at.getCause()) {
            if (at instanceof AcceleratorException cause
                    && cause.code() == code
                    && cause.getMessage().contains(text)) {
                return true;
            }
        }
        return false;
    }

    private static String causes(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable at = failure.getCause(); at != null; at = at.getCause()) {
            text.append(text.isEmpty() ? "" : ", then ").append(at);
        }
        return text.isEmpty() ? "none" : text.toString();
    }

    @Proves("ERR-004")
    void whatComesAfterAFailureDoesNotRun(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer first = bench.buffer(bench.device(), BYTES);
        Buffer second = bench.buffer(bench.device(), BYTES);
        fail(bench, bench.device(), 1);
        stream.fill(Bench.bytes(first), 0x43);
        try {
            stream.fill(Bench.bytes(second), 0x44);
        } catch (AcceleratorException refusal) {
            bench.equal("the refusal of a command behind a failure", ErrorCode.STREAM_FAILED, refusal.code());
        }
        bench.refuses("synchronize", stream::synchronize, ErrorCode.STREAM_FAILED);
        bench.holds("the buffer of the command behind", Bench.filled(BYTES, Bench.POISON), second);
    }

    @Proves("ERR-005")
    void whatCameBeforeAFailureHasRun(Bench bench) {
        Stream stream = bench.stream(bench.device());
        Buffer first = bench.buffer(bench.device(), BYTES);
        Buffer second = bench.buffer(bench.device(), BYTES);
        fail(bench, bench.device(), 2);
        stream.fill(Bench.bytes(first), 0x45);
        stream.fill(Bench.bytes(second), 0x46);
        bench.refuses("synchronize", stream::synchronize, ErrorCode.STREAM_FAILED);
        bench.holds("the buffer of the command before", Bench.filled(BYTES, 0x45), first);
    }

    @Proves("ERR-006")
    void anEventPassesTheFailureToTheHost(Bench bench) {
        Event event = bench.event(bench.device());
        Stream stream = bench.stream(bench.device());
        failsBehindBusyWork(bench, stream);
        stream.record(event);
        bench.refuses("synchronize of the event", event::synchronize, ErrorCode.STREAM_FAILED);
        bench.refuses("query of the event", event::query, ErrorCode.STREAM_FAILED);
    }

    @Proves("ERR-007")
    void aWaitPassesTheFailureOn(Bench bench) {
        Event event = bench.event(bench.device());
        Stream stream = bench.stream(bench.device());
        Stream waiter = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        failsBehindBusyWork(bench, stream);
        stream.record(event);
        waiter.waitFor(event);
        waiter.fill(Bench.bytes(buffer), 0x47);
        bench.refuses("synchronize of the stream that waits", waiter::synchronize, ErrorCode.STREAM_FAILED);
        bench.holds("what was to be filled after the wait", Bench.filled(BYTES, Bench.POISON), buffer);
        bench.refuses("synchronize of the failed stream", stream::synchronize, ErrorCode.STREAM_FAILED);
    }

    @Proves("ERR-008")
    void otherStreamsGoOn(Bench bench) {
        Stream other = bench.stream(bench.device());
        failed(bench);
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        bench.step("using another stream of the device");
        other.fill(Bench.bytes(buffer), 0x48);
        other.synchronize();
        bench.holds("what another stream filled", Bench.filled(BYTES, 0x48), buffer);
    }

    @Proves("ERR-009")
    void newStreamsWork(Bench bench) {
        failed(bench);
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        bench.step("creating a stream on the device");
        Stream fresh = bench.stream(bench.device());
        fresh.fill(Bench.bytes(buffer), 0x49);
        fresh.synchronize();
        bench.holds("what a new stream filled", Bench.filled(BYTES, 0x49), buffer);
    }

    @Proves("ERR-010")
    void synchronizingTheDeviceTellsOfTheFailure(Bench bench) {
        failing(bench);
        bench.refuses(
                "synchronize of the device", bench.device()::synchronize, ErrorCode.STREAM_FAILED, ErrorCode.VENDOR);
    }

    @Proves("ERR-011")
    void aFailedStreamIsClosedQuietly(Bench bench) {
        Stream stream = failed(bench);
        bench.step("closing the failed stream");
        stream.close();
    }

    @Proves("ERR-012")
    void streamsOfALostDeviceFail(Bench bench) {
        Lost lost = Lost.of(bench);
        Stream stream = lost.stream(0);
        lost.lose(0);
        AcceleratorException refusal = bench.refuses(
                "synchronize of a lost device's stream",
                stream::synchronize,
                ErrorCode.STREAM_FAILED,
                ErrorCode.DEVICE_LOST);
        bench.that(
                refusal.code() == ErrorCode.DEVICE_LOST || caused(refusal, ErrorCode.DEVICE_LOST, ""),
                "DEVICE_LOST as the cause",
                "the causes are " + causes(refusal));
    }

    @Proves("ERR-013")
    void otherDevicesGoOn(Bench bench) {
        bench.devices(2);
        Lost lost = Lost.of(bench);
        Stream stream = lost.stream(1);
        Buffer buffer = lost.buffer(1, BYTES);
        lost.lose(0);
        bench.step("using another device than the lost one");
        stream.fill(Bench.bytes(buffer), 0x4A);
        stream.synchronize();
        bench.holds("what another device filled", Bench.filled(BYTES, 0x4A), buffer);
    }

    @Proves("ERR-014")
    void memoryOfALostDeviceCanBeFreed(Bench bench) {
        Lost lost = Lost.of(bench);
        Buffer buffer = lost.platform().devices().getFirst().allocate(BYTES);
        lost.lose(0);
        bench.step("freeing memory of a lost device");
        buffer.close();
    }

    @Proves("ERR-015")
    void aLostDeviceAllocatesNothing(Bench bench) {
        Lost lost = Lost.of(bench);
        lost.lose(0);
        bench.refuses(
                "an allocation on a lost device",
                () -> lost.platform().devices().getFirst().allocate(BYTES).close(),
                ErrorCode.DEVICE_LOST);
    }

    @Proves("ERR-016")
    void peersOfALostDeviceAreTold(Bench bench) {
        bench.devices(2);
        Lost lost = Lost.of(bench);
        List<Device> devices = lost.platform().devices().subList(0, 2);
        Communicator communicator =
                bench.closing("a communicator of a lost rank", Communicator.over(lost.platform(), devices));
        Buffer buffer = lost.buffer(0, BYTES);
        Stream stream = lost.stream(0);
        var view = buffer.vector(BYTES / 4, ElementType.FP32);
        communicator.allReduce(0, view, view, ReduceOp.SUM, stream);
        lost.lose(1);
        bench.refuses(
                "synchronize of a rank whose peer is lost",
                stream::synchronize,
                ErrorCode.STREAM_FAILED,
                ErrorCode.DEVICE_LOST,
                ErrorCode.ABORTED,
                ErrorCode.TIMEOUT);
        communicator.abort();
    }

    @Proves("ERR-017")
    void refusalsAreOneLine(Bench bench) {
        long more = bench.device().memoryInfo().totalBytes() + 1;
        oneLine(
                bench,
                bench.refuses(
                        "too much memory", () -> bench.device().allocate(more).close(), ErrorCode.OUT_OF_MEMORY));
        PlatformUri unknown = new PlatformUri(bench.subject().uri().provider(), "no-such-target", Map.of());
        oneLine(
                bench,
                bench.refuses(
                        "an unknown target",
                        () -> bench.subject().provider().open(unknown).close(),
                        ErrorCode.NOT_FOUND));
    }

    private static void oneLine(Bench bench, AcceleratorException refusal) {
        bench.that(!refusal.operation().isBlank(), "the refusal to say what was attempted", "it does not");
        bench.that(
                !refusal.detail().isBlank() && refusal.getMessage().lines().count() == 1,
                "the refusal to say what is wrong, in one line",
                "it says '" + refusal.getMessage() + "'");
    }

    @Proves("ERR-018")
    void aFailureIsNotToldForEver(Bench bench) {
        Stream stream = failed(bench);
        stream.close();
        bench.step("using the device after the failed stream was closed");
        bench.device().synchronize();
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        Stream fresh = bench.stream(bench.device());
        fresh.fill(Bench.bytes(buffer), 0x4B);
        fresh.synchronize();
        bench.device().synchronize();
        bench.holds("what was filled afterwards", Bench.filled(BYTES, 0x4B), buffer);
    }

    @Proves("ERR-019")
    void workOfOtherStreamsIsRight(Bench bench) {
        Stream other = bench.stream(bench.device());
        Stream stream = bench.stream(bench.device());
        Buffer buffer = bench.buffer(bench.device(), BYTES);
        Buffer lost = bench.buffer(bench.device(), BYTES);
        other.fill(Bench.bytes(buffer), 0x4C);
        other.synchronize();
        fail(bench, bench.device(), 1);
        stream.fill(Bench.bytes(lost), 0x4E);
        bench.refuses("synchronize", stream::synchronize, ErrorCode.STREAM_FAILED);
        other.synchronize();
        bench.holds("what another stream filled before", Bench.filled(BYTES, 0x4C), buffer);
    }

    /** Another platform, of which a device can be lost; it is closed with the bench and takes its handles along. */
    private record Lost(Bench bench, Platform platform) {
        static Lost of(Bench bench) {
            return new Lost(bench, bench.openAnother());
        }

        Stream stream(int device) {
            return platform.device(device).createStream();
        }

        Buffer buffer(int device, int bytes) {
            return platform.device(device).allocate(bytes);
        }

        void lose(int device) {
            platform.extension(FaultDriver.class).orElseThrow().loseDevice(device);
        }
    }
}

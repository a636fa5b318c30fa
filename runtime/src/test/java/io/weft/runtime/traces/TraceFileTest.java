// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.memory.replay.Trace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The fixtures are made by {@code generate.py} beside them. */
final class TraceFileTest {
    private static final Path FIXTURES = Path.of("src", "test", "resources", "traces");

    @TempDir
    Path folder;

    private static Trace fixture(String name) {
        return TraceFile.read(FIXTURES.resolve(name), null);
    }

    private Trace text(String content) throws IOException {
        return TraceFile.read(Files.writeString(folder.resolve("file"), content), null);
    }

    private String refusal(String content) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> text(content));
        assertEquals(ErrorCode.BAD_DOCUMENT, refusal.code());
        assertFalse(refusal.getMessage().contains("\n"), refusal.getMessage());
        return refusal.getMessage();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "snapshot-0.pickle",
                "snapshot-1.pickle",
                "snapshot-2.pickle",
                "snapshot-3.pickle",
                "snapshot-4.pickle",
                "snapshot-5.pickle",
                "snapshot.pickle.gz",
                "snapshot.json"
            })
    void aSnapshotIsTheSameTraceInEveryForm(String name) {
        Trace trace = fixture(name);
        assertEquals(
                name.endsWith("json") ? "PyTorch memory snapshot (JSON)" : "PyTorch memory snapshot (pickle)",
                trace.format());
        assertEquals("1", trace.device(), "the first device whose events allocate");
        assertEquals(2, trace.streamCount());
        assertTrue(trace.isTimed());
        assertEquals(2, trace.eventsBefore(), "weights that nobody touches, and what is freed first");
        assertEquals(4_001_000, trace.liveBeforeBytes());
        assertEquals(13_500_000, trace.peakLiveBytes());
        assertEquals(50L << 20, trace.recordedReservedPeak(), "segments walked back from the end, mapped ones as well");
        assertEquals(7, trace.count() - trace.eventsBefore());
        assertEquals(3, trace.frees());
        assertEquals(10_000, trace.nanos(2), "10 us after the first event");
        assertEquals(
                List.of(
                        "event 7: the recorded allocator was out of memory, asked for 94371840 bytes with 7000000 free on the"
                                + " device"),
                trace.notes());
    }

    @Test
    void aDeviceIsTakenByItsNumberHoweverItIsWritten() {
        for (String device : List.of("1", "cuda:1", "cuda1", "device 1", "npu:1")) {
            assertEquals(
                    13_500_000,
                    TraceFile.read(FIXTURES.resolve("snapshot-4.pickle"), device)
                            .peakLiveBytes());
        }
        Trace other = TraceFile.read(FIXTURES.resolve("snapshot-4.pickle"), "cuda:0");
        assertEquals(2 << 20, other.peakLiveBytes());
        assertTrue(other.notes().getFirst().startsWith("the snapshot has no history"), other.notes()::toString);
        assertTrue(assertThrows(
                        AcceleratorException.class,
                        () -> TraceFile.read(FIXTURES.resolve("snapshot-4.pickle"), "cuda:7"))
                .getMessage()
                .contains("there is no device 'cuda:7'; the snapshot has [0, 1]"));
    }

    @Test
    void theOldestFormIsAListOfSegmentsWhoseBlocksHaveTheirSizesInAHistory() {
        Trace trace = fixture("oldest.pickle");
        assertEquals(2, trace.allocations());
        assertEquals(1512, trace.peakLiveBytes());
        assertEquals(2 << 20, trace.recordedReservedPeak());
    }

    @Test
    void whatIsOutAtTheEndAndWasAllocatedAfterTheHistoryIsSaid() throws IOException {
        Trace trace = text("""
                {"segments": [{"device": 0, "address": 4096, "total_size": 4096, "stream": 0, "blocks": [
                  {"size": 512, "state": "active_allocated"}, {"size": 3584, "state": "inactive"}]}],
                 "device_traces": [[
                  {"action": "alloc", "addr": 4096, "size": 512, "stream": 0},
                  {"action": "free_requested", "addr": 4096, "size": 512, "stream": 0},
                  {"action": "alloc", "addr": 8192, "size": 100, "stream": 0},
                  {"action": "resize", "addr": 8192, "size": 200, "stream": 0}]]}
                """);
        assertEquals(512, trace.peakLiveBytes());
        assertFalse(trace.isTimed());
        assertEquals(
                List.of(
                        "left out are 1 of the blocks that are out at the end, 512 bytes, as they were allocated after the"
                                + " last event",
                        "of the blocks that the events leave allocated, 1 are not out at the end; their frees are missing",
                        "events of unknown kinds are left out: resize"),
                trace.notes());
    }

    @Test
    void segmentsThatContradictTheEventsLeaveTheRecordedPeakUnknown() throws IOException {
        Trace trace = text("""
                {"segments": [], "device_traces": [[
                  {"action": "segment_alloc", "addr": 1, "size": 2048, "stream": 0},
                  {"action": "alloc", "addr": 1, "size": 512, "stream": 0}]]}
                """);
        assertEquals(-1, trace.recordedReservedPeak());
        assertTrue(trace.notes().getLast().contains("do not agree"), trace.notes()::toString);
    }

    @Test
    void anAllocatorThatHeldLessThanWasOutIsNotBelieved() throws IOException {
        Trace trace = text("""
                {"traceEvents": [{"ph": "i", "name": "[memory]", "ts": 1, "args":
                  {"Bytes": 512, "Device Type": 1, "Device Id": 0, "Addr": 7, "Total Allocated": 512, "Total Reserved": 1}}]}
                """);
        assertEquals(-1, trace.recordedReservedPeak());
        assertTrue(trace.notes().getFirst().contains("is not known"), trace.notes()::toString);
    }

    @Test
    void aChromeTraceGivesTheMemoryEventsOfOneDeviceByTime() {
        Trace trace = fixture("kineto.json");
        assertEquals("Chrome trace of torch.profiler (JSON)", trace.format());
        assertEquals("cuda:1", trace.device(), "the first that is not the host");
        assertEquals(4, trace.count() - trace.eventsBefore());
        assertEquals(8_000_512, trace.liveBeforeBytes(), "what is freed, and the rest of what the totals say");
        assertEquals(8_003_584, trace.peakLiveBytes());
        assertEquals(22L << 20, trace.recordedReservedPeak());
        assertEquals(9_500, trace.nanos(3), "threads are put in order");
        assertEquals(
                4_096, TraceFile.read(FIXTURES.resolve("kineto.json"), "cuda:0").peakLiveBytes());
        assertEquals(64, TraceFile.read(FIXTURES.resolve("kineto.json"), "cpu").peakLiveBytes());
    }

    @Test
    void freesWithoutAddressesAreOfTheYoungestAllocationOfTheirSize() {
        Trace trace = fixture("kineto-without-addresses.json");
        assertEquals(4_096, trace.liveBeforeBytes());
        assertEquals(4_096 + 1_024 + 1_024 + 512, trace.peakLiveBytes());
        assertEquals(Trace.Kind.FREE, trace.kind(4));
        assertEquals(trace.block(2), trace.block(4), "the younger of two");
        assertEquals(-1, trace.recordedReservedPeak());
    }

    @Test
    void aRawMemoryTimelineIsReadAndSumsAreNot() {
        Trace trace = fixture("timeline.raw.json.gz");
        assertEquals("PyTorch memory timeline (raw JSON)", trace.format());
        assertEquals(8_000_512, trace.liveBeforeBytes());
        assertEquals(8_002_512, trace.peakLiveBytes());
        assertEquals(5, trace.count() - trace.eventsBefore(), "a new version is no allocation");
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> fixture("timeline.json"));
        assertTrue(refusal.getMessage().contains("ends in .raw.json.gz"), refusal.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"[[],[]]", "[[1],[[0,1]]]", "[[1,2,3,4],[[0],[1],[2],[3]]]", "[[1,2,3,4,5],[[0]]]"})
    void sumsAreKnownHoweverManyTimesThereAre(String text) {
        assertTrue(refusal(text).contains("only sums by category"), () -> refusal(text));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "''|the file is empty; accepted",
                "hello|unknown first line 'hello'; accepted, plain or gzip, are pickles and JSON",
                "<!DOCTYPE html>|this is a page for people",
                "{}|a JSON object with the keys none; accepted are memory snapshots",
                "{\"a\": 1, \"b\": {}}|with the keys a, b; accepted",
                "[1]|holds neither objects nor lists",
                "[]|holds neither objects nor lists",
                "[{\"a\": 1}]|a JSON list of objects with the keys a",
                "{\"segments\": 1}|'segments' is no list",
                "{\"segments\": [1]}|segments[0] is no dictionary",
                "{\"segments\": [{}]}|segments[0] has no whole number 'total_size'",
                "{\"segments\": [{\"total_size\": 1}]}|segments[0] has no list 'blocks'",
                "{\"segments\": [{\"total_size\": -1}]}|total_size -1 is not in 0..",
                "{\"segments\": [{\"total_size\": 1, \"device\": 99999}]}|device 99999 is not in 0..",
                "{\"device_traces\": [[{}]]}|device_traces[0][0] has no text 'action'",
                "{\"device_traces\": [[{\"action\": \"alloc\"}]]}|device_traces[0][0] has no whole number 'addr'",
                "{\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 1, \"size\": 1e300}]]}|no whole number 'size'",
                "{\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 1, \"size\": 9000000000000000000}]]}|is not in 0..",
                "{\"device_traces\": [[]]}|the snapshot has no event and no block",
                "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\"}]}|none of the 1 events is a [memory] event; record with",
                "{\"traceEvents\": [{\"name\": \"[memory]\", \"ts\": 1}]}|memory event 1 has no whole numbers",
                "{\"traceEvents\": [{\"name\": \"[memory]\", \"ts\": 1, \"args\": {\"Bytes\": 1, \"Device Type\": 0}}]}|--device cpu",
                "{\"traceEvents\": [{\"name\": \"[memory]\", \"ts\": 1e-2000000000, \"args\": {\"Bytes\": 1, \"Device Type\": 1}}]}|no number 'ts'",
                "{\"traceEvents\": [{\"name\": \"[memory]\", \"args\": {\"Bytes\": 1, \"Device Type\": 1}}]}|no number 'ts'",
                "[[-1, 1, -5, 0]]|row 1: bytes -5 of a block that begins; accepted are 0..",
                "[[1, 2, -5, 0]]|row 1: bytes -5 of a block that begins; accepted are 0..",
                "BZh91AY&SY|packed by xz, zstd or bzip2; unpack it first",
                "[[1, 9, 5, 0]]|row 1: unknown action 9; accepted are 1 (existed before)",
                "[[1, 2, 5, 0], [1, 2]]|row 2: there are 2 numbers",
                "[[1, 2, \"x\", 0]]|row 1: this is no list of the four numbers",
                "[[1, 2, 5, 0], 7]|row 2: this is no list",
                "[[1, 2, 1e300, 0]]|row 1: 1.0E300 is no whole number",
                "[[1, 2, 99999999999999999999, 0]]|row 1: a number has more than 64 bits",
                "[[1, 2, 9000000000000000000, 0]]|row 1: bytes 9000000000000000000 is not in",
                "{\"segments\": [|ends in the middle",
                "{\"segments\": [}|not JSON",
            })
    void whatIsWrongIsSaidInOneLine(String content, String expected) {
        String message = refusal(content.equals("''") ? "" : content);
        assertTrue(message.contains(expected), message);
        assertTrue(message.contains(folder.resolve("file").toString()), message);
    }

    @Test
    void whatTorchSaveWroteIsKnown() throws IOException {
        assertTrue(
                refusal("PK\u0003\u0004abc").contains("a zip archive, as torch.save writes it; save a snapshot with"));
    }

    @Test
    void csvIsStillRead() throws IOException {
        assertEquals(
                "minimalloc problem", text("id,lower,upper,size\n0,0,5,100\n").format());
        assertEquals(
                "RMM log",
                text("\uFEFF\r\nThread,Time,Action,Pointer,Size,Stream\r\n1,2,allocate,0xa,256,0x0\r\n")
                        .format());
        assertTrue(refusal("op,id,bytes\na,1,x\n").contains("file:2: bytes 'x' is not a number"));
    }

    @Test
    void aMissingFileAndAFolderAreNamed() {
        assertEquals(
                ErrorCode.NOT_FOUND,
                assertThrows(AcceleratorException.class, () -> TraceFile.read(folder.resolve("none"), null))
                        .code());
        assertTrue(assertThrows(AcceleratorException.class, () -> TraceFile.read(folder, null))
                .getMessage()
                .contains("is a folder"));
    }
}

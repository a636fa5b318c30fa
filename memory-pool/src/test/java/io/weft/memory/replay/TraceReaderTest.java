// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TraceReaderTest {
    private static Trace read(String text) {
        return read(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Trace read(byte[] bytes) {
        return TraceReader.read(new ByteArrayInputStream(bytes), "trace.csv", null);
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return out.toByteArray();
    }

    @Test
    void readsAMemoryTimelineAndTheRecordedReservedCurve() {
        Trace trace = read("""
                op,id,bytes,stream,t_us
                I,0,2097152,0,0
                i,0,512,0,0
                a,1,1024,0,5
                S,9,20971520,0,6
                a,2,4096,7,7
                f,1,1024,0,8
                s,9,20971520,0,9
                """);
        assertEquals(4, trace.count());
        assertEquals(1, trace.eventsBefore());
        assertEquals(5632, trace.peakLiveBytes());
        assertEquals(23068672, trace.recordedReservedPeak());
        assertEquals(2, trace.streamCount());
        assertEquals(8000, trace.nanos(3));
    }

    @Test
    void readsOneDeviceOfKinetoEvents() {
        Trace trace = read("""
                op,id,bytes,dev,thread,t_us
                a,0,4,cpu,0,0
                a,1,512,cuda0,0,1
                f,0,4,cpu,0,2
                f,1,512,cuda0,1,3
                """);
        assertEquals(2, trace.count());
        assertEquals(512, trace.peakLiveBytes());
    }

    @Test
    void readsAMinimallocProblemWithFreesBeforeAllocationsAtOneTime() {
        Trace trace = read("id,lower,upper,size\n0,0,5,100\n1,5,9,50\n");
        assertEquals(100, trace.peakLiveBytes());
        assertEquals(2, trace.frees());
    }

    @Test
    void readsAnRmmLog() {
        Trace trace = read("""
                Thread,Time,Action,Pointer,Size,Stream
                1,10:00:00:000001,allocate,0x7f00,256,0
                1,10:00:00:000002,free,0x7f00,256,0
                """);
        assertEquals(1, trace.allocations());
        assertEquals(1, trace.frees());
    }

    /** Two blocks that touch at step 5, in every way that minimalloc writes and reads them. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "id,lower,upper,size\n0,0,5,100\n1,5,9,50\n",
                "size,upper,id,lower\n100,5,0,0\n50,9,1,5\n",
                "buffer_id,start,end,size\n0,0,4,100\n1,5,8,50\n",
                "buffer,begin,upper,size\n0,0,5,100\n1,5,9,50\n",
                "id,lower,upper,size,alignment,gaps,offset\n0,0,5,100,1,,0\n1,5,9,50,64,6-7 7-8,0\n",
                "BUFFER_ID, Start ,END,\"size\"\r\n0,0,4,100\r\n1,5,8,50\r\n",
            })
    void aMinimallocProblemIsReadByAnyOfItsColumnsNames(String text) {
        Trace trace = read(text);
        assertEquals("minimalloc problem", trace.format());
        assertEquals(100, trace.peakLiveBytes());
        assertEquals(2, trace.frees());
        assertEquals(Trace.Kind.FREE, trace.kind(1));
    }

    @Test
    void aBlockWhoseEndIsItsStartLivesForOneStep() {
        assertEquals(7, read("buffer_id,start,end,size\n0,3,3,7\n").peakLiveBytes());
        assertTrue(assertThrows(AcceleratorException.class, () -> read("buffer_id,start,end,size\n0,3,2,7\n"))
                .getMessage()
                .contains("ends at 2, before its start at 3"));
    }

    /** One log with line breaks, pointers, streams, failures and empty allocations as they come. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "1,10:00:00:000001,allocate,0x7f00,256,0\n1,10:00:00:000002,free,0x7f00,256,0x0\n",
                "1,10:00:00:000001,allocate,0X00007F00,256,0x0\r\n1,10:00:00:000002,free,7f00,256,(nil)\r\n",
                "1,1,allocate,(nil),0,0x0\n1,2,allocate,0x7f00,256,0x0\n1,3,allocate failure,0x0,99999,0x0\n1,4,free,0x0,0,0x0\n1,5,free,0x7f00,256,0\n",
                "1,1,ALLOCATE,0x7f00,256,\n1,2,deallocate,0x7f00,256,\n",
            })
    void anRmmLogIsReadHoweverItsNumbersAreWritten(String rows) {
        Trace trace = read("Thread,Time,Action,Pointer,Size,Stream\n" + rows);
        assertEquals("RMM log", trace.format());
        assertEquals(1, trace.allocations());
        assertEquals(1, trace.frees());
        assertEquals(1, trace.streamCount());
        assertEquals(List.of(), trace.notes());
    }

    @Test
    void twoStreamsOfAnRmmLogAreTwo() {
        assertEquals(
                2,
                read("Thread,Time,Action,Pointer,Size,Stream\n1,1,allocate,0x1,8,0x0\n1,1,allocate,0x2,8,0x55d0\n")
                        .streamCount());
    }

    @Test
    void whatWasReadIsToldInWords() {
        assertEquals(
                "PyTorch memory timeline (CSV)",
                read("op,id,bytes\ni,0,7\na,1,5\n").format());
        assertEquals(7, read("op,id,bytes\ni,0,7\na,1,5\n").liveBeforeBytes());
        Trace kineto = read("op,id,bytes,dev\na,0,4,cpu\na,1,512,cuda0\n");
        assertEquals("Kineto memory events (CSV)", kineto.format());
        assertEquals("cuda0", kineto.device());
    }

    @Test
    void readsGzipAsPlain() throws IOException {
        assertEquals(1, read(gzip("op,id,bytes,stream,t_us\na,1,1024,0,5\n")).count());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "''|1|file is empty",
                "hello|1|unknown first line 'hello'; accepted are",
                "op,id,bytes,stream,t_us|2|allocates nothing",
                "op,id,bytes,stream,t_us~a,1,1024,0|2|expected 5 columns, found 4",
                "op,id,bytes,stream,t_us~a,1,1024,0,1,9|2|expected 5 columns, found 6",
                "op,id,bytes,stream,t_us~a,1,-5,0,1|2|bytes -5 is not in 0..",
                "op,id,bytes,stream,t_us~a,1,99999999999999999999,0,1|2|bytes 99999999999999999999 is not in 0..",
                "op,id,bytes,stream,t_us~a,1,9000000000000000000,0,1|2|is not in 0..",
                "op,id,bytes,stream,t_us~x,1,5,0,1|2|unknown op 'x'",
                "op,id,bytes,stream,t_us~a,1,5.5,0,1|2|bytes '5.5' is not a whole number",
                "op,id,bytes,stream,t_us~a,1,1e99999999,0,1|2|bytes '1e99999999' is not a number",
                "op,id,bytes,stream,t_us~a,1,NaN,0,1|2|bytes 'NaN' is not a number",
                "op,id,bytes,id,t_us~a,1,5,0,1|1|column 'id' is there twice",
                "op,id,size|1|unknown first line",
                "op,id,bytes,stream,t_us~a,1,5,0,1~f,1,6,0,1|3|allocated with 5 bytes and is freed with 6",
                "op,id,bytes,stream,t_us~a,1,5,0,-1|2|t_us -1",
                "op,id,bytes,dev,thread,t_us~a,1,5,cpu,0,1|3|allocates nothing",
                "id,lower,upper,size~0,5,5,1|2|ends at 5, not after its start at 5",
                "id,lower,upper,size~0,0,5,0|2|size 0 is not in 1..",
                "id,lower,upper,size~0,0,5,1~0,1,5,1|3|is there twice",
                "Thread,Time,Action,Pointer,Size,Stream~1,2,grow,3,4,5|2|unknown action 'grow'",
                "weft-pool-recording,1~u,4,,0,1|3|allocates nothing",
                "weft-pool-recording,1~a,4,,0,1|2|bytes '' is not a number",
                "weft-pool-recording,2~|1|unknown first line",
            })
    void whatIsWrongIsSaidInOneSentenceWithFileAndLine(String text, int line, String expected) {
        String content = text.equals("''") ? "" : text.replace('~', '\n');
        AcceleratorException error = assertThrows(AcceleratorException.class, () -> read(content));
        assertEquals(ErrorCode.BAD_DOCUMENT, error.code());
        assertTrue(error.getMessage().contains("trace.csv:" + line + ": "), error.getMessage());
        assertTrue(error.getMessage().contains(expected), error.getMessage());
        assertFalse(error.getMessage().contains("\n"), error.getMessage());
    }

    /** One small trace in the shapes that editors, spreadsheets and other machines give it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "op,id,bytes,stream,t_us\na,1,1024,0,5\nf,1,1024,0,8\n",
                "op,id,bytes,stream,t_us\r\na,1,1024,0,5\r\nf,1,1024,0,8\r\n",
                "op,id,bytes,stream,t_us\ra,1,1024,0,5\rf,1,1024,0,8",
                "\uFEFFop,id,bytes,stream,t_us\na,1,1024,0,5\nf,1,1024,0,8",
                "\n\nop,id,bytes,stream,t_us\n\na,1,1024,0,5\n\n\nf,1,1024,0,8\n\n",
                "OP, Id ,BYTES, \"stream\",T_us\n\"a\", 1 ,1024,0,5\nf,1,\"1024\",0,8\n",
                "t_us,stream,bytes,id,op\n5,0,1024,1,a\n8,0,1024,1,f\n",
                "op,id,bytes,stream,t_us,frame\na,1,1024,0,5,main.py\nf,1,1024,0,8,\n",
                "op,id,bytes,stream,t_us\na,1,1024.0,0,5.0\nf,1,1024.0,0,8.0\n",
                "op,id,bytes\nalloc,0x7f00,1024\nfree_requested,0x7f00,1024\nfree_completed,0x7f00,1024\n",
            })
    void theSameTraceIsReadFromEveryShapeOfFile(String text) {
        Trace trace = read(text);
        assertEquals(2, trace.count());
        assertEquals(1024, trace.peakLiveBytes());
        assertEquals(1, trace.frees());
        assertEquals(List.of(), trace.notes());
    }

    @Test
    void aFreeWithoutAnAllocationWasLiveBeforeTheTrace() {
        Trace trace = read("op,id,bytes,stream,t_us\na,1,1000,0,5\nf,7,500,0,6\nf,8,300,0,6\nf,1,1000,0,7\n");
        assertEquals(2, trace.eventsBefore());
        assertEquals(1800, trace.peakLiveBytes());
        assertEquals(3, trace.frees());
        assertEquals(3, trace.allocations());
        assertEquals(Trace.Kind.ALLOCATE, trace.kind(0));
        assertEquals(500, trace.bytes(0));
        assertEquals(2, trace.block(2), "blocks are numbered in the order of their allocation");
        assertEquals(1, trace.notes().size());
        assertTrue(trace.notes().getFirst().startsWith("line 3 and 1 more: "), trace.notes()::toString);
    }

    @Test
    void aFreeThatTellsNoSizeAndASecondFreeAreLeftOut() {
        Trace trace = read("weft-pool-recording,1\nf,9,,0,1\na,1,64,0,1\nf,1,,0,2\nf,1,,0,3\n");
        assertEquals(2, trace.count());
        assertEquals(2, trace.notes().size());
        assertTrue(trace.notes().get(0).startsWith("line 2: "), trace.notes()::toString);
        assertTrue(trace.notes().get(1).startsWith("line 5: "), trace.notes()::toString);
    }

    @Test
    void anAddressThatComesAgainWhileItIsOutWasFreedInBetween() {
        Trace trace = read("""
                Thread,Time,Action,Pointer,Size,Stream
                1,10:00:00:000001,allocate,0x7f00,256,0
                1,10:00:00:000002,allocate,0x7f00,512,0
                1,10:00:00:000003,free,0x7f00,512,0
                1,10:00:00:000004,allocate,0x7f00,128,0
                """);
        assertEquals(3, trace.allocations());
        assertEquals(2, trace.frees());
        assertEquals(512, trace.peakLiveBytes());
        assertTrue(trace.notes().getFirst().startsWith("line 3: "), trace.notes()::toString);
    }

    @Test
    void aSegmentThatWasNotObtainedLeavesTheRecordedPeakUnknown() {
        Trace trace = read("op,id,bytes,stream,t_us\nS,1,2097152,0,1\na,1,5,0,1\ns,9,2097152,0,2\n");
        assertEquals(-1, trace.recordedReservedPeak());
        assertEquals(1, trace.notes().size());
    }

    @Test
    void theEventOfThePeakIsKnown() {
        Trace trace = read("id,lower,upper,size\n0,0,5,100\n1,2,9,50\n2,5,7,90\n");
        assertEquals(150, trace.peakLiveBytes());
        assertEquals(1, trace.peakEvent());
        assertFalse(trace.isTimed());
    }

    @Test
    void aGzipFileThatIsCutOffIsSaidToBe() throws IOException {
        StringBuilder text = new StringBuilder("op,id,bytes,stream,t_us\n");
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 5000; i++) {
            text.append("a,")
                    .append(i)
                    .append(',')
                    .append(random.nextInt(1 << 20))
                    .append(",0,")
                    .append(i)
                    .append('\n');
        }
        byte[] whole = gzip(text.toString());
        AcceleratorException error =
                assertThrows(AcceleratorException.class, () -> read(Arrays.copyOf(whole, whole.length / 2)));
        assertTrue(error.getMessage().contains("cut off or damaged"), error.getMessage());
    }

    @Test
    void binaryRubbishIsRefusedWhateverItIs() {
        SplittableRandom random = new SplittableRandom(5);
        for (int i = 0; i < 300; i++) {
            byte[] bytes = new byte[1 + random.nextInt(5000)];
            random.nextBytes(bytes);
            if (i % 3 == 0 && bytes.length > 2) {
                bytes[0] = 0x1f;
                bytes[1] = (byte) 0x8b;
            }
            AcceleratorException error = assertThrows(AcceleratorException.class, () -> read(bytes), "seed 5");
            assertEquals(ErrorCode.BAD_DOCUMENT, error.code());
            assertTrue(error.getMessage().length() < 600, error.getMessage());
        }
    }

    @Test
    void aMissingFileAndAFolderAreNamed(@TempDir Path folder) {
        assertEquals(
                ErrorCode.NOT_FOUND,
                assertThrows(AcceleratorException.class, () -> TraceReader.read(folder.resolve("none.csv")))
                        .code());
        assertTrue(assertThrows(AcceleratorException.class, () -> TraceReader.read(folder))
                .getMessage()
                .contains("is a folder"));
    }
}

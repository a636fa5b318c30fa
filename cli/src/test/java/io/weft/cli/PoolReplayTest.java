// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolReplayTest {
    @TempDir
    Path folder;

    private Path trace() throws IOException {
        return Files.writeString(
                folder.resolve("trace.csv"), "id,lower,upper,size\r\n0,0,5,3000000\r\n1,2,9,40\r\n2,5,7,90000000\r\n");
    }

    @Test
    void theTablePutsOurPoolBesideTheCachingModel() throws IOException {
        Invocation call = Invocation.of("pool", "replay", trace().toString(), "--passes", "3");
        assertEquals(0, call.code(), call.err());
        assertTrue(
                call.out()
                        .startsWith(
                                "trace.csv: minimalloc problem, 1 stream; 6 events, 3 allocations, 3 frees; at most"),
                call.out());
        List<String> rows = call.out()
                .lines()
                .filter(line -> line.startsWith("weft ") || line.startsWith("caching "))
                .toList();
        assertEquals(2, rows.size(), call.out());
        for (String column : List.of("median", "p99", "peak allocated", "fragmentation", "OOM retries")) {
            assertTrue(call.out().contains(column), call.out());
        }
        assertTrue(call.out().contains("Times are measured"), call.out());
    }

    @Test
    void aTraceThatDoesNotFitEndsWithOneAndSaysHowMuchWasRefused() throws IOException {
        Invocation call = Invocation.of(
                "pool", "replay", trace().toString(), "--passes", "3", "--limit", "16M", "--pool", "weft");
        assertEquals(1, call.code(), call.err());
        assertTrue(call.out().lines().anyMatch(line -> line.startsWith("weft") && line.endsWith("  3")), call.out());
    }

    @Test
    void thePageAndJsonAreWrittenWhenAskedFor() throws IOException {
        Path page = folder.resolve("page.html");
        Invocation call = Invocation.of(
                "pool",
                "replay",
                trace().toString(),
                "--passes",
                "3",
                "--pool",
                "bestfit",
                "--json",
                "--html",
                page.toString());
        assertEquals(0, call.code(), call.err());
        assertTrue(call.out().contains("\"pool\""), call.out());
        assertTrue(Files.readString(page).startsWith("<!DOCTYPE html>"));
    }

    @Test
    void whatWasMadeSenseOfIsSaid() throws IOException {
        Path odd = Files.writeString(folder.resolve("odd.csv"), "op,id,bytes\nf,3,100\na,1,100\nf,1,100\nf,1,100\n");
        Invocation call = Invocation.of("pool", "replay", odd.toString(), "--passes", "3");
        assertEquals(0, call.code(), call.err());
        assertTrue(call.out().contains("note: line 2: memory is freed that was allocated before"), call.out());
        assertTrue(call.out().contains("note: line 5: memory is freed that is free already"), call.out());
    }

    @Test
    void theFirstLineSaysWhatWasReadAndThatItBeginsInTheMiddle() throws IOException {
        // A list of one dictionary with one active block: the oldest form of a memory snapshot, pickled.
        Path snapshot = Files.writeString(
                folder.resolve("snapshot.pickle"),
                "(lp0\n(dp1\nS'total_size'\nI4096\nsS'blocks'\n(lp2\n(dp3\nS'size'\nI512\nsS'state'\nS'active_allocated'\nsasa.");
        Invocation call = Invocation.of("pool", "replay", snapshot.toString(), "--passes", "3");
        assertEquals(0, call.code(), call.err());
        assertTrue(
                call.out()
                        .startsWith("snapshot.pickle: PyTorch memory snapshot (pickle), device 0, 1 stream; 1 events"),
                call.out());
        Path json = Files.writeString(folder.resolve("snapshot.json"), """
                {"device_traces": [[], [{"action": "alloc", "addr": 1, "size": 1000, "stream": 0},
                  {"action": "free_requested", "addr": 2, "size": 5000, "stream": 0}]]}
                """);
        call = Invocation.of("pool", "replay", json.toString(), "--passes", "3");
        assertEquals(0, call.code(), call.err());
        assertTrue(
                call.out()
                        .startsWith(
                                "snapshot.json: PyTorch memory snapshot (JSON), device 1, 1 stream, starts in the middle"
                                        + " with 5.0 kB live before; 2 events"),
                call.out());
    }

    @Test
    void aPickleThatWouldRunCodeIsOneLineAndTwo() throws IOException {
        Path hostile = Files.write(
                folder.resolve("x.pickle"),
                "\u0080\u0002cos\nsystem\nU\u0002id\u0085R.".getBytes(StandardCharsets.ISO_8859_1));
        Invocation call = Invocation.of("pool", "replay", hostile.toString());
        assertEquals(2, call.code());
        assertEquals(1, call.err().lines().count(), call.err());
        assertTrue(call.err().contains("names the class or function 'os.system'"), call.err());
    }

    @Test
    void helpShowsAnExample() {
        Invocation help = Invocation.of("pool", "replay", "--help");
        assertTrue(help.out().contains("weft pool replay step.csv.gz"), help.out());
        assertTrue(Invocation.of("pool").out().contains("replay"));
    }
}

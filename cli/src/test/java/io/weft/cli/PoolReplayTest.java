// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
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
        assertTrue(call.out().contains("6 events, 3 allocations, 3 frees, 1 stream"), call.out());
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
    void helpShowsAnExample() {
        Invocation help = Invocation.of("pool", "replay", "--help");
        assertTrue(help.out().contains("weft pool replay step.csv.gz"), help.out());
        assertTrue(Invocation.of("pool").out().contains("replay"));
    }
}

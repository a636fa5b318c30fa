// SPDX-License-Identifier: Apache-2.0
package io.weft.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgramTest {

    @Test
    void outputErrorAndExitCodeAreKeptApart() throws Exception {
        Program.Result result =
                Program.of("sh", "-c", "echo out; echo err >&2; exit 3").run();
        assertEquals(3, result.exitCode());
        assertEquals("out\n", result.out());
        assertEquals("err\n", result.err());
    }

    @Test
    void aProgramThatReadsFindsNoInput() throws Exception {
        assertEquals("", Program.of("cat").run().expect(0).out());
    }

    @Test
    void aProgramThatRunsPastItsLimitIsKilledWithItsChildren() {
        // Its child would hold the output open for ten minutes; this test must not wait for it.
        Program sleeper = Program.of("sh", "-c", "echo begun; sleep 600 & sleep 600");
        Program.Watch untilItSpeaks = (process, out) -> {
            while (process.isAlive() && Files.size(out) == 0) {
                process.waitFor(10, TimeUnit.MILLISECONDS);
            }
            return !process.isAlive();
        };
        AssertionError failure = assertThrows(AssertionError.class, () -> sleeper.run(untilItSpeaks));
        assertTrue(failure.getMessage().contains("ran past its limit"), failure::getMessage);
        assertTrue(failure.getMessage().contains("begun"), failure::getMessage);
    }

    @Test
    void aProgramRunsWhereItIsTold() throws Exception {
        Path folder = Checkout.root().resolve("integration-tests").toRealPath();
        assertEquals(folder + "\n", Program.of("pwd").in(folder).run().expect(0).out());
    }
}

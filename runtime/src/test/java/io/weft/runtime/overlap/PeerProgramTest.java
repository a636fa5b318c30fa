// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeerProgramTest {
    private static final OverlapProblem PROBLEM =
            OverlapProblem.of(Pattern.GEMM_REDUCE_SCATTER, 64, 32, 16, ElementType.BF16, 2);

    @TempDir
    Path folder;

    @BeforeEach
    void aShellIsThere() {
        assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "there is no /bin/sh here");
    }

    private PeerProgram program(String... cases) throws IOException {
        Path script = folder.resolve("peer.sh");
        Files.writeString(
                script,
                "while read -r line; do echo \"$line\" >>'" + folder.resolve("heard") + "'\ncase $line in\n"
                        + String.join("\n", cases) + "\nesac\ndone\n");
        return PeerProgram.start("/bin/sh '" + script + "'");
    }

    @Test
    void itIsToldEachProblemAndRunsWhenItIsTold() throws IOException {
        try (PeerProgram program = program(
                "begin*) echo loading; echo '{}' ;;",
                "run) echo '{\"us\": {\"serial\": 12.5, \"async-tp\": null, \"gemm\": 3}}' ;;",
                "end) echo '{}' ;;")) {
            program.begin(PROBLEM);
            assertEquals(Map.of("serial", 12.5, "gemm", 3.0), program.round());
            program.round();
            program.end();
        }
        assertEquals(
                List.of("begin gemm-reduce-scatter 64,32,16", "run", "run", "end"),
                Files.readAllLines(folder.resolve("heard")));
    }

    @Test
    void oneThatEndsEarlyIsNamed() throws IOException {
        try (PeerProgram program = program("begin*) exit 3 ;;")) {
            AcceleratorException gone = assertThrows(AcceleratorException.class, () -> program.begin(PROBLEM));
            assertEquals(ErrorCode.UNAVAILABLE, gone.code());
            assertTrue(gone.getMessage().contains("peer.sh"), gone.getMessage());
            assertTrue(gone.getMessage().contains("begin gemm-reduce-scatter 64,32,16"), gone.getMessage());
        }
    }

    @Test
    void anAnswerThatIsNoneSaysWhatIsMissing() throws IOException {
        try (PeerProgram program = program("run) echo '{\"ms\": {}}' ;;")) {
            AcceleratorException wrong = assertThrows(AcceleratorException.class, program::round);
            assertEquals(ErrorCode.BAD_DOCUMENT, wrong.code());
            assertTrue(wrong.getMessage().contains("the answer to 'run'"), wrong.getMessage());
            assertTrue(wrong.getMessage().contains("'us' is missing"), wrong.getMessage());
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CommandLineTest {
    @Test
    void helpListsEveryCommandAndTheExitCodes() {
        Invocation help = Invocation.of("--help");
        assertEquals(0, help.code());
        for (String command :
                new String[] {"plan", "run", "sweep", "bench", "pool", "backends", "topo", "config", "completion"}) {
            assertTrue(help.out().contains("  " + command), help.out());
        }
        assertTrue(help.out().contains("Exit codes:"), help.out());
    }

    @Test
    void versionNamesTheSpiAndJava() {
        Invocation version = Invocation.of("--version");
        assertEquals(0, version.code());
        assertTrue(version.out().matches("weft \\S+ \\(SPI 1\\.\\d+, Java 25\\)\\R"), version.out());
    }

    @Test
    void configShowsTheOriginOfAValueFromTheCommandLine() {
        Invocation config = Invocation.of("config", "--json", "-D", "run.seed=42");
        assertEquals(0, config.code(), config.err());
        assertTrue(config.out().contains("\"value\" : \"42\""), config.out());
        assertTrue(config.out().contains("\"origin\" : \"command line\""), config.out());
    }

    @Test
    void anUnknownSettingNamesTheNearestOne() {
        unusable("run.seed", "config", "-D", "run.sed=42");
    }

    @Test
    void anUnknownCommandOrOptionSuggestsOne() {
        unusable("topo", "topoo");
        unusable("--json", "config", "--jsn");
    }

    @Test
    void completionIsAScriptThatNamesTheCommands() {
        Invocation completion = Invocation.of("completion");
        assertEquals(0, completion.code());
        assertTrue(completion.out().contains("complete -F _complete_weft"), completion.out());
    }

    private static void unusable(String word, String... arguments) {
        Invocation call = Invocation.of(arguments);
        assertEquals(2, call.code(), call.err());
        assertEquals(1, call.err().strip().lines().count(), call.err());
        assertTrue(call.err().contains(word), call.err());
        assertFalse(call.err().contains("\tat "), call.err());
    }
}

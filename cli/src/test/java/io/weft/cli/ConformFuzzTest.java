// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ConformFuzzTest {
    @Test
    void theReferenceBackendPassesRandomGraphs() {
        Invocation call = Invocation.of("conform", "--on", "sim:mesh-8", "--fuzz", "20", "--seed", "5");
        assertEquals(0, call.code(), call::err);
        assertTrue(call.out().contains("20 random graphs from seed 5 on sim:mesh-8"), call::out);
    }

    @Test
    void theAnswerIsAlsoJson() {
        Invocation call = Invocation.of("conform", "--on", "sim:mesh-8", "--fuzz", "2", "--json");
        assertEquals(0, call.code(), call::err);
        assertTrue(call.out().contains("\"good\" : true"), call::out);
    }

    @Test
    void unusableOptionsAreOneLine() {
        Invocation none = Invocation.of("conform", "--on", "sim:mesh-8", "--fuzz", "0");
        assertEquals(2, none.code());
        assertTrue(none.err().contains("--fuzz is 0; it must be at least 1 graph"), none::err);
        Invocation mixed = Invocation.of("conform", "--on", "sim:mesh-8", "--fuzz", "3", "--rule", "CPY-001");
        assertEquals(2, mixed.code());
        assertTrue(mixed.err().contains("another run"), mixed::err);
        Invocation timing = Invocation.of("conform", "--on", "sim:mesh-8?mode=timing", "--fuzz", "3");
        assertEquals(2, timing.code());
        assertTrue(timing.err().contains("STORAGE"), timing::err);
    }
}

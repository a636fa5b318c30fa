// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlatformUriTest {
    @Test
    void targetAndOptionsAreToldApart() {
        PlatformUri uri = PlatformUri.parse("sim:mesh-8?mode=timing&devices=4");
        assertEquals("sim", uri.provider());
        assertEquals("mesh-8", uri.target());
        assertEquals(Map.of("mode", "timing", "devices", "4"), uri.options());
        assertEquals("sim:mesh-8?mode=timing&devices=4", uri.toString());
    }

    @Test
    void aFileNameMayHoldColonsAndQuestionMarks() {
        PlatformUri uri = PlatformUri.parse("sim:file=dir/what?.yaml");
        assertEquals("dir/what?.yaml", uri.targetValue("file"));
        assertEquals(
                "a:b.yaml", PlatformUri.parse("sim:file=a:b.yaml?mode=timing").targetValue("file"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "sim", "sim:", ":mesh-8", "SIM:mesh-8", "s im:x", "sim:?mode=timing", "sim:x?a=1&a=2"})
    void aMalformedUriIsRefusedInOneLine(String text) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> PlatformUri.parse(text));
        assertEquals(ErrorCode.INVALID_ARGUMENT, refusal.code());
        assertTrue(refusal.getMessage().lines().count() == 1, refusal.getMessage());
    }
}

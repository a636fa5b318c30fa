// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.json;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class JsonWriterTest {
    @Test
    void keysKeepTheirOrderAndLinesEndAlikeEverywhere() {
        String text = JsonWriter.text(json -> json.object(() -> {
            json.member("b", 1).member("a", "x").member("c", true);
            json.array("items", List.of(1.5, 2.0), json::value);
            json.object("empty", () -> {});
        }));
        assertEquals("""
                {
                  "b" : 1,
                  "a" : "x",
                  "c" : true,
                  "items" : [
                    1.5,
                    2
                  ],
                  "empty" : { }
                }
                """, text);
    }

    @Test
    void whatIsNotAsciiIsEscaped() {
        assertEquals("\"\\u00E9\\uD83D\\uDE00\\n\"\n", JsonWriter.text(json -> json.value("\u00e9\uD83D\uDE00\n")));
    }

    @Test
    void numbersThatJsonLacksBecomeNull() {
        assertEquals(
                "[\n  null,\n  null,\n  null\n]\n",
                JsonWriter.text(json -> json.array(
                        List.of(Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY), json::value)));
    }

    @ParameterizedTest
    @CsvSource({
        "0.0, 0",
        "-0.0, 0",
        "1234.56789012345, 1234.56789",
        "0.1, 0.1",
        "1e-9, 1E-9",
        "-2.5, -2.5",
        "123456789012345, 123456789000000",
        "1e300, 1E+300",
        "3.0, 3"
    })
    void numbersKeepNineDigits(double value, String expected) {
        assertEquals(expected + "\n", JsonWriter.text(json -> json.value(value)));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import java.util.Locale;

/** Text and numbers as they may stand in HTML and SVG. */
final class Markup {
    private Markup() {}

    /** A text in which nothing is markup. Control characters, which no page may hold, become a replacement sign. */
    static String escape(String text) {
        StringBuilder safe = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> safe.append("&amp;");
                case '<' -> safe.append("&lt;");
                case '>' -> safe.append("&gt;");
                case '"' -> safe.append("&quot;");
                case '\'' -> safe.append("&#39;");
                default -> safe.appendCodePoint(isText(c) ? c : 0xFFFD);
            }
        });
        return safe.toString();
    }

    private static boolean isText(int c) {
        boolean surrogate = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
        return c >= ' ' && c != 0x7F && !surrogate && c != 0xFFFE && c != 0xFFFF;
    }

    /** A coordinate with two decimals at most. */
    static String coordinate(double value) {
        String text = String.format(Locale.ROOT, "%.2f", value);
        int end = text.length();
        while (text.charAt(end - 1) == '0') {
            end--;
        }
        end -= text.charAt(end - 1) == '.' ? 1 : 0;
        return text.substring(0, end).equals("-0") ? "0" : text.substring(0, end);
    }

    /** A bandwidth or time for people: three significant digits, no exponent. */
    static String figure(double value) {
        if (!Double.isFinite(value)) {
            return "-";
        }
        double size = Math.abs(value);
        int decimals = size == 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }
}

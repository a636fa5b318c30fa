// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.report;

/** Escapes text for XML and HTML. */
final class Text {
    private Text() {}

    /** Escapes what has a meaning; characters that XML cannot hold become question marks. */
    static String xml(String text) {
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '&' -> escaped.append("&amp;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.append((c >= ' ' && c < '\uFFFE') || c == '\n' || c == '\t' ? c : '?');
            }
        }
        return escaped.toString();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import java.util.List;
import java.util.Map;

/** A value of a document together with the line where it stands. */
sealed interface DocumentNode {
    /** Line, from 1. */
    int line();

    /** What it is, for a message such as {@code found a list}. */
    String found();

    /**
     * A single value.
     *
     * @param text as written, without quotes
     * @param quoted whether it was a string in the document, so that it is no number even if it looks like one
     */
    record Scalar(int line, String text, boolean quoted) implements DocumentNode {
        @Override
        public String found() {
            return text.isEmpty() ? "nothing" : "'" + (text.length() > 60 ? text.substring(0, 57) + "..." : text) + "'";
        }
    }

    /** A list. */
    record Items(int line, List<DocumentNode> items) implements DocumentNode {
        @Override
        public String found() {
            return "a list of " + items.size();
        }
    }

    /** Keys and values, in the document's order. */
    record Entries(int line, Map<String, Entry> entries) implements DocumentNode {
        @Override
        public String found() {
            return "a block of keys";
        }
    }

    /** A value and the line of its key. */
    record Entry(int line, DocumentNode value) {}
}

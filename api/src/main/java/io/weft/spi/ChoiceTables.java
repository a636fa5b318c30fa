// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.CollectiveKind;
import java.util.List;

/** Extension: what a backend chooses and why, as tables for people. Safe for any thread; nothing runs on a device. */
public interface ChoiceTables {
    /** Who carries which copy. */
    List<Table> copies();

    /**
     * How the collective library would carry out an operation, by size.
     *
     * @param ranks on the first devices, 1 or more
     */
    List<Table> collectives(CollectiveKind kind, int ranks);

    /**
     * A table.
     *
     * @param title one line; says whether figures are a model's
     * @param header names of the columns; one that starts with {@code >} is right-aligned
     * @param rows as many cells each as the header has
     * @param notes lines below it, each a sentence
     */
    record Table(String title, List<String> header, List<List<String>> rows, List<String> notes) {
        public Table {
            header = List.copyOf(header);
            rows = rows.stream().map(List::copyOf).toList();
            notes = List.copyOf(notes);
        }
    }
}

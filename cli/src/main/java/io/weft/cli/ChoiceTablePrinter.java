// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.spi.ChoiceTables.Table;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a backend says about its choices. */
final class ChoiceTablePrinter {
    private ChoiceTablePrinter() {}

    /** Prints tables, each with its title above and its notes below. */
    static void print(List<Table> tables, String prefix, PrintWriter out) {
        for (Table table : tables) {
            out.println(prefix + table.title());
            TextTable text = new TextTable(table.header().toArray(String[]::new));
            table.rows().forEach(row -> text.row(row.toArray(String[]::new)));
            text.print(out);
            table.notes().forEach(note -> out.println(prefix + note));
            out.println();
        }
    }

    /** The same for machines to read. */
    static List<Map<String, Object>> json(List<Table> tables) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Table table : tables) {
            List<String> header = table.header().stream()
                    .map(name -> name.startsWith(">") ? name.substring(1) : name)
                    .toList();
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("title", table.title());
            one.put("header", header);
            one.put("rows", table.rows());
            one.put("notes", table.notes());
            all.add(one);
        }
        return all;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The keys of one block of a document, read one by one. A key that nobody has asked for when the section is {@link #end ended} is a fault, and the
 * nearest known key is named.
 */
final class DocumentSection {
    private static final double MAX_NUMBER = 1e18;

    private final String source;
    private final String path;
    private final DocumentNode.Entries entries;
    private final Set<String> known = new LinkedHashSet<>();

    DocumentSection(String source, String path, DocumentNode.Entries entries) {
        this.source = source;
        this.path = path;
        this.entries = entries;
    }

    static DocumentSection of(String source, String path, DocumentNode node) {
        if (node instanceof DocumentNode.Entries entries) {
            return new DocumentSection(source, path, entries);
        }
        throw new BadDocument(source, node.line(), path + ": found " + node.found() + ", expected a block of keys");
    }

    String source() {
        return source;
    }

    int line() {
        return entries.line();
    }

    boolean has(String key) {
        known.add(key);
        return entries.entries().containsKey(key);
    }

    /** A fault of this section's key. */
    BadDocument fault(String key, String what) {
        DocumentNode.Entry entry = entries.entries().get(key);
        return new BadDocument(source, entry == null ? entries.line() : entry.line(), name(key) + ": " + what);
    }

    /** A fault of the section as a whole. */
    BadDocument fault(String what) {
        return new BadDocument(source, entries.line(), (path.isEmpty() ? "" : path + ": ") + what);
    }

    DocumentNode node(String key) {
        if (!has(key)) {
            List<String> unknown = entries.entries().keySet().stream()
                    .filter(there -> !known.contains(there))
                    .toList();
            String near = Nearest.to(key, unknown);
            throw near == null
                    ? new BadDocument(source, entries.line(), name(key) + ": this key is missing")
                    : new BadDocument(
                            source,
                            entries.entries().get(near).line(),
                            name(key) + ": this key is missing; there is an unknown key '" + near + "'");
        }
        return entries.entries().get(key).value();
    }

    DocumentSection section(String key) {
        return of(source, name(key), node(key));
    }

    List<DocumentSection> sections(String key) {
        List<DocumentSection> sections = new ArrayList<>();
        List<DocumentNode> items = list(key);
        for (int i = 0; i < items.size(); i++) {
            sections.add(of(source, name(key) + "[" + i + "]", items.get(i)));
        }
        return sections;
    }

    List<DocumentNode> list(String key) {
        DocumentNode node = node(key);
        if (!(node instanceof DocumentNode.Items items)) {
            throw fault(key, "found " + node.found() + ", expected a list");
        }
        return items.items();
    }

    Set<String> keys() {
        known.addAll(entries.entries().keySet());
        return entries.entries().keySet();
    }

    String text(String key) {
        DocumentNode node = node(key);
        if (node instanceof DocumentNode.Scalar scalar && !scalar.text().isBlank()) {
            return scalar.text();
        }
        throw fault(key, "found " + node.found() + ", expected a text");
    }

    String text(String key, String otherwise) {
        return has(key) ? text(key) : otherwise;
    }

    String choice(String key, String... choices) {
        String text = text(key);
        if (Arrays.asList(choices).contains(text)) {
            return text;
        }
        throw fault(key, "found '" + text + "', expected " + oneOf(choices) + Nearest.hint(text, List.of(choices)));
    }

    boolean flag(String key, boolean otherwise) {
        return has(key) ? choice(key, "true", "false").equals("true") : otherwise;
    }

    /** A number above 0. */
    double positive(String key) {
        double number = number(key, "a number above 0");
        if (!(number > 0)) {
            throw fault(key, "found " + node(key).found() + ", expected a number above 0");
        }
        return number;
    }

    double positive(String key, double otherwise) {
        return has(key) ? positive(key) : otherwise;
    }

    /** A number of 0 or more. */
    double notNegative(String key) {
        double number = number(key, "a number of 0 or more");
        if (!(number >= 0)) {
            throw fault(key, "found " + node(key).found() + ", expected a number of 0 or more");
        }
        return number;
    }

    /** A number that is not below a bound. */
    double atLeast(String key, double least, double otherwise) {
        if (!has(key)) {
            return otherwise;
        }
        double number = number(key, "a number of " + (long) least + " or more");
        if (!(number >= least)) {
            throw fault(key, "found " + node(key).found() + ", expected a number of " + (long) least + " or more");
        }
        return number;
    }

    double notNegative(String key, double otherwise) {
        return has(key) ? notNegative(key) : otherwise;
    }

    /** A number above 0 and at most 1. */
    double share(String key) {
        double number = number(key, "a number above 0 and at most 1");
        if (!(number > 0 && number <= 1)) {
            throw fault(key, "found " + node(key).found() + ", expected a number above 0 and at most 1");
        }
        return number;
    }

    double share(String key, double otherwise) {
        return has(key) ? share(key) : otherwise;
    }

    /** A number from 0 to 1; 0 when it is not there. */
    double part(String key) {
        double number = notNegative(key, 0);
        if (number > 1) {
            throw fault(key, "found " + node(key).found() + ", expected a number from 0 to 1");
        }
        return number;
    }

    /** A whole number in a range. */
    long whole(String key, long least, long most) {
        String expected = "a whole number from " + least + " to " + most;
        double number = number(key, expected);
        if (!(number >= least && number <= most && number == Math.rint(number))) {
            throw fault(key, "found " + node(key).found() + ", expected " + expected);
        }
        return (long) number;
    }

    long whole(String key, long least, long most, long otherwise) {
        return has(key) ? whole(key, least, most) : otherwise;
    }

    /** Ends the section: keys that nobody has asked for are unknown. */
    void end() {
        for (var entry : entries.entries().entrySet()) {
            if (!known.contains(entry.getKey())) {
                throw new BadDocument(
                        source,
                        entry.getValue().line(),
                        name(entry.getKey()) + ": unknown key" + Nearest.hint(entry.getKey(), known)
                                + "; known here are " + String.join(", ", known));
            }
        }
    }

    private double number(String key, String expected) {
        DocumentNode node = node(key);
        if (node instanceof DocumentNode.Scalar scalar && !scalar.quoted()) {
            try {
                double number = Double.parseDouble(scalar.text().replace("_", ""));
                if (Math.abs(number) <= MAX_NUMBER) {
                    return number;
                }
            } catch (NumberFormatException notANumber) {
                // Falls through to the one message.
            }
        }
        throw fault(key, "found " + node.found() + ", expected " + expected);
    }

    private String name(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    static String oneOf(String... choices) {
        return choices.length == 1 ? choices[0] : "one of " + String.join(", ", choices);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/** Paths by what they are like, for machines whose matrix nobody could read. */
final class PathSummary {
    /** Machines with more devices than this get a summary in place of a matrix. */
    static final int MOST_IN_A_MATRIX = 64;

    private record Like(String link, String bandwidth) {}

    private record Seen(long pairs, String example) {}

    private final Map<Like, Seen> paths = new LinkedHashMap<>();

    /** Counts the path of an ordered pair. */
    void add(int from, int to, String link, String bandwidth) {
        paths.merge(
                new Like(link, bandwidth),
                new Seen(1, from + " to " + to),
                (known, more) -> new Seen(known.pairs() + 1, known.example()));
    }

    void print(int devices, PrintWriter out) {
        TextTable table = new TextTable("link, hops", ">GB/s one way", ">ordered pairs", "for instance");
        paths.forEach(
                (like, seen) -> table.row(like.link(), like.bandwidth(), Long.toString(seen.pairs()), seen.example()));
        table.print(out);
        out.println("No matrix of " + devices + " x " + devices + " is shown; --json has every pair.");
        out.println();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import java.util.Collection;
import java.util.Optional;

/** Finds what a mistyped name most likely meant. */
public final class NearestName {
    private NearestName() {}

    /**
     * The known name with the fewest edits (insert, delete, replace, swap neighbours) from the given one, if that is near enough to
     * be a slip: at most a third of the longer name's length, at least 2. The first of equals wins.
     */
    public static Optional<String> of(String given, Collection<String> known) {
        String best = null;
        int fewest = Integer.MAX_VALUE;
        for (String name : known) {
            int edits = edits(given, name);
            if (edits < fewest && edits <= Math.max(2, Math.max(given.length(), name.length()) / 3)) {
                fewest = edits;
                best = name;
            }
        }
        return Optional.ofNullable(best);
    }

    /** The edit distance of two names, a swap of neighbours being one edit. */
    public static int edits(String a, String b) {
        int[] beforeLast = new int[b.length() + 1];
        int[] last = new int[b.length() + 1];
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            last[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, Math.min(last[j], row[j - 1]) + 1);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
                }
            }
            int[] free = beforeLast;
            beforeLast = last;
            last = row;
            row = free;
        }
        return last[b.length()];
    }
}

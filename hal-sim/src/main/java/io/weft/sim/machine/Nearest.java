// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import java.util.Collection;

/** Finds what a misspelt word was meant to be. */
final class Nearest {
    private Nearest() {}

    /** {@code ", did you mean 'x'?"} for the nearest known word, empty when none is near. */
    static String hint(String word, Collection<String> known) {
        String best = to(word, known);
        return best == null ? "" : ", did you mean '" + best + "'?";
    }

    /** The nearest known word, null when none is near. */
    static String to(String word, Collection<String> known) {
        String best = null;
        int least = Math.max(2, word.length() / 3) + 1;
        for (String candidate : known) {
            int distance = distance(word, candidate);
            if (distance < least) {
                least = distance;
                best = candidate;
            }
        }
        return best;
    }

    /** Insertions, deletions and replacements that turn one word into the other. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}

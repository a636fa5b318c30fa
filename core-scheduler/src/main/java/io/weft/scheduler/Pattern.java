// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import java.util.Locale;

/** How a GEMM and the communication next to it hang together. */
public enum Pattern {
    /** A is row-sharded, is gathered, and every rank multiplies all of it: column-parallel layers with sequence parallelism. */
    ALL_GATHER_GEMM("all-gather-gemm"),
    /** Every rank has a partial product of all rows; rank r keeps the sum of its rows: row-parallel layers with sequence parallelism. */
    GEMM_REDUCE_SCATTER("gemm-reduce-scatter"),
    /** Every rank has a partial product of all rows and keeps the sum of all: row-parallel layers without sequence parallelism. */
    GEMM_ALL_REDUCE("gemm-all-reduce"),
    /** Rows travel to the rank that multiplies them: dispatch to experts. */
    ALL_TO_ALL_GEMM("all-to-all-gemm"),
    /** Rows are multiplied where they are and travel back to where they came from: combine after experts. */
    GEMM_ALL_TO_ALL("gemm-all-to-all");

    private static final Pattern[] VALUES = values();

    private final String label;

    Pattern(String label) {
        this.label = label;
    }

    /** The name used in commands and JSON, such as {@code all-gather-gemm}. */
    public String label() {
        return label;
    }

    /** Whether the GEMM waits for the communication, rather than the communication for the GEMM. */
    public boolean gathers() {
        return this == ALL_GATHER_GEMM || this == ALL_TO_ALL_GEMM;
    }

    /** Whether partial products of several ranks are summed. */
    public boolean reduces() {
        return this == GEMM_REDUCE_SCATTER || this == GEMM_ALL_REDUCE;
    }

    /** Whether each row has one source and one destination, so that ranks may be loaded unevenly. */
    public boolean exchanges() {
        return this == ALL_TO_ALL_GEMM || this == GEMM_ALL_TO_ALL;
    }

    /**
     * Finds a pattern by its label.
     *
     * @throws AcceleratorException INVALID_ARGUMENT which lists the labels
     */
    public static Pattern parse(String text) {
        String key = text.strip().toLowerCase(Locale.ROOT).replace('_', '-');
        StringBuilder known = new StringBuilder();
        for (Pattern pattern : VALUES) {
            if (pattern.label.equals(key)) {
                return pattern;
            }
            known.append(known.isEmpty() ? "" : ", ").append(pattern.label);
        }
        throw AcceleratorException.invalid("pattern", "'" + text + "' is not a pattern; known are " + known);
    }

    @Override
    public String toString() {
        return label;
    }
}

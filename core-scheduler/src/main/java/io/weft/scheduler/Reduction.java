// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import java.util.Locale;

/** How partial products of several ranks become one sum. */
public enum Reduction {
    /** One kernel sums all partial products in rank order, in fp32, and rounds once: the same bits as a collective that sums in rank order. */
    KERNEL("kernel"),
    /**
     * The owner's GEMM accumulates into a partial product that has arrived (beta = 1), so that the last hop needs no kernel. The own product is never rounded by itself
     * and comes last in the sum, so the bits differ from {@link #KERNEL}.
     */
    ACCUMULATE("accumulate");

    private static final Reduction[] VALUES = values();

    private final String label;

    Reduction(String label) {
        this.label = label;
    }

    /** The name used in commands and JSON. */
    public String label() {
        return label;
    }

    /**
     * Finds a reduction by its label.
     *
     * @throws AcceleratorException INVALID_ARGUMENT which lists the labels
     */
    public static Reduction parse(String text) {
        String key = text.strip().toLowerCase(Locale.ROOT);
        for (Reduction reduction : VALUES) {
            if (reduction.label.equals(key)) {
                return reduction;
            }
        }
        throw AcceleratorException.invalid(
                "reduction", "'" + text + "' is not a reduction; known are kernel, accumulate");
    }

    @Override
    public String toString() {
        return label;
    }
}

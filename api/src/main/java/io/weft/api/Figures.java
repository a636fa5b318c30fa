// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/** Where a time comes from. No report mixes the two without saying which is which. */
public enum Figures {
    /** Predicted by a model, in virtual time. */
    MODEL("model"),
    /** Taken on real hardware. */
    MEASURED("measured");

    private final String label;

    Figures(String label) {
        this.label = label;
    }

    /** The word used in reports and JSON. */
    public String label() {
        return label;
    }
}

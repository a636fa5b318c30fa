// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import java.util.ArrayList;
import java.util.List;

/** Deals spans of time out to rows so that none overlaps another in its row: each goes to the first row that is free. */
final class TrackRows {
    private final List<Double> freeFrom = new ArrayList<>();

    /** The row, from 0, of a span; spans must come by their starts. */
    int place(double start, double end) {
        for (int row = 0; row < freeFrom.size(); row++) {
            if (freeFrom.get(row) <= start) {
                freeFrom.set(row, end);
                return row;
            }
        }
        freeFrom.add(end);
        return freeFrom.size() - 1;
    }

    /** Rows used so far. */
    int rows() {
        return freeFrom.size();
    }
}

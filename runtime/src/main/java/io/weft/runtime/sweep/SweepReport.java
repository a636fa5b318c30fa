// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sweep;

import java.util.List;

/**
 * What {@code weft sweep} tells.
 *
 * @param rows one for each point, in the order of the space
 * @param resumed rows that an earlier sweep had left in the file
 */
public record SweepReport(List<SweepRow> rows, int resumed) {
    public SweepReport {
        rows = List.copyOf(rows);
    }

    /** The rows as one JSON document. */
    public String json() {
        return SweepFormat.JSON.whole(rows);
    }
}

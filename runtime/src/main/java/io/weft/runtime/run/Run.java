// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.run;

import io.weft.api.graph.Timeline;
import java.util.List;
import java.util.Objects;

/**
 * A finished run.
 *
 * @param report what was found
 * @param timelines one for each run of the report, where the platform tells when commands ran; otherwise empty
 */
public record Run(RunReport report, List<Timeline> timelines) {
    public Run {
        Objects.requireNonNull(report);
        timelines = List.copyOf(timelines);
    }
}

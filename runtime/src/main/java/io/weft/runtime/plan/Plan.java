// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import io.weft.api.graph.Timeline;
import java.util.List;
import java.util.Objects;

/**
 * A finished plan.
 *
 * @param report its figures
 * @param timelines the chosen schedule's timeline of each problem, with the use of resources over time; empty unless asked for
 */
public record Plan(PlanReport report, List<Timeline> timelines) {
    public Plan {
        Objects.requireNonNull(report);
        timelines = List.copyOf(timelines);
    }
}

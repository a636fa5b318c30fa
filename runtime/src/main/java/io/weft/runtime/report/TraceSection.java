// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.graph.Timeline;
import io.weft.runtime.plan.Plan;
import io.weft.runtime.plan.PlanReport.ProblemReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A part of a trace.
 *
 * @param name for people, such as {@code qkv: hetero-fused-1d/chunks=4}
 * @param timeline what ran when; one with intervals also shows engines and links
 */
public record TraceSection(String name, Timeline timeline) {
    public TraceSection {
        Objects.requireNonNull(name);
        Objects.requireNonNull(timeline);
    }

    /** The sections of a plan that kept its timelines, one for each problem. */
    public static List<TraceSection> of(Plan plan) {
        List<TraceSection> sections = new ArrayList<>();
        for (int i = 0; i < plan.timelines().size(); i++) {
            ProblemReport problem = plan.report().problems().get(i);
            sections.add(new TraceSection(
                    problem.name() + ": " + problem.choice(), plan.timelines().get(i)));
        }
        return sections;
    }
}

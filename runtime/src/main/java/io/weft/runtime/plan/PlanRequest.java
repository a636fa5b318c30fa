// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import io.weft.runtime.model.ModelConfig;
import io.weft.scheduler.Deployment;
import java.util.Objects;

/**
 * What is to be planned.
 *
 * @param model the model
 * @param deployment how it is spread over the devices, and how many tokens pass
 * @param select {@code heuristic}, {@code model}, or {@code all}, which chooses like {@code model} and reports every candidate instead of the
 *     best of each kind
 * @param timelines whether the chosen schedules' timelines are kept, for traces and pages
 * @param memory whether one pass goes through the pools, for the report's memory section
 */
public record PlanRequest(ModelConfig model, Deployment deployment, String select, boolean timelines, boolean memory) {
    public PlanRequest {
        Objects.requireNonNull(model);
        Objects.requireNonNull(deployment);
        Objects.requireNonNull(select);
    }

    /** The same with memory. */
    public PlanRequest(ModelConfig model, Deployment deployment, String select, boolean timelines) {
        this(model, deployment, select, timelines, true);
    }
}

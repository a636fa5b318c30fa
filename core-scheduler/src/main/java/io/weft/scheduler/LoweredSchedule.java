// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.List;

/**
 * A schedule as a command graph, with the slots that the caller binds. Slot i of each list belongs to rank i; all matrices are row-major without gaps, in the shapes that {@link OverlapProblem}
 * tells. Every other slot of the graph is workspace, which the executor provides. Immutable.
 *
 * @param problem what is computed
 * @param schedule how
 * @param graph the commands
 * @param operands A of each rank
 * @param weights B of each rank
 * @param results C of each rank
 */
public record LoweredSchedule(
        OverlapProblem problem,
        Schedule schedule,
        CommandGraph graph,
        List<Slot> operands,
        List<Slot> weights,
        List<Slot> results) {
    public LoweredSchedule {
        operands = List.copyOf(operands);
        weights = List.copyOf(weights);
        results = List.copyOf(results);
    }

    /** Bytes of workspace on one rank. */
    public long workspaceBytes(int rank) {
        long bytes = 0;
        for (Slot slot : graph.slots()) {
            if (slot.device() == rank && slot.role().isWorkspace()) {
                bytes += slot.bytes();
            }
        }
        return bytes;
    }

    /** The same with another graph over the same slots; for tests that prove that a check can fail. */
    public LoweredSchedule withGraph(CommandGraph other) {
        return new LoweredSchedule(problem, schedule, other, operands, weights, results);
    }
}

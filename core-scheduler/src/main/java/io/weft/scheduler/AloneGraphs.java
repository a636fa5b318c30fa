// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/** Parts of a serial schedule by themselves: what overlap is measured against. They use the same memory at the same places as the schedule that they come from, and compute nothing of use. */
public final class AloneGraphs {
    private AloneGraphs() {}

    /** The GEMMs of the serial schedule, on all ranks at once. Run after that schedule, it multiplies the same numbers, on which the power and so the speed of a device depends. */
    public static LoweredSchedule gemm(OverlapProblem problem) {
        return part(problem, Schedule.serial(), Command.Gemm.class::isInstance);
    }

    /** The communication of the serial schedule: the backend's collective, or one copy for each pair of ranks. */
    public static LoweredSchedule communication(OverlapProblem problem, TransferEngine engine) {
        return part(problem, Schedule.serial().withEngine(engine), Traffic::isTransfer);
    }

    private static LoweredSchedule part(OverlapProblem problem, Schedule schedule, Predicate<Command> wanted) {
        LoweredSchedule whole = Lowering.lower(problem, schedule);
        CommandGraph graph = whole.graph();
        CommandGraph.Builder kept = CommandGraph.builder(graph.deviceCount());
        for (Slot slot : graph.slots()) {
            kept.slot(slot.device(), slot.name(), slot.bytes(), slot.role());
        }
        int[] renumbered = new int[graph.size()];
        for (int node = 0; node < graph.size(); node++) {
            renumbered[node] = -1;
            if (wanted.test(graph.command(node))) {
                int[] after = Arrays.stream(graph.dependencies(node))
                        .map(before -> renumbered[before])
                        .toArray();
                renumbered[node] = kept.add(
                        graph.device(node),
                        graph.lane(node),
                        graph.priority(node),
                        graph.command(node),
                        graph.label(node),
                        after);
            }
        }
        List<Slot> slots = kept.build().slots();
        return new LoweredSchedule(
                problem,
                schedule,
                kept.build(),
                same(slots, whole.operands()),
                same(slots, whole.weights()),
                same(slots, whole.results()));
    }

    private static List<Slot> same(List<Slot> slots, List<Slot> wanted) {
        return wanted.stream().map(slot -> slots.get(slot.index())).toList();
    }
}

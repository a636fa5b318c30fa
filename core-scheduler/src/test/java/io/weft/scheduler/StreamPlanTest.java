// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.List;
import org.junit.jupiter.api.Test;

class StreamPlanTest {
    private static Command fill(Slot slot) {
        return new Command.Fill(BufferView.vector(slot, 0, 4, ElementType.FP32), 0);
    }

    private static Command barrier(int rank, int key) {
        return new Command.Collective(
                CollectiveKind.BARRIER, ReduceOp.SUM, rank, 2, 0, null, null, List.of(), List.of(), key);
    }

    @Test
    void dependenciesThatLanesOrEarlierWaitsImplyNeedNoEvent() {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        Slot slot = graph.slot(0, "x", 16, Slot.Role.OUTPUT);
        int first = graph.add(0, 0, Priority.NORMAL, fill(slot), "first");
        int second = graph.add(0, 0, Priority.NORMAL, fill(slot), "second", first);
        int third = graph.add(0, 1, Priority.NORMAL, fill(slot), "third", second, first);
        int fourth = graph.add(0, 2, Priority.NORMAL, fill(slot), "fourth", third, first);
        int fifth = graph.add(0, 2, Priority.NORMAL, fill(slot), "fifth", second, third);
        StreamPlan plan = new StreamPlan(graph.build());
        assertEquals(3, plan.queues.length);
        assertArrayEquals(new int[0], plan.waits[second]);
        assertArrayEquals(new int[] {second}, plan.waits[third]);
        assertArrayEquals(new int[] {third}, plan.waits[fourth]);
        assertArrayEquals(new int[0], plan.waits[fifth]);
        assertEquals(2, plan.events);
        assertEquals(-1, plan.eventOf[first]);
    }

    @Test
    void loweredSchedulesHaveOneEventForEachNodeThatAnotherLaneWaitsFor() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1024, 64, 64, ElementType.BF16, 8);
        CommandGraph graph = Lowering.lower(problem, Schedule.parse("hetero-unfused-1d/chunks=8"))
                .graph();
        StreamPlan plan = new StreamPlan(graph);
        assertEquals(8 * (1 + 7), plan.queues.length);
        assertEquals(8 * 7 * 8, plan.events, "one for each copy");
    }

    @Test
    void aQueueTouchesThePeersItCopiesTo() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 64, 8, 8, ElementType.BF16, 3);
        StreamPlan plan = new StreamPlan(
                Lowering.lower(problem, Schedule.parse("cover-merge")).graph());
        for (int queue = 0; queue < plan.queues.length; queue++) {
            boolean sends =
                    plan.graph.command(plan.lastOf[queue]) instanceof Command.Copy copy && Traffic.isTransfer(copy);
            assertEquals(sends ? 2 : 1, plan.touches[queue].length);
        }
    }

    @Test
    void aCollectiveIsIssuedWhereItsLastPartIs() {
        CommandGraph.Builder graph = CommandGraph.builder(2);
        Slot slot = graph.slot(1, "x", 16, Slot.Role.OUTPUT);
        int first = graph.add(0, 0, Priority.HIGH, barrier(0, 5), "barrier");
        graph.add(1, 1, Priority.NORMAL, fill(slot), "fill");
        int last = graph.add(1, 0, Priority.HIGH, barrier(1, 5), "barrier");
        StreamPlan plan = new StreamPlan(graph.build());
        assertTrue(plan.closesGroup[last] && !plan.closesGroup[first]);
    }

    @Test
    void workBetweenThePartsOfACollectiveThatWaitsForThemIsRefused() {
        CommandGraph.Builder graph = CommandGraph.builder(2);
        Slot slot = graph.slot(0, "x", 16, Slot.Role.OUTPUT);
        graph.add(0, 0, Priority.HIGH, barrier(0, 5), "barrier");
        graph.add(0, 0, Priority.NORMAL, fill(slot), "too early");
        graph.add(1, 0, Priority.HIGH, barrier(1, 5), "barrier");
        CommandGraph built = graph.build();
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> new StreamPlan(built));
        assertTrue(refusal.getMessage().contains("too early"), refusal::getMessage);
    }
}

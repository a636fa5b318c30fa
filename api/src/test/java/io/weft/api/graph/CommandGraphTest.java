// SPDX-License-Identifier: Apache-2.0
package io.weft.api.graph;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommandGraphTest {
    private final CommandGraph.Builder builder = CommandGraph.builder(2);
    private final Slot a = builder.slot(0, "A", 4096, Slot.Role.INPUT);
    private final Slot b = builder.slot(1, "B", 4096, Slot.Role.OUTPUT);

    private BufferView vector(Slot slot, long elements) {
        return BufferView.vector(slot, 0, elements, ElementType.FP32);
    }

    @Test
    void nodesKeepTheirOrderAndDependencies() {
        int first = add(new Command.Fill(vector(a, 4), 0));
        int second = add(new Command.Copy(vector(b, 4), vector(a, 4), CopyMethod.AUTO), first, -1, first);
        CommandGraph graph = builder.build();
        assertEquals(2, graph.size());
        assertArrayEquals(new int[] {first}, graph.dependencies(second));
        assertEquals(0, graph.withoutDependency(second, first).dependencyCount(second));
        assertThrows(AcceleratorException.class, () -> graph.withoutDependency(first, second));
    }

    @Test
    void aManyNodeGraphGrowsWithoutLoss() {
        for (int i = 0; i < 1000; i++) {
            add(new Command.Fill(vector(a, 4), i), i - 1, i - 2, i - 3);
        }
        CommandGraph graph = builder.build();
        for (int i = 3; i < 1000; i++) {
            assertArrayEquals(new int[] {i - 1, i - 2, i - 3}, graph.dependencies(i));
            assertEquals(i, ((Command.Fill) graph.command(i)).bits());
        }
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        Command fill = new Command.Fill(vector(a, 4), 0);
        refused(() -> builder.add(2, 0, Priority.NORMAL, fill, ""));
        refused(() -> builder.add(0, -1, Priority.NORMAL, fill, ""));
        refused(() -> builder.add(0, 0, Priority.NORMAL, fill, "", 0));
        Slot foreign = CommandGraph.builder(1).slot(0, "F", 64, Slot.Role.INPUT);
        refused(() -> builder.add(0, 0, Priority.NORMAL, new Command.Fill(vector(foreign, 4), 0), ""));
        refused(() -> CommandGraph.builder(0));
    }

    @Test
    void commandsCheckWhatTheirOperandsTell() {
        refused(() -> new Command.Copy(vector(b, 4), vector(a, 5), CopyMethod.AUTO));
        refused(() -> new Command.Copy(
                BufferView.vector(a, 8, 4, ElementType.FP32), vector(a, 4), CopyMethod.AUTO)); // overlap
        refused(() -> new Command.Copy(
                vector(b, 4), BufferView.pitched(a, 0, 2, 2, 3, ElementType.FP32), CopyMethod.AUTO)); // gaps
        BufferView m23 = BufferView.matrix(a, 0, 2, 3, ElementType.FP32);
        BufferView m34 = BufferView.matrix(a, 512, 3, 4, ElementType.FP32);
        BufferView m24 = BufferView.matrix(b, 0, 2, 4, ElementType.FP32);
        assertEquals(48, Command.Gemm.of(m24, m23, m34).flops());
        refused(() -> Command.Gemm.of(m23, m23, m34));
        refused(() -> Command.Gemm.of(m24, m23, BufferView.matrix(a, 512, 3, 4, ElementType.BF16)));
        refused(() -> new Command.Gemm(m24, m23, m34, false, false, 1, 0, 1000, 8, 6, 12)); // batch leaves C
        refused(() -> new Command.Reduce(m24, List.of(), ReduceOp.SUM));
        refused(() -> new Command.Reduce(m24, List.of(m23), ReduceOp.SUM));
    }

    @Test
    void collectivesCheckCountsRanksAndRoots() {
        Command.Collective gather = collective(CollectiveKind.ALL_GATHER, vector(a, 4), vector(b, 8));
        assertEquals(4, gather.count());
        assertEquals(
                4,
                collective(CollectiveKind.REDUCE_SCATTER, vector(a, 8), vector(b, 4))
                        .count());
        refused(() -> collective(CollectiveKind.ALL_GATHER, vector(a, 4), vector(b, 9)));
        refused(() -> collective(CollectiveKind.ALL_REDUCE, vector(a, 4), null));
        refused(() -> new Command.Collective(
                CollectiveKind.BROADCAST, ReduceOp.SUM, 1, 2, 2, null, vector(b, 4), List.of(), List.of(), 0));
        refused(() -> new Command.Collective(
                CollectiveKind.ALL_TO_ALL_V,
                ReduceOp.SUM,
                0,
                2,
                0,
                vector(a, 4),
                vector(b, 4),
                List.of(1L, 2L),
                List.of(2L, 2L),
                0));
        assertEquals(0, collective(CollectiveKind.BARRIER, null, null).count());
    }

    private static Command.Collective collective(CollectiveKind kind, BufferView send, BufferView receive) {
        return new Command.Collective(kind, ReduceOp.SUM, 0, 2, 0, send, receive, List.of(), List.of(), 0);
    }

    private int add(Command command, int... dependencies) {
        return builder.add(0, 0, Priority.NORMAL, command, "n", dependencies);
    }

    private static void refused(Runnable call) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, call::run);
        assertTrue(refusal.getMessage().lines().count() == 1, refusal.getMessage());
    }
}

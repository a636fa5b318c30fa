// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineCatalog;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommandRuntimeTest {
    private static final int[] NONE = {};

    private final Machine machine = MachineCatalog.open("mesh-8");
    private final CommandRuntime runtime = new CommandRuntime(machine, MemoryPlaces.OF_SLOTS);
    private final GraphKit kit = GraphKit.on(machine);
    private final List<String> heard = new ArrayList<>();

    private void listen() {
        runtime.listener(new RuntimeListener() {
            @Override
            public void started(int operation) {
                heard.add("started " + operation);
            }

            @Override
            public void completed(int operation) {
                heard.add("completed " + operation);
            }

            @Override
            public void failed(int operation, AcceleratorException cause) {
                heard.add("failed " + operation + " " + cause.code());
            }
        });
    }

    private Command copy(int from, int to, long bytes) {
        return kit.graphCommand(kit.copy(from, to, bytes, 0));
    }

    @Test
    void nothingHappensInsideSubmitAndEverythingInOrderAfterwards() {
        listen();
        int first = runtime.submit(copy(0, 1, 1 << 20), 0, 0, Priority.NORMAL);
        int second = runtime.submit(copy(0, 1, 1 << 20), 0, 0, Priority.NORMAL);
        assertTrue(heard.isEmpty());
        assertEquals(OperationState.WAITING, runtime.state(first));
        assertTrue(runtime.advanceUntil(first));
        assertEquals(List.of("started 0", "completed 0", "started 1"), heard);
        assertFalse(runtime.isOver(second));
        assertTrue(runtime.runUntilIdle());
        assertEquals(List.of("started 0", "completed 0", "started 1", "completed 1"), heard);
        assertEquals(OperationState.DONE, runtime.state(second));
        assertEquals(0, runtime.unfinished());
    }

    @Test
    void anOperationStartsNoEarlierThanItsDeviceSeesIt() {
        runtime.keep(true);
        int op = runtime.submit(copy(0, 1, 100), 0, 0, Priority.NORMAL, 7_000_000, NONE, 0);
        runtime.advanceTo(6_999_999);
        assertEquals(OperationState.WAITING, runtime.state(op));
        runtime.advanceTo(7_000_000);
        assertEquals(OperationState.RUNNING, runtime.state(op));
        runtime.runUntilIdle();
        assertEquals(7_000_000, runtime.startedPs(op));
    }

    @Test
    void aMarkerTakesNoTimeAndJoinsLanes() {
        runtime.keep(true);
        int a = runtime.submit(copy(0, 1, 1 << 20), 0, 0, Priority.NORMAL);
        int b = runtime.submit(copy(0, 2, 1 << 22), 0, 1, Priority.NORMAL);
        int joined = runtime.marker(0, 2, 0, new int[] {a, b}, 2);
        runtime.runUntilIdle();
        double signal = machine.device(0).launch().signalNanos();
        assertEquals(runtime.endedPs(b) + (long) (signal * 1000), runtime.endedPs(joined));
    }

    @Test
    void aFailedOperationIsReportedAndReleasesWhatDependsOnIt() {
        listen();
        runtime.faults((operation, command, device, lane) ->
                operation == 0 ? new AcceleratorException(ErrorCode.VENDOR, "copy", "injected") : null);
        runtime.submit(copy(0, 1, 1 << 20), 0, 0, Priority.NORMAL);
        runtime.submit(copy(0, 1, 1 << 20), 0, 0, Priority.NORMAL);
        assertTrue(runtime.runUntilIdle());
        assertEquals(List.of("failed 0 VENDOR", "started 1", "completed 1"), heard);
    }

    @Test
    void aCancelledOperationNeverStartsAndReleasesWhatDependsOnIt() {
        listen();
        int first = runtime.submit(copy(0, 1, 1 << 20), 0, 0, Priority.NORMAL);
        int second = runtime.submit(copy(0, 1, 1 << 20), 0, 0, Priority.NORMAL);
        int third = runtime.submit(copy(0, 1, 1 << 20), 0, 0, Priority.NORMAL);
        assertTrue(runtime.cancel(second));
        assertFalse(runtime.cancel(second));
        assertTrue(runtime.runUntilIdle());
        assertTrue(runtime.isOver(first) && runtime.isOver(third));
        assertEquals(List.of("started 0", "completed 0", "started 2", "completed 2"), heard);
    }

    @Test
    void aRunningOperationThatIsCancelledGivesItsEngineBack() {
        runtime.keep(true);
        int first = runtime.submit(copy(0, 1, 1L << 30), 0, 0, Priority.NORMAL);
        int second = runtime.submit(copy(0, 1, 1 << 20), 0, 1, Priority.NORMAL);
        runtime.advanceTo(1_000_000);
        runtime.cancel(first);
        assertTrue(runtime.runUntilIdle());
        assertEquals(OperationState.CANCELLED, runtime.state(first));
        assertEquals(1_000_000, runtime.startedPs(second));
    }

    @Test
    void aCollectiveThatLacksAPartDoesNotHangAndSaysWhatIsMissing() {
        int handle = runtime.openCollective(8);
        int op = -1;
        for (int rank = 0; rank < 7; rank++) {
            op = runtime.submitPart(
                    handle,
                    kit.part(CollectiveKind.ALL_GATHER, rank, 8, 1024, 0),
                    rank,
                    0,
                    Priority.NORMAL,
                    0,
                    NONE,
                    0);
        }
        assertFalse(runtime.advanceUntil(op));
        assertTrue(runtime.explain(op).contains("7 of 8 parts are there, 1 were never submitted"), runtime.explain(op));
        int last = runtime.submitPart(
                handle, kit.part(CollectiveKind.ALL_GATHER, 7, 8, 1024, 0), 7, 0, Priority.NORMAL, 0, NONE, 0);
        assertTrue(runtime.advanceUntil(op));
        assertTrue(runtime.isOver(last));
    }

    @Test
    void twoCollectivesInOppositeOrderOnOneQueueAreReportedAsStuck() {
        int a = runtime.openCollective(2);
        int b = runtime.openCollective(2);
        // Lanes 0 and 4 share hardware queue 0.
        part(a, 0, 0);
        part(b, 0, 4);
        part(b, 1, 0);
        part(a, 1, 4);
        assertFalse(runtime.runUntilIdle());
        assertTrue(runtime.explainStuck().contains("is held up"), runtime.explainStuck());
        runtime.abortCollective(a, new AcceleratorException(ErrorCode.ABORTED, "test", "stop"));
        assertTrue(runtime.runUntilIdle());
    }

    private int part(int handle, int rank, int lane) {
        return runtime.submitPart(
                handle,
                kit.part(CollectiveKind.ALL_GATHER, rank, 2, 1024, handle),
                rank,
                lane,
                Priority.NORMAL,
                0,
                NONE,
                0);
    }

    @Test
    void cancellingOnePartEndsTheWholeCollectiveWithAborted() {
        listen();
        int handle = runtime.openCollective(2);
        int first = part(handle, 0, 0);
        part(handle, 1, 0);
        runtime.advanceTo(1_000_000);
        runtime.cancel(first);
        assertTrue(runtime.runUntilIdle());
        assertTrue(heard.contains("failed 1 ABORTED"), heard.toString());
    }

    @Test
    void aMillionOperationsThroughOneRuntimeNeedTheMemoryOfAFew() {
        Command small = copy(0, 1, 4096);
        int last = -1;
        for (int i = 0; i < 200_000; i++) {
            last = runtime.submit(small, 0, i % 3, Priority.NORMAL);
            if (i % 16 == 0) {
                runtime.advanceUntil(last);
            }
        }
        assertTrue(runtime.advanceUntil(last));
        assertTrue(runtime.capacity() <= 128, "slots: " + runtime.capacity());
    }

    @Test
    void anUnsupportedElementTypeIsRefusedByName() {
        // switch-8 multiplies OCP 8-bit floats only.
        CommandRuntime ocp = new CommandRuntime(MachineCatalog.open("switch-8"), MemoryPlaces.OF_SLOTS);
        BufferView square = BufferView.matrix(kit.slot(0, 64), 0, 8, 8, ElementType.FP8_E4M3_FNUZ);
        Command gemm = Command.Gemm.of(square, square, square);
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> ocp.submit(gemm, 0, 0, Priority.NORMAL));
        assertEquals(ErrorCode.UNSUPPORTED, refused.code());
        assertTrue(refused.getMessage().contains("does not multiply fp8-fnuz"), refused.getMessage());
    }

    @Test
    void streamsAndGraphsGiveOneTimeline() {
        kit.copy(0, 1, 1 << 24, 0);
        kit.gemm(1, 4096, 4096, 4096, 0, 0);
        kit.collective(CollectiveKind.ALL_REDUCE, 1 << 24, 1, 5, 1);
        CommandGraph graph = kit.graph();
        Timeline timeline = kit.run();
        CommandRuntime streams = new CommandRuntime(machine, MemoryPlaces.OF_SLOTS);
        streams.keep(true);
        streams.advanceTo(VirtualTime.fromNs(kit.graphLatency()));
        int handle = streams.openCollective(8);
        for (int node = 0; node < graph.size(); node++) {
            int[] after = graph.dependencies(node);
            if (graph.command(node) instanceof Command.Collective part) {
                streams.submitPart(
                        handle,
                        part,
                        graph.device(node),
                        graph.lane(node),
                        graph.priority(node),
                        0,
                        after,
                        after.length);
            } else {
                streams.submit(graph.command(node), graph.device(node), graph.lane(node), graph.priority(node), after);
            }
        }
        streams.runUntilIdle();
        for (int node = 0; node < graph.size(); node++) {
            assertEquals(timeline.startNanos(node), streams.startedPs(node) / 1e3, 0);
            assertEquals(timeline.endNanos(node), streams.endedPs(node) / 1e3, 0);
        }
    }
}

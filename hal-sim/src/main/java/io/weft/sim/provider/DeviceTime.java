// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Memory;
import io.weft.api.MemoryKind;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.sim.machine.Machine;
import io.weft.sim.model.CommandRuntime;
import io.weft.sim.model.MemoryPlaces;
import io.weft.sim.model.RuntimeListener;
import io.weft.sim.model.UsageMeter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Joins the streams' work to the runtime's operations. Confined to the platform's lock. */
final class DeviceTime implements RuntimeListener {
    private final CommandRuntime runtime;
    private final Map<Integer, Work> works = new HashMap<>();
    private final Map<Integer, CollectiveCall> transfers = new HashMap<>();
    private final Map<Integer, GraphRun> runs = new HashMap<>();
    private final Runnable progressed;
    private final ArrayDeque<Abort> aborts = new ArrayDeque<>();
    private boolean aborting;
    private int[] after = new int[16];

    /** A collective that is to be ended. */
    private record Abort(int handle, AcceleratorException cause) {}

    /**
     * @param progressed called whenever something is submitted
     */
    DeviceTime(Machine machine, Runnable progressed) {
        this.progressed = progressed;
        this.runtime = new CommandRuntime(machine, DeviceTime::place);
        runtime.listener(this);
    }

    private static int place(Memory memory) {
        Buffer buffer = (Buffer) memory;
        return buffer.kind() == MemoryKind.HOST_PINNED
                ? MemoryPlaces.HOST
                : buffer.device().ordinal();
    }

    // Time.

    /** Present virtual time, ps. */
    long nowPs() {
        return runtime.nowPs();
    }

    /** Advances to an instant; one in the past changes nothing. */
    void advanceTo(long timePs) {
        runtime.advanceTo(timePs);
    }

    /** Advances until work is over; false when that can never be as things are. */
    boolean advanceUntil(Work work) {
        return work.isDone() || runtime.advanceUntil(work.operation());
    }

    /** Whether nothing can happen any more as things are. */
    boolean isQuiet() {
        return runtime.isQuiet();
    }

    /** Begins to count what resources are used. */
    UsageMeter meter() {
        return new UsageMeter(runtime);
    }

    /** Host ns of the call that issues a command. */
    double issueNanos(Command command, SimDevice device) {
        return runtime.issueNanos(command, device.ordinal());
    }

    /** Host ns for a copy that is issued together with one before it. */
    double furtherIssueNanos(Command command, SimDevice device) {
        return runtime.furtherIssueNanos(command, device.ordinal());
    }

    /** When the device sees a command whose host call returns at an instant. */
    long visiblePs(Command command, SimDevice device, long issuedPs) {
        return runtime.visiblePs(command, device.ordinal(), issuedPs);
    }

    // Submitting.

    /** A command on a stream. */
    void command(CommandWork work, Command command, long issuedPs) {
        SimStream stream = work.stream();
        int device = stream.device().ordinal();
        int count = dependencies(work);
        submitted(
                work,
                runtime.submit(
                        command,
                        device,
                        stream.lane(),
                        stream.effectivePriority(),
                        runtime.visiblePs(command, device, issuedPs),
                        after,
                        count));
    }

    /**
     * A point in the order of a stream that takes no time.
     *
     * @param more operations that it waits for beside its predecessors
     */
    void marker(Work work, long issuedPs, int... more) {
        SimStream stream = work.stream();
        int count = dependencies(work);
        if (count + more.length > after.length) {
            after = Arrays.copyOf(after, 2 * (count + more.length));
        }
        System.arraycopy(more, 0, after, count, more.length);
        count += more.length;
        submitted(work, runtime.marker(stream.device().ordinal(), stream.lane(), issuedPs, after, count));
    }

    /** A kernel that runs until {@link #finish}. */
    void hold(Gate work, long issuedPs) {
        SimStream stream = work.stream();
        int count = dependencies(work);
        submitted(
                work,
                runtime.hold(
                        stream.device().ordinal(),
                        stream.lane(),
                        stream.effectivePriority(),
                        runtime.kernelVisiblePs(stream.device().ordinal(), issuedPs),
                        after,
                        count));
    }

    /** Ends a held kernel at this instant. */
    void finish(Gate work) {
        runtime.finish(work.operation());
    }

    /** A handle for the parts of a collective. */
    int openCollective(int parts) {
        return runtime.openCollective(parts);
    }

    /** A rank's part of a collective. */
    void part(CollectiveWork work, int handle, Command.Collective command, long issuedPs) {
        SimStream stream = work.stream();
        int device = stream.device().ordinal();
        int count = dependencies(work);
        submitted(
                work,
                runtime.submitPart(
                        handle,
                        command,
                        device,
                        stream.lane(),
                        stream.effectivePriority(),
                        runtime.visiblePs(command, device, issuedPs),
                        after,
                        count));
    }

    /**
     * Ends a collective's parts at this instant. What is ended lets its stream go on to what fails next, so the ends are worked off one after the other here: a thousand of them on one stream must not be a thousand calls deep.
     */
    void abortCollective(int handle, AcceleratorException cause) {
        aborts.addLast(new Abort(handle, cause));
        if (aborting) {
            return;
        }
        aborting = true;
        try {
            for (Abort next = aborts.pollFirst(); next != null; next = aborts.pollFirst()) {
                runtime.abortCollective(next.handle(), next.cause());
            }
        } finally {
            aborting = false;
        }
    }

    /** Moves a transfer's data now; both sides' kernels are running. */
    void transfer(CollectiveCall call) {
        int handle = runtime.openCollective(2);
        call.handle(handle);
        for (CollectiveCall.Part part : call.parts()) {
            SimStream stream = part.work().stream();
            int operation =
                    runtime.submitWithin(handle, part.command(), stream.device().ordinal(), stream.effectivePriority());
            transfers.put(operation, call);
        }
    }

    /**
     * A node of a graph.
     *
     * @param handle of its collective, or -1
     * @return the operation's number; nodes that are submitted one after the other have ascending numbers without gaps
     */
    int node(
            GraphRun run,
            Command command,
            int handle,
            int device,
            int lane,
            Priority priority,
            long visiblePs,
            int[] dependsOn) {
        int operation = handle < 0
                ? runtime.submit(command, device, lane, priority, visiblePs, dependsOn, dependsOn.length)
                : runtime.submitPart(
                        handle,
                        (Command.Collective) command,
                        device,
                        lane,
                        priority,
                        visiblePs,
                        dependsOn,
                        dependsOn.length);
        runs.put(operation, run);
        progressed.run();
        return operation;
    }

    private int dependencies(Work work) {
        int count = 0;
        for (Work earlier : work.after()) {
            // The order of its own stream is kept by the lane.
            if (!earlier.isDone() && earlier.stream() != work.stream()) {
                if (count == after.length) {
                    after = Arrays.copyOf(after, 2 * count);
                }
                after[count++] = earlier.operation();
            }
        }
        return count;
    }

    private void submitted(Work work, int operation) {
        work.operation(operation);
        works.put(operation, work);
        work.stream().issued(work);
        progressed.run();
    }

    // What becomes of operations.

    @Override
    public void started(int operation) {
        Work work = works.get(operation);
        if (work != null) {
            work.start();
            return;
        }
        GraphRun run = runs.get(operation);
        if (run != null) {
            run.started(operation);
        }
    }

    @Override
    public void completed(int operation) {
        over(operation, null);
    }

    @Override
    public void failed(int operation, AcceleratorException cause) {
        over(operation, cause);
    }

    private void over(int operation, AcceleratorException cause) {
        Work work = works.remove(operation);
        if (work != null) {
            if (cause != null) {
                work.fail(cause);
            }
            work.complete(runtime.nowPs());
            return;
        }
        CollectiveCall call = transfers.remove(operation);
        if (call != null) {
            if (cause == null) {
                call.communicator().completed(call);
            }
            return;
        }
        GraphRun run = runs.remove(operation);
        if (run != null) {
            run.over(operation, runtime.startedPs(operation), runtime.endedPs(operation), cause);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.Engine;
import io.weft.sim.engine.IntervalListener;
import io.weft.sim.engine.StalledException;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.machine.LaunchModel;
import io.weft.sim.machine.Machine;
import java.util.Arrays;

/**
 * Runs commands on a machine in virtual time.
 *
 * <p><b>Order.</b> An operation starts when everything that it depends on is done, when the operation before it on its lane is done, when its host call has
 * reached the device, and when it has got its queue or engine. Kernels of lane L of a device wait in hardware queue {@code L mod Q} in the order in which
 * they were submitted, one at a time; one that is not ready holds up everything behind it, as in hardware. Copies by engine line up at their engine when they are
 * ready and occupy no hardware queue. A collective starts when all its parts have got to the head of their queues.
 *
 * <p><b>Time</b> advances only inside {@link #advanceTo}, {@link #advanceUntil} and {@link #runUntilIdle}; nothing happens and nobody is called inside {@code
 * submit}. The same calls give the same times to the bit.
 *
 * <p><b>Failure.</b> An operation that fails (see {@link #faults}) releases what depends on it; what that means is for the caller to say. {@link #advanceUntil}
 * returns false when an operation can never end as things are, and {@link #explain} says why; it never hangs.
 *
 * <p>Operation numbers ascend from 0 and are not used again before {@link #reset()}. Operations that are over are forgotten, unless {@link #keep} is
 * on; asking for the state of a forgotten one gives DONE. Confined to one thread at a time. Nothing is allocated per operation once warm.
 */
public final class CommandRuntime {
    private static final int NONE = -1;
    /** In place of a successor: the operation has given up its place in its server. */
    private static final int LEFT = -2;

    private static final int STUCK_NAMED = 3;
    /** However many kernels wait behind each other, the last still gets something, as rates must not be lost in rounding. */
    private static final double LEAST_SHARE = 1e-6;

    private static final int PRIORITIES = 3;
    private static final int[] NO_DEPENDENCIES = {};

    // Callbacks of the engine.
    private static final int RELEASE = 1;
    private static final int FLOW_END = 2;
    private static final int ARRIVED = 3;
    private static final int PART_FLOW = 4;
    private static final int FAULT = 5;

    // States.
    private static final byte WAITING = 0;
    private static final byte RUNNING = 1;
    private static final byte DONE = 2;
    private static final byte FAILED = 3;
    private static final byte CANCELLED = 4;
    private static final OperationState[] STATES = OperationState.values();

    // Carriers.
    private static final byte MARKER = 0;
    private static final byte KERNEL = 1;
    private static final byte ENGINE = 2;
    private static final byte PART = 3;
    private static final byte HOLD = 4;

    private final Machine machine;
    private final MachineResources resources;
    private final CommandCosts costs;
    private final CollectivePlan plan;
    private final Engine engine = new Engine();
    private final ActivitySpec spec = new ActivitySpec();
    private final long[] signalPs;
    private final long[] eagerPs;
    /** Products that run now, by device. */
    private final int[] products;
    /** By device and priority: kernels that run, in the order of their starts. */
    private final int[][] kernels;

    private final int[] kernelCount;

    private RuntimeListener listener;
    private FaultInjector faults;
    private boolean keep;
    private int awaited = NONE;

    private int base;
    private int next;
    private int unfinished;
    private int mask = 63;

    // By operation number & mask.
    private Command[] command = new Command[64];
    private int[] device = new int[64];
    private int[] lane = new int[64];
    private Priority[] priority = new Priority[64];
    private byte[] carrier = new byte[64];
    private byte[] state = new byte[64];
    /** Over before its turn came: it still keeps what follows it in order, until its turn comes. */
    private boolean[] ghost = new boolean[64];

    private int[] pending = new int[64];
    private int[] server = new int[64];
    private int[] nextInServer = new int[64];
    private int[] firstEdge = new int[64];
    private int[] lastEdge = new int[64];
    private int[] collective = new int[64];
    private long[] readyPs = new long[64];
    private long[] startPs = new long[64];
    private long[] endPs = new long[64];
    private long[] tailPs = new long[64];
    private long[] ticket = new long[64];
    /** Share weight, as if no kernel were before it. */
    private double[] weight = new double[64];

    // Edges from an operation to those that wait for it.
    private int[] edgeTo = new int[128];
    private int[] edgeNext = new int[128];
    private int edges;
    private int freeEdge = NONE;

    // Servers: hardware queues, copy engines and network cards.
    private final int[] serverHead;
    private final int[] serverTail;
    private final long[] serverBusyPs;

    // The last operation of each lane, by device and lane.
    private final int[][] laneTail;

    // Collectives.
    private int collectives;
    private int[] partCount = new int[16];
    private int[] submitted = new int[16];
    private int[] leftQueue = new int[16];
    private int[] arrived = new int[16];
    private int[] flowing = new int[16];
    private boolean[] aborted = new boolean[16];
    private int[][] parts = new int[16][];
    private int freeCollectives;
    private int[] freeCollective = new int[16];
    private Command.Collective[] planParts = new Command.Collective[8];
    private int[] planDevices = new int[8];

    /** By operation, made when the first fault is injected. */
    private AcceleratorException[] cause;

    /** A runtime at time 0 on an idle machine. */
    public CommandRuntime(Machine machine, MemoryPlaces places) {
        this.machine = machine;
        resources = new MachineResources(machine);
        costs = new CommandCosts(machine, resources, places);
        plan = new CollectivePlan(machine, resources, costs);
        resources.addTo(engine);
        engine.handler(this::onEvent);
        int devices = machine.deviceCount();
        signalPs = new long[devices];
        eagerPs = new long[devices];
        products = new int[devices];
        kernels = new int[devices * PRIORITIES][4];
        kernelCount = new int[kernels.length];
        for (int d = 0; d < devices; d++) {
            LaunchModel launch = machine.device(d).launch();
            signalPs[d] = VirtualTime.fromNs(launch.signalNanos());
            eagerPs[d] = VirtualTime.fromNs(launch.eagerNanos());
        }
        serverHead = new int[resources.servers()];
        serverTail = new int[resources.servers()];
        serverBusyPs = new long[resources.servers()];
        Arrays.fill(serverHead, NONE);
        laneTail = new int[devices][];
        Arrays.setAll(laneTail, d -> new int[] {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE});
    }

    // Set-up.

    /** Sets who hears what becomes of operations; null for nobody. */
    public void listener(RuntimeListener listener) {
        this.listener = listener;
    }

    /** Sets who decides which operations fail; null for nobody. */
    public void faults(FaultInjector faults) {
        this.faults = faults;
    }

    /** Whether operations that are over are remembered until {@link #reset()}. */
    public void keep(boolean keep) {
        this.keep = keep;
    }

    /** Whether every sharing of resources is checked against its definition, which is slow; for tests. */
    public void checking(boolean on) {
        engine.checking(on);
    }

    /** The machine. */
    public Machine machine() {
        return machine;
    }

    /** Back to time 0 on an idle machine, with operation numbers from 0; forgets all operations. Listener and faults stay. */
    public void reset() {
        engine.reset();
        for (int d = 0; d < products.length; d++) {
            products[d] = 0;
            shareComputeUnits(d);
        }
        Arrays.fill(kernelCount, 0);
        Arrays.fill(command, null);
        base = 0;
        next = 0;
        unfinished = 0;
        edges = 0;
        freeEdge = NONE;
        collectives = 0;
        freeCollectives = 0;
        cause = null;
        awaited = NONE;
        Arrays.fill(serverHead, NONE);
        Arrays.fill(serverBusyPs, 0);
        for (int[] tails : laneTail) {
            Arrays.fill(tails, NONE);
        }
    }

    // Submitting.

    /**
     * Submits a command; see {@link #submit(Command, int, int, Priority, long, int[], int)}.
     *
     * @return the operation's number
     */
    public int submit(Command command, int device, int lane, Priority priority, int... dependsOn) {
        return submit(command, device, lane, priority, nowPs(), dependsOn, dependsOn.length);
    }

    /**
     * Submits a command other than a collective.
     *
     * @param command what to do; its operands must be known to the runtime's places
     * @param device ordinal of the device that does it
     * @param lane lane (stream) of the device, 0 or more; operations of one lane run one after the other. Reuse lane numbers of closed streams
     * @param priority share of compute units
     * @param visiblePs when the device sees it, see {@link #visiblePs}; the past counts as now
     * @param dependsOn operations that must be over before it starts; unknown (negative) and finished ones are ignored
     * @param count how many of them
     * @return the operation's number
     * @throws AcceleratorException when the machine cannot carry it out: no path, or an element type that the device does not multiply
     */
    public int submit(
            Command command, int device, int lane, Priority priority, long visiblePs, int[] dependsOn, int count) {
        if (command instanceof Command.Collective) {
            throw new IllegalArgumentException("a part of a collective needs its collective: use submitPart");
        }
        costs.requireSupported(command, device);
        return switch (costs.carrier(command, device)) {
            case NOTHING -> add(command, device, lane, priority, MARKER, NONE, visiblePs, dependsOn, count);
            case KERNEL ->
                add(
                        command,
                        device,
                        lane,
                        priority,
                        KERNEL,
                        resources.queueServer(device, lane),
                        visiblePs,
                        dependsOn,
                        count);
            case ENGINE ->
                add(
                        command,
                        device,
                        lane,
                        priority,
                        ENGINE,
                        costs.engineServer(command, device),
                        visiblePs,
                        dependsOn,
                        count);
        };
    }

    /**
     * Submits an operation that takes no time: the place of an event in a lane, or a join of several operations.
     *
     * @return the operation's number
     */
    public int marker(int device, int lane, long visiblePs, int[] dependsOn, int count) {
        return add(null, device, lane, Priority.NORMAL, MARKER, NONE, visiblePs, dependsOn, count);
    }

    /**
     * Submits a kernel that does nothing by itself and holds its hardware queue until {@link #finish}: for a caller that fuses several transfers into one
     * kernel.
     *
     * @return the operation's number
     */
    public int hold(int device, int lane, Priority priority, long visiblePs, int[] dependsOn, int count) {
        return add(
                null, device, lane, priority, HOLD, resources.queueServer(device, lane), visiblePs, dependsOn, count);
    }

    /**
     * Ends a held kernel that has started. It is over at the present instant, after everything already due.
     *
     * @throws IllegalStateException when it has not started, or is over
     */
    public void finish(int operation) {
        int i = remembered(operation);
        if (isOver(operation) || carrier[i] != HOLD || state[i] != RUNNING) {
            throw new IllegalStateException("operation " + operation + " is no held kernel that is running");
        }
        ticket[i] = engine.at(Math.max(engine.nowPs(), startPs[i]), ARRIVED, operation);
    }

    /** When the device sees a kernel whose host call returns at a time, ps. */
    public long kernelVisiblePs(int device, long issuedPs) {
        return issuedPs + eagerPs[device];
    }

    /**
     * Submits one rank's part of a collective that runs inside a kernel which holds its queue already (see {@link #hold}): it waits for no lane and takes no queue.
     *
     * @return the operation's number
     */
    public int submitWithin(int handle, Command.Collective part, int device, Priority priority) {
        if (submitted[handle] == partCount[handle]) {
            throw new IllegalStateException("the collective has all its " + partCount[handle] + " parts already");
        }
        int op = add(part, device, NONE, priority, PART, NONE, nowPs(), NO_DEPENDENCIES, 0);
        collective[op & mask] = handle;
        parts[handle][submitted[handle]++] = op;
        return op;
    }

    /**
     * Opens a collective whose parts are then submitted one by one, in any order.
     *
     * @param parts how many parts there will be: all ranks, or two for SEND and RECEIVE
     * @return its handle, valid until its parts are over
     */
    public int openCollective(int parts) {
        if (parts < 1) {
            throw new IllegalArgumentException("a collective has at least one part, not " + parts);
        }
        int c;
        if (freeCollectives > 0) {
            c = freeCollective[--freeCollectives];
        } else {
            c = collectives++;
            if (c == partCount.length) {
                int length = 2 * c;
                partCount = Arrays.copyOf(partCount, length);
                submitted = Arrays.copyOf(submitted, length);
                leftQueue = Arrays.copyOf(leftQueue, length);
                arrived = Arrays.copyOf(arrived, length);
                flowing = Arrays.copyOf(flowing, length);
                aborted = Arrays.copyOf(aborted, length);
                this.parts = Arrays.copyOf(this.parts, length);
                freeCollective = Arrays.copyOf(freeCollective, length);
            }
        }
        partCount[c] = parts;
        submitted[c] = 0;
        leftQueue[c] = 0;
        arrived[c] = 0;
        flowing[c] = 0;
        aborted[c] = false;
        if (this.parts[c] == null || this.parts[c].length < parts) {
            this.parts[c] = new int[parts];
        }
        return c;
    }

    /**
     * Submits one rank's part of a collective; it takes a hardware queue of its device like a kernel. That the parts fit together is for the caller to check.
     *
     * @param handle from {@link #openCollective}
     * @return the operation's number
     */
    public int submitPart(
            int handle,
            Command.Collective part,
            int device,
            int lane,
            Priority priority,
            long visiblePs,
            int[] dependsOn,
            int count) {
        if (submitted[handle] == partCount[handle]) {
            throw new IllegalStateException("the collective has all its " + partCount[handle] + " parts already");
        }
        int op = add(
                part, device, lane, priority, PART, resources.queueServer(device, lane), visiblePs, dependsOn, count);
        collective[op & mask] = handle;
        parts[handle][submitted[handle]++] = op;
        return op;
    }

    /**
     * When the device sees a command whose host call returns at a time: a kernel after the eager launch latency, a copy by engine at once.
     *
     * @param issuedPs when the call returns, ps
     */
    public long visiblePs(Command command, int device, long issuedPs) {
        return costs.carrier(command, device) == CommandCosts.Carrier.KERNEL ? issuedPs + eagerPs[device] : issuedPs;
    }

    /** Host ns that the call for a command takes. */
    public double issueNanos(Command command, int device) {
        LaunchModel launch = machine.device(device).launch();
        return costs.carrier(command, device) == CommandCosts.Carrier.ENGINE
                ? launch.issueCopyNanos()
                : launch.issueKernelNanos();
    }

    /**
     * Host ns for a copy that is issued together with one before it: for an engine only what it takes to put one more copy into its ring, which is taken to be what the engine itself
     * spends to start one; a kernel is launched like any other.
     */
    public double furtherIssueNanos(Command command, int device) {
        return costs.carrier(command, device) == CommandCosts.Carrier.ENGINE
                ? machine.device(device).copyEngines().setupNanos()
                : issueNanos(command, device);
    }

    // Asking.

    /** Present virtual time, ps. */
    public long nowPs() {
        return engine.nowPs();
    }

    /** Where an operation stands; DONE when it is forgotten. */
    public OperationState state(int operation) {
        checkKnown(operation);
        return operation < base ? OperationState.DONE : STATES[state[operation & mask]];
    }

    /** Whether nothing more will happen to an operation. */
    public boolean isOver(int operation) {
        checkKnown(operation);
        return operation < base || state[operation & mask] >= DONE;
    }

    /** When an operation began to hold its queue or engine, ps; asked while it is remembered. */
    public long startedPs(int operation) {
        return startPs[remembered(operation)];
    }

    /** When an operation was over, ps; asked while it is remembered. */
    public long endedPs(int operation) {
        return endPs[remembered(operation)];
    }

    /** Operations that are not over. */
    public int unfinished() {
        return unfinished;
    }

    /** Events of the engine so far. */
    public long events() {
        return engine.events();
    }

    // Time.

    /**
     * Advances until an operation is over, or nothing can happen any more.
     *
     * @return whether it is over; when not, {@link #explain} says what it waits for
     */
    public boolean advanceUntil(int operation) {
        if (isOver(operation)) {
            return true;
        }
        awaited = operation;
        try {
            engine.runUntilIdle();
        } catch (StalledException stalled) {
            return false;
        } finally {
            awaited = NONE;
        }
        return isOver(operation);
    }

    /** Whether nothing can happen any more as things are: what is left waits for something that was not submitted. */
    public boolean isQuiet() {
        return engine.isQuiet();
    }

    /**
     * Advances to an instant, running everything up to and including it. An instant in the past changes nothing.
     *
     * @param timePs ps
     */
    public void advanceTo(long timePs) {
        if (timePs > engine.nowPs()) {
            engine.runUntil(timePs);
        }
    }

    /**
     * Advances until nothing is left to do.
     *
     * @return whether all operations are over; when not, {@link #explainStuck} says why
     */
    public boolean runUntilIdle() {
        try {
            engine.runUntilIdle();
        } catch (StalledException stalled) {
            return false;
        }
        return unfinished == 0;
    }

    // Ending early.

    /**
     * Takes an operation back. A waiting one never starts; a running one stops where it is. It is over at once, and nobody is called; what depends on it keeps
     * its place in the order, and goes on when the operation's turn would have come. The part of a collective takes the whole collective with it: the other parts
     * fail with ABORTED.
     *
     * @return false when it was over already
     */
    public boolean cancel(int operation) {
        if (isOver(operation)) {
            return false;
        }
        int i = operation & mask;
        if (carrier[i] == PART) {
            int handle = collective[i];
            end(operation, CANCELLED, null);
            abortCollective(
                    handle,
                    new AcceleratorException(
                            ErrorCode.ABORTED, "collective", "another rank's part of the collective was cancelled"));
            return true;
        }
        end(operation, CANCELLED, null);
        return true;
    }

    /** Ends a collective: every part that is not over fails with the cause at this instant; parts still to come fail when their turn comes. */
    public void abortCollective(int handle, AcceleratorException why) {
        aborted[handle] = true;
        for (int p = 0; p < submitted[handle]; p++) {
            int op = parts[handle][p];
            if (!isOver(op)) {
                end(op, FAILED, why);
            }
        }
    }

    /** What an operation that is not over waits for, in words. */
    public String explain(int operation) {
        if (isOver(operation)) {
            return name(operation) + " is over";
        }
        int i = operation & mask;
        StringBuilder text = new StringBuilder(name(operation));
        if (state[i] == RUNNING) {
            if (carrier[i] == PART) {
                int c = collective[i];
                text.append(" waits for the other ranks: ")
                        .append(arrived[c])
                        .append(" of ")
                        .append(partCount[c])
                        .append(" parts are there");
                if (submitted[c] < partCount[c]) {
                    text.append(", ").append(partCount[c] - submitted[c]).append(" were never submitted");
                }
                for (int p = 0; p < submitted[c]; p++) {
                    int other = parts[c][p];
                    if (other >= base && state[other & mask] == WAITING) {
                        text.append("; ").append(name(other)).append(" is held up");
                        break;
                    }
                }
            } else {
                text.append(" is running");
            }
            return text.toString();
        }
        for (int other = base; other < next; other++) {
            if (passed(other & mask)) {
                continue;
            }
            for (int e = firstEdge[other & mask]; e != NONE; e = edgeNext[e]) {
                if (edgeTo[e] == operation) {
                    return text.append(" waits for ").append(name(other)).toString();
                }
            }
        }
        if (server[i] != NONE && serverHead[server[i]] != NONE && serverHead[server[i]] != operation) {
            text.append(" stands in the queue behind ").append(name(serverHead[server[i]]));
        } else {
            text.append(" has not reached its device yet");
        }
        return text.toString();
    }

    /** Why operations are left although nothing can happen any more, in words; empty when none is left. */
    public String explainStuck() {
        StringBuilder text = new StringBuilder();
        int named = 0;
        for (int op = base; op < next && named < STUCK_NAMED; op++) {
            if (!isOver(op)) {
                text.append(named++ == 0 ? "" : "; ").append(explain(op));
            }
        }
        if (unfinished > named) {
            text.append("; ").append(unfinished - named).append(" more wait behind");
        }
        return text.toString();
    }

    private String name(int op) {
        int i = op & mask;
        Command what = command[i];
        String kind = what == null ? "event" : what.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT);
        if (what instanceof Command.Collective part) {
            kind = part.kind() + " of rank " + part.rank();
        }
        return kind + " (operation " + op + ", device " + device[i] + ", lane " + lane[i] + ")";
    }

    // Accounts, for the estimator and for tests.

    /** Operations for which there is room before the tables grow. */
    int capacity() {
        return mask + 1;
    }

    MachineResources resources() {
        return resources;
    }

    double units(int resource) {
        return engine.units(resource);
    }

    double resourceBusyNanos(int resource) {
        return VirtualTime.toNs(engine.busyPs(resource));
    }

    double peak(int resource) {
        return engine.resourceUsage(resource).peak();
    }

    long serverBusyPs(int which) {
        return serverBusyPs[which];
    }

    void intervals(IntervalListener intervals) {
        engine.intervals(intervals);
    }

    int serverOf(int operation) {
        return server[remembered(operation)];
    }

    /** When an operation gave its queue or engine back, ps: an engine before the last bytes have arrived. */
    long leftPs(int operation) {
        int i = remembered(operation);
        return carrier[i] == ENGINE ? endPs[i] - tailPs[i] : endPs[i];
    }

    CommandCosts costs() {
        return costs;
    }

    // The life of an operation.

    private int add(
            Command what,
            int onDevice,
            int onLane,
            Priority withPriority,
            byte by,
            int onServer,
            long visiblePs,
            int[] dependsOn,
            int count) {
        if (next == Integer.MAX_VALUE) {
            throw new IllegalStateException("operation numbers are used up; reset the runtime");
        }
        if (next - base > mask) {
            grow();
        }
        int op = next++;
        int i = op & mask;
        unfinished++;
        command[i] = what;
        device[i] = onDevice;
        lane[i] = onLane;
        priority[i] = withPriority;
        carrier[i] = by;
        state[i] = WAITING;
        ghost[i] = false;
        server[i] = onServer;
        nextInServer[i] = NONE;
        firstEdge[i] = NONE;
        lastEdge[i] = NONE;
        collective[i] = NONE;
        readyPs[i] = 0;
        tailPs[i] = 0;
        ticket[i] = 0;
        weight[i] = 1;
        int waits = 0;
        for (int d = 0; d < count; d++) {
            waits += waitFor(op, i, dependsOn[d]);
        }
        int tail = onLane == NONE ? NONE : replaceTail(onDevice, onLane, op);
        boolean queued = inQueue(i);
        if (tail >= base && !passed(tail & mask)) {
            // Two kernels of one lane share a hardware queue, which keeps their order by itself.
            boolean sameQueue = queued && inQueue(tail & mask);
            if (!sameQueue) {
                waits += waitFor(op, i, tail);
            }
        }
        if (queued) {
            append(onServer, op);
        }
        long now = engine.nowPs();
        if (visiblePs > now || waits == 0) {
            engine.at(Math.max(now, visiblePs), RELEASE, op);
            waits++;
        }
        pending[i] = waits;
        return op;
    }

    /** Makes an operation the last of its lane and returns the one before. */
    private int replaceTail(int onDevice, int onLane, int op) {
        int[] tails = laneTail[onDevice];
        if (onLane >= tails.length) {
            int before = tails.length;
            tails = Arrays.copyOf(tails, Math.max(onLane + 1, 2 * before));
            Arrays.fill(tails, before, tails.length, NONE);
            laneTail[onDevice] = tails;
        }
        int tail = tails[onLane];
        tails[onLane] = op;
        return tail;
    }

    /** Whether an operation takes a hardware queue. */
    private boolean inQueue(int i) {
        return server[i] != NONE && carrier[i] != ENGINE;
    }

    /** Makes an operation wait for another; returns 1 if it must. */
    private int waitFor(int op, int i, int other) {
        if (other < 0) {
            return 0;
        }
        if (other >= op) {
            throw new IllegalArgumentException("operation " + op + " cannot depend on operation " + other);
        }
        if (other < base) {
            return 0;
        }
        int j = other & mask;
        if (passed(j)) {
            if (crosses(j, i)) {
                readyPs[i] = Math.max(readyPs[i], endPs[j] + signalPs[device[i]]);
            }
            return 0;
        }
        int edge = freeEdge;
        if (edge != NONE) {
            freeEdge = edgeNext[edge];
        } else {
            edge = edges++;
            if (edge == edgeTo.length) {
                edgeTo = Arrays.copyOf(edgeTo, 2 * edge);
                edgeNext = Arrays.copyOf(edgeNext, 2 * edge);
            }
        }
        edgeTo[edge] = op;
        edgeNext[edge] = NONE;
        if (firstEdge[j] == NONE) {
            firstEdge[j] = edge;
        } else {
            edgeNext[lastEdge[j]] = edge;
        }
        lastEdge[j] = edge;
        return 1;
    }

    /** Whether an operation holds up nothing any more. */
    private boolean passed(int i) {
        return state[i] >= DONE && !ghost[i];
    }

    /** Whether word of the end of one must travel to the other. */
    private boolean crosses(int j, int i) {
        return device[j] != device[i] || lane[j] != lane[i];
    }

    private void onEvent(int kind, int id) {
        switch (kind) {
            case RELEASE -> {
                if (id >= base && inLine(id & mask)) {
                    release(id);
                }
            }
            case FLOW_END -> flowEnd(id);
            case ARRIVED -> end(id, DONE, null);
            case PART_FLOW -> partFlowEnd(id);
            case FAULT -> {
                AcceleratorException why = cause[id & mask];
                cause[id & mask] = null;
                end(id, FAILED, why);
            }
            default -> throw new IllegalStateException("unknown event " + kind);
        }
    }

    /** Whether an operation's turn has not come yet. */
    private boolean inLine(int i) {
        return state[i] == WAITING || ghost[i];
    }

    private void release(int op) {
        int i = op & mask;
        if (--pending[i] > 0) {
            return;
        }
        if (ghost[i]) {
            boolean queued = inQueue(i);
            if (!queued || serverHead[server[i]] == op) {
                pass(op);
            }
            return;
        }
        switch (carrier[i]) {
            case MARKER -> start(op, i);
            case ENGINE -> {
                append(server[i], op);
                if (serverHead[server[i]] == op) {
                    start(op, i);
                }
            }
            default -> {
                if (server[i] == NONE || serverHead[server[i]] == op) {
                    start(op, i);
                }
            }
        }
    }

    private void start(int op, int i) {
        long now = engine.nowPs();
        state[i] = RUNNING;
        startPs[i] = Math.max(now, readyPs[i]);
        countKernel(op, 1);
        if (faults != null && command[i] != null) {
            AcceleratorException why = faults.failure(op, command[i], device[i], lane[i]);
            if (why != null) {
                if (cause == null || cause.length <= mask) {
                    cause = cause == null ? new AcceleratorException[mask + 1] : Arrays.copyOf(cause, mask + 1);
                }
                cause[i] = why;
                ticket[i] = engine.at(startPs[i], FAULT, op);
                return;
            }
        }
        if (listener != null) {
            listener.started(op);
            i = op & mask; // the listener may have submitted and made the tables grow
            if (state[i] != RUNNING) {
                return; // it has ended this operation, or its collective
            }
        }
        switch (carrier[i]) {
            case MARKER -> ticket[i] = engine.at(startPs[i], ARRIVED, op);
            case HOLD -> {
                // Until the caller finishes it, which it may have done already.
            }
            case PART -> arrive(i);
            default -> {
                costs.fill(
                        spec,
                        command[i],
                        device[i],
                        priority[i],
                        carrier[i] == ENGINE ? CommandCosts.Carrier.ENGINE : CommandCosts.Carrier.KERNEL);
                spec.latencyPs(startPs[i] - now + costs.latencyPs);
                weight[i] = costs.weight;
                if (carrier[i] == KERNEL) {
                    spec.weight(costs.weight * kernelShare(i, kernelCount[kernelQueue(i)] - 1));
                }
                tailPs[i] = costs.tailPs;
                ticket[i] = engine.start(spec, FLOW_END, op);
            }
        }
    }

    /** Several products at once get less out of the compute units than one, and later kernels may get less of them than earlier ones. */
    private void countKernel(int op, int change) {
        int i = op & mask;
        if (carrier[i] != KERNEL) {
            return;
        }
        if (change > 0) {
            line(op);
        } else {
            unline(op);
        }
        if (command[i] instanceof Command.Gemm) {
            products[device[i]] += change;
            shareComputeUnits(device[i]);
        }
    }

    private void line(int op) {
        int queue = kernelQueue(op & mask);
        int count = kernelCount[queue]++;
        if (count == kernels[queue].length) {
            kernels[queue] = Arrays.copyOf(kernels[queue], 2 * count);
        }
        kernels[queue][count] = op;
    }

    /** Takes a kernel out of its line; those behind it move up. */
    private void unline(int op) {
        int queue = kernelQueue(op & mask);
        int[] line = kernels[queue];
        int at = 0;
        while (line[at] != op) {
            at++;
        }
        int count = --kernelCount[queue];
        System.arraycopy(line, at + 1, line, at, count - at);
        for (; at < count && kernelShare(op & mask, 1) < 1; at++) {
            int behind = line[at] & mask;
            engine.weight(ticket[behind], weight[behind] * kernelShare(behind, at));
        }
    }

    /** What of its share a kernel gets that stands so far behind the first. */
    private double kernelShare(int i, int behind) {
        double share = 1;
        for (int k = 0; k < behind && share > LEAST_SHARE; k++) {
            share /= machine.device(device[i]).kernels().earlierWeight();
        }
        return share;
    }

    /** Kernels of one device and one priority are handed out in the order of their starts. */
    private int kernelQueue(int i) {
        int urgency = switch (priority[i]) {
            case LOW -> 0;
            case NORMAL -> 1;
            case HIGH -> 2;
        };
        return device[i] * PRIORITIES + urgency;
    }

    private void shareComputeUnits(int onDevice) {
        int resource = resources.compute(onDevice);
        double share = products[onDevice] > 1 ? machine.device(onDevice).gemm().concurrencyEfficiency() : 1;
        double capacity = resources.capacity(resource) * share;
        if (capacity != engine.network().capacity(resource)) {
            engine.capacity(resource, capacity);
        }
    }

    private void flowEnd(int op) {
        int i = op & mask;
        if (tailPs[i] == 0) {
            end(op, DONE, null);
            return;
        }
        // An engine takes its next copy while the last bytes of this one travel; a kernel keeps its queue until they
        // have arrived.
        ticket[i] = engine.after(tailPs[i], ARRIVED, op);
        if (carrier[i] == ENGINE) {
            leaveServer(op, i);
        }
    }

    private void arrive(int i) {
        int c = collective[i];
        if (aborted[c]) {
            abortCollective(c, new AcceleratorException(ErrorCode.ABORTED, "collective", "the collective was aborted"));
            return;
        }
        if (++arrived[c] < partCount[c]) {
            return;
        }
        int n = partCount[c];
        if (planParts.length < n) {
            planParts = new Command.Collective[n];
            planDevices = new int[n];
        }
        // By rank, so that the order of submission does not matter. The two parts of a SEND and RECEIVE stay as they
        // are.
        int[] ops = parts[c];
        sortByRank(ops, n);
        long earliest = 0;
        for (int p = 0; p < n; p++) {
            planParts[p] = (Command.Collective) command[ops[p] & mask];
            planDevices[p] = device[ops[p] & mask];
            earliest = Math.max(earliest, startPs[ops[p] & mask]);
        }
        plan.plan(planParts, planDevices, n);
        flowing[c] = n;
        long wait = earliest - engine.nowPs() + plan.latencyPs();
        for (int p = 0; p < n; p++) {
            int j = ops[p] & mask;
            plan.fill(spec, p, priority[j]);
            spec.latencyPs(wait
                    + VirtualTime.fromNs(machine.device(device[j]).kernels().startNanos()));
            ticket[j] = engine.start(spec, PART_FLOW, ops[p]);
        }
        plan.end();
    }

    private void sortByRank(int[] ops, int n) {
        for (int p = 1; p < n; p++) {
            int op = ops[p];
            int rank = ((Command.Collective) command[op & mask]).rank();
            int at = p - 1;
            while (at >= 0 && ((Command.Collective) command[ops[at] & mask]).rank() > rank) {
                ops[at + 1] = ops[at];
                at--;
            }
            ops[at + 1] = op;
        }
    }

    private void partFlowEnd(int op) {
        int c = collective[op & mask];
        ticket[op & mask] = 0;
        if (--flowing[c] > 0) {
            return;
        }
        // All ranks leave together, when the slowest is done.
        int n = partCount[c];
        for (int p = 0; p < n; p++) {
            end(parts[c][p], DONE, null);
        }
    }

    private void end(int op, byte how, AcceleratorException why) {
        int i = op & mask;
        boolean early = state[i] == WAITING;
        if (early) {
            startPs[i] = engine.nowPs();
            ghost[i] = true;
        } else {
            if (how != DONE) {
                engine.abort(ticket[i]);
            }
            countKernel(op, -1);
        }
        state[i] = how;
        endPs[i] = engine.nowPs();
        unfinished--;
        if (listener != null && how != CANCELLED) {
            if (how == DONE) {
                listener.completed(op);
            } else {
                listener.failed(op, why);
            }
        }
        if (!early) {
            pass(op);
        }
        if (op == awaited) {
            engine.stop();
        }
    }

    /** Lets go of what an operation that is over holds up. */
    private void pass(int op) {
        int i = op & mask;
        ghost[i] = false;
        int edge = firstEdge[i];
        firstEdge[i] = NONE;
        while (edge != NONE) {
            int to = edgeTo[edge];
            int following = edgeNext[edge];
            edgeNext[edge] = freeEdge;
            freeEdge = edge;
            i = op & mask; // a listener may have submitted and made the tables grow
            int j = to & mask;
            if (to >= base && inLine(j)) {
                if (crosses(i, j)) {
                    readyPs[j] = Math.max(readyPs[j], engine.nowPs() + signalPs[device[j]]);
                }
                release(to);
            }
            edge = following;
        }
        i = op & mask;
        leaveServer(op, i);
        i = op & mask;
        if (carrier[i] == PART) {
            closePart(collective[i]);
        }
        if (!keep) {
            command[i] = null;
        }
        retire();
    }

    private void closePart(int c) {
        // A collective's handle is free again when all its parts have been submitted and have left their queues. That
        // they are over is not enough: a part which was
        // aborted while it waited keeps its place until its turn comes.
        if (++leftQueue[c] < partCount[c]) {
            return;
        }
        freeCollective[freeCollectives++] = c;
    }

    private void append(int onServer, int op) {
        if (serverHead[onServer] == NONE) {
            serverHead[onServer] = op;
        } else {
            nextInServer[serverTail[onServer] & mask] = op;
        }
        serverTail[onServer] = op;
    }

    /** Gives up the operation's place in its server, if it has one, and starts the next if that is ready. */
    private void leaveServer(int op, int i) {
        int s = server[i];
        if (s == NONE || nextInServer[i] == LEFT) {
            return;
        }
        int head = serverHead[s];
        if (head == op) {
            int following = nextInServer[i];
            nextInServer[i] = LEFT;
            serverHead[s] = following;
            long until = state[i] == RUNNING ? engine.nowPs() : endPs[i];
            serverBusyPs[s] += Math.max(0, until - startPs[i]);
            if (following != NONE) {
                int j = following & mask;
                if (pending[j] == 0 && ghost[j]) {
                    pass(following);
                } else if (pending[j] == 0 && state[j] == WAITING) {
                    start(following, j);
                }
            }
        }
    }

    private void retire() {
        if (keep) {
            return;
        }
        while (base < next && passed(base & mask)) {
            base++;
        }
    }

    private void checkKnown(int operation) {
        if (operation < 0 || operation >= next) {
            throw new IllegalArgumentException("operation " + operation + " was never submitted");
        }
    }

    private int remembered(int operation) {
        checkKnown(operation);
        if (operation < base) {
            throw new IllegalStateException("operation " + operation + " is forgotten");
        }
        return operation & mask;
    }

    private void grow() {
        int before = mask + 1;
        int length = 2 * before;
        command = regrow(command, new Command[length]);
        priority = regrow(priority, new Priority[length]);
        if (cause != null) {
            AcceleratorException[] old = Arrays.copyOf(cause, before);
            cause = regrow(old, new AcceleratorException[length]);
        }
        device = regrow(device);
        lane = regrow(lane);
        pending = regrow(pending);
        server = regrow(server);
        nextInServer = regrow(nextInServer);
        firstEdge = regrow(firstEdge);
        lastEdge = regrow(lastEdge);
        collective = regrow(collective);
        readyPs = regrow(readyPs);
        startPs = regrow(startPs);
        endPs = regrow(endPs);
        tailPs = regrow(tailPs);
        ticket = regrow(ticket);
        weight = regrow(weight);
        byte[] biggerCarrier = new byte[length];
        byte[] biggerState = new byte[length];
        boolean[] biggerGhost = new boolean[length];
        for (int op = base; op < next; op++) {
            biggerCarrier[op & (length - 1)] = carrier[op & mask];
            biggerState[op & (length - 1)] = state[op & mask];
            biggerGhost[op & (length - 1)] = ghost[op & mask];
        }
        carrier = biggerCarrier;
        state = biggerState;
        ghost = biggerGhost;
        mask = length - 1;
    }

    private <T> T[] regrow(T[] from, T[] to) {
        for (int op = base; op < next; op++) {
            to[op & (to.length - 1)] = from[op & mask];
        }
        return to;
    }

    private int[] regrow(int[] from) {
        int[] to = new int[2 * from.length];
        for (int op = base; op < next; op++) {
            to[op & (to.length - 1)] = from[op & mask];
        }
        return to;
    }

    private double[] regrow(double[] from) {
        double[] to = new double[2 * from.length];
        for (int op = base; op < next; op++) {
            to[op & (to.length - 1)] = from[op & mask];
        }
        return to;
    }

    private long[] regrow(long[] from) {
        long[] to = new long[2 * from.length];
        for (int op = base; op < next; op++) {
            to[op & (to.length - 1)] = from[op & mask];
        }
        return to;
    }
}

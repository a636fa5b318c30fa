// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import java.util.Arrays;

/**
 * A discrete-event engine in which activities share resources.
 *
 * <p>Resources are fluid ({@link #addResource}: a link direction, memory bandwidth, a pool of compute units) or serial
 * ({@link #addQueue}: a copy engine, a hardware queue). An activity passes fixed times, waits its turn, then works at
 * the rate that its resources allow; see {@link ActivitySpec} for its phases and {@link FluidNetwork} for the shares.
 * Timers ({@link #at}, {@link #after}) and activities end in one callback of the {@link Handler}.
 *
 * <pre>{@code
 * Engine engine = new Engine();
 * int link = engine.addResource("0>1", 50e9);            // bytes/s
 * int sdma = engine.addQueue("sdma 0.0", 1);
 * engine.handler((kind, id) -> System.out.println(id + " done at " + engine.nowNs() + " ns"));
 * ActivitySpec copy = new ActivitySpec().queue(sdma).latencyPs(VirtualTime.fromNs(1500)).use(link);
 * engine.start(copy.work(1 << 20), COPY, 0);
 * engine.start(copy.work(1 << 20), COPY, 1);
 * engine.runUntilIdle();
 * }</pre>
 *
 * <p><b>Order.</b> Virtual time never goes back. Events of one instant are delivered in the order in which their
 * timers and activities were created; what a handler adds at the present instant comes after everything already due.
 * Starts, ends and capacity changes of one instant are gathered and solved once, before time moves on; so inside a
 * handler {@link #rate} still shows the shares of the last solve. The same calls give the same bits.
 *
 * <p><b>Cost.</b> Nothing is allocated per event or activity once the arrays have grown (interval listeners and
 * accounts asked for by the caller apart). An engine can be {@link #reset()} and used again, which is far cheaper than
 * a new one.
 *
 * <p>Confined to one thread at a time.
 */
public final class Engine {
    private static final int NO_ACTIVITY = -1;
    private static final int NO_QUEUE = -1;
    private static final int STALLS_NAMED = 3;
    private static final double SECONDS_PER_PS = 1e-12;

    // Phases of an activity.
    private static final byte FREE = 0;
    private static final byte DELAY = 1;
    private static final byte WAITING = 2;
    private static final byte LATENCY = 3;
    private static final byte FLOWING = 4;
    /** No work to do: leaves at the instant at which it would begin to flow. */
    private static final byte PASSING = 5;

    private static final byte TAIL = 6;
    /** Holds a queue's place on behalf of the caller. */
    private static final byte GRANTED = 7;

    private static final ActivitySpec PERMIT = new ActivitySpec();

    private final EventHeap heap = new EventHeap();
    private final FluidNetwork network = new FluidNetwork();
    private final Ledger ledger = new Ledger(network);
    private Handler handler = (kind, id) -> {};
    private IntervalListener intervals;
    private boolean checking;

    private long nowPs;
    private boolean inRun;
    private boolean stopped;
    private int generation;
    private int unfinished;
    private long events;
    private long callbacks;
    private long activities;
    private long servedPs;
    private long flowPs;

    // By event handle, side by side, so that an event touches one cache line of them.
    private static final int EVENT_SHIFT = 2;
    private static final int KIND = 0;
    private static final int ID = 1;
    private static final int ACTIVITY = 2;
    /** 0 when the handle is free. */
    private static final int GENERATION = 3;

    private int[] eventFields = new int[64 << EVENT_SHIFT];

    private int eventsKnown;

    // By activity, which is the number of its flow.
    private byte[] phase = new byte[64];
    private int[] event = new int[64];
    private int[] activityQueue = new int[64];
    private double[] remaining = new double[64];
    private double[] work = new double[64];
    private double[] rate = new double[64];
    /** Instant up to which remaining is up to date. */
    private long[] settledAt = new long[64];

    private long[] latency = new long[64];
    private long[] tail = new long[64];
    private long[] servedAt = new long[64];
    private long[] flowAt = new long[64];

    private String[] resourceName = new String[16];

    private int queueCount;
    private SerialQueue[] queues = new SerialQueue[16];
    private String[] queueName = new String[16];
    private long[] queueServed = new long[16];
    private long[] queueSince = new long[16];

    /** An engine at time 0 without resources, whose callbacks go nowhere until {@link #handler(Handler)} is called. */
    public Engine() {}

    // Set-up.

    /**
     * Sets the receiver of all callbacks.
     *
     * @param handler the receiver; it stays through {@link #reset()}
     */
    public void handler(Handler handler) {
        if (handler == null) {
            throw new IllegalArgumentException("an engine needs a handler");
        }
        this.handler = handler;
    }

    /**
     * Sets the receiver of intervals.
     *
     * @param listener the receiver, or null for none; it stays through {@link #reset()}
     */
    public void intervals(IntervalListener listener) {
        intervals = listener;
    }

    /**
     * Switches the checking mode: after every solve all shares are checked against their definition
     * ({@link FluidNetwork#verify}), which is slow.
     *
     * @param on true to check
     */
    public void checking(boolean on) {
        checking = on;
    }

    /**
     * Adds a fluid resource; possible at any time.
     *
     * @param name for messages and accounts
     * @param unitsPerSecond capacity, finite, not negative; 0 blocks whoever uses it
     * @return its number: 0, 1, 2, ...
     * @throws IllegalArgumentException if the capacity is negative, infinite or not a number
     */
    public int addResource(String name, double unitsPerSecond) {
        int r = network.addResource(unitsPerSecond);
        if (r >= resourceName.length) {
            resourceName = Arrays.copyOf(resourceName, 2 * r);
        }
        resourceName[r] = name;
        ledger.add(r);
        return r;
    }

    /**
     * Adds a serial queue; possible at any time.
     *
     * @param name for messages and accounts
     * @param servers jobs in service at once, at least 1; the others wait in order
     * @return its number: 0, 1, 2, ... (resources are counted apart)
     * @throws IllegalArgumentException if {@code servers} is below 1
     */
    public int addQueue(String name, int servers) {
        SerialQueue queue = new SerialQueue(servers);
        int q = queueCount;
        if (q == queues.length) {
            int length = 2 * q;
            queues = Arrays.copyOf(queues, length);
            queueName = Arrays.copyOf(queueName, length);
            queueServed = Arrays.copyOf(queueServed, length);
            queueSince = Arrays.copyOf(queueSince, length);
        }
        queueCount++;
        queues[q] = queue;
        queueName[q] = name;
        queueServed[q] = 0;
        queueSince[q] = nowPs;
        return q;
    }

    /**
     * Changes a capacity from now on: a link that degrades, fails (0) or recovers. Running activities keep the work
     * they have done.
     *
     * @param resource resource number
     * @param unitsPerSecond finite, not negative
     * @throws IllegalArgumentException if the capacity is negative, infinite or not a number
     */
    public void capacity(int resource, double unitsPerSecond) {
        network.capacity(resource, unitsPerSecond);
        ledger.capacity(resource);
    }

    // Timers and activities.

    /**
     * Calls the handler at an instant.
     *
     * @param timePs now or later, ps
     * @param kind handed to the handler
     * @param id handed to the handler
     * @return a ticket for {@link #abort(long)}
     * @throws IllegalArgumentException if the instant has passed
     */
    public long at(long timePs, int kind, int id) {
        if (timePs < nowPs) {
            throw new IllegalArgumentException("an event at " + timePs + " ps is in the past; now is " + nowPs + " ps");
        }
        int h = newEvent(NO_ACTIVITY, kind, id);
        heap.set(h, timePs);
        return ticket(h);
    }

    /**
     * Calls the handler after a duration.
     *
     * @param durationPs 0 or more, ps; 0 means at the present instant, after everything already due
     * @param kind handed to the handler
     * @param id handed to the handler
     * @return a ticket for {@link #abort(long)}
     * @throws IllegalArgumentException if the duration is negative
     */
    public long after(long durationPs, int kind, int id) {
        return at(later(durationPs), kind, id);
    }

    /**
     * Starts an activity now; the handler is called when it has ended, never before this method returns.
     *
     * @param spec what it needs; copied
     * @param kind handed to the handler
     * @param id handed to the handler
     * @return a ticket for {@link #abort(long)}, {@link #rate(long)} and {@link #remaining(long)}
     * @throws IllegalArgumentException if a resource or queue is unknown, or nothing limits the work
     */
    public long start(ActivitySpec spec, int kind, int id) {
        if (spec.queued()) {
            checkQueue(spec.queue);
        }
        int a = newActivity(spec, kind, id);
        activityQueue[a] = spec.queued() ? spec.queue : NO_QUEUE;
        remaining[a] = spec.work;
        work[a] = spec.work;
        latency[a] = spec.latencyPs;
        tail[a] = spec.tailPs;
        long ticket = ticket(event[a]);
        if (spec.delayPs > 0) {
            phase[a] = DELAY;
            heap.set(event[a], later(spec.delayPs));
        } else {
            enter(a);
        }
        return ticket;
    }

    /**
     * Lines up for a place of a queue, in order with the activities that use it. When the turn comes, the handler is
     * called and the caller holds the place until {@link #release(int)}.
     *
     * @param queue queue number
     * @param kind handed to the handler
     * @param id handed to the handler
     * @return a ticket to give up waiting with {@link #abort(long)}
     */
    public long acquire(int queue, int kind, int id) {
        checkQueue(queue);
        int a = newActivity(PERMIT, kind, id);
        activityQueue[a] = queue;
        phase[a] = GRANTED;
        long ticket = ticket(event[a]);
        if (enterQueue(queue, a)) {
            grant(a);
        }
        return ticket;
    }

    /**
     * Gives back a place taken by {@link #acquire}; the next in line takes it at this instant.
     *
     * @param queue queue number
     * @throws IllegalStateException if no place of it is taken
     */
    public void release(int queue) {
        checkQueue(queue);
        leaveQueue(queue);
    }

    /**
     * Ends a timer, an activity or a wait for a place without a callback. Work done so far stays booked, and what it
     * held is given back at this instant.
     *
     * @param ticket what the starting method returned
     * @return false if it has ended already
     */
    public boolean abort(long ticket) {
        int h = handle(ticket);
        if (h < 0) {
            return false;
        }
        int a = eventFields[(h << EVENT_SHIFT) + ACTIVITY];
        if (a != NO_ACTIVITY) {
            int queue = activityQueue[a];
            switch (phase[a]) {
                case WAITING -> queues[queue].withdraw(a);
                case LATENCY, PASSING -> leave(a);
                case FLOWING -> {
                    progress(a);
                    stopFlow(a);
                    leave(a);
                }
                case GRANTED -> {
                    if (heap.time(h) == VirtualTime.NEVER) {
                        queues[queue].withdraw(a);
                    } else {
                        leaveQueue(queue);
                    }
                }
                default -> {
                    // DELAY and TAIL hold nothing.
                }
            }
            freeActivity(a);
        }
        freeEvent(h);
        return true;
    }

    /**
     * Changes an activity's share weight from now on; without effect once its fluid phase is over.
     *
     * @param ticket what {@link #start} returned
     * @param share finite, above 0
     * @throws IllegalArgumentException if the weight is not above 0 or not finite
     */
    public void weight(long ticket, double share) {
        if (!(share > 0 && share <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("a share weight must be finite and above 0, not " + share);
        }
        int h = handle(ticket);
        int a = h < 0 ? NO_ACTIVITY : eventFields[(h << EVENT_SHIFT) + ACTIVITY];
        if (a != NO_ACTIVITY) {
            network.weight(a, share);
        }
    }

    /**
     * An activity's present rate, as of the last solve.
     *
     * @param ticket what {@link #start} returned
     * @return units/s; 0 outside its fluid phase
     */
    public double rate(long ticket) {
        int h = handle(ticket);
        int a = h < 0 ? NO_ACTIVITY : eventFields[(h << EVENT_SHIFT) + ACTIVITY];
        return a == NO_ACTIVITY ? 0 : rate[a];
    }

    /**
     * Work that an activity has still to do at the present instant.
     *
     * @param ticket what {@link #start} returned
     * @return units; 0 if it has ended
     */
    public double remaining(long ticket) {
        int h = handle(ticket);
        int a = h < 0 ? NO_ACTIVITY : eventFields[(h << EVENT_SHIFT) + ACTIVITY];
        if (a == NO_ACTIVITY) {
            return 0;
        }
        return Math.max(0, remaining[a] - done(a));
    }

    // Running.

    /**
     * Runs until nothing is pending or {@link #stop()} is called.
     *
     * @return the time of the last event, ps
     * @throws StalledException if activities are left that can never end
     */
    public long runUntilIdle() {
        run(VirtualTime.NEVER, Long.MAX_VALUE);
        if (!stopped) {
            checkStall();
        }
        return nowPs;
    }

    /**
     * Runs everything up to and including an instant, and then stands at that instant (unless stopped before).
     *
     * @param timePs now or later, ps
     * @return the present time, ps
     * @throws IllegalArgumentException if the instant has passed
     */
    public long runUntil(long timePs) {
        if (timePs < nowPs || timePs == VirtualTime.NEVER) {
            throw new IllegalArgumentException("cannot run until " + timePs + " ps; now is " + nowPs + " ps");
        }
        run(timePs, Long.MAX_VALUE);
        if (!stopped) {
            nowPs = timePs;
        }
        return nowPs;
    }

    /**
     * Runs up to and including the next callback.
     *
     * @return false if nothing is pending
     * @throws StalledException if nothing is pending and activities are left that can never end
     */
    public boolean step() {
        long before = callbacks;
        run(VirtualTime.NEVER, before + 1);
        if (callbacks == before && !stopped) {
            checkStall();
        }
        return callbacks != before;
    }

    /**
     * Whether nothing is pending: running on would change nothing until the caller adds something.
     *
     * @return true when every {@code run} method would return at once
     */
    public boolean isQuiet() {
        return heap.minTime() == VirtualTime.NEVER && !network.unsolved();
    }

    /** Makes the present {@code run} method return after the callback that calls this; a later run goes on. */
    public void stop() {
        stopped = true;
    }

    /**
     * Present virtual time.
     *
     * @return ps
     */
    public long nowPs() {
        return nowPs;
    }

    /**
     * Present virtual time.
     *
     * @return ns, with the fraction kept
     */
    public double nowNs() {
        return VirtualTime.toNs(nowPs);
    }

    /**
     * When the activity whose callback is running got its turn: the start of its latency.
     *
     * @return ps; meaningless outside the callback of an activity
     */
    public long servedPs() {
        return servedPs;
    }

    /**
     * When the activity whose callback is running began its fluid phase.
     *
     * @return ps; meaningless outside the callback of an activity
     */
    public long flowPs() {
        return flowPs;
    }

    // Accounts.

    /**
     * Accounts of a resource up to now.
     *
     * @param resource resource number
     * @return a snapshot
     */
    public ResourceUsage resourceUsage(int resource) {
        return new ResourceUsage(
                resourceName[resource],
                network.capacity(resource),
                units(resource),
                ledger.busyPs(resource, nowPs),
                ledger.peak(resource));
    }

    /**
     * Units that have gone through a resource up to now.
     *
     * @param resource resource number
     * @return units
     */
    public double units(int resource) {
        double sum = ledger.units(resource);
        int n = network.flows(resource);
        for (int i = 0; i < n; i++) {
            int a = network.flowOn(resource, i);
            sum += network.amountOn(resource, i) * (work[a] - remaining[a] + done(a));
        }
        return sum;
    }

    /**
     * Time during which some activity progressed on a resource.
     *
     * @param resource resource number
     * @return ps
     */
    public long busyPs(int resource) {
        return ledger.busyPs(resource, nowPs);
    }

    /**
     * Accounts of a queue up to now.
     *
     * @param queue queue number
     * @return a snapshot
     */
    public QueueUsage queueUsage(int queue) {
        checkQueue(queue);
        SerialQueue q = queues[queue];
        long served = queueServed[queue] + q.inService() * (nowPs - queueSince[queue]);
        return new QueueUsage(queueName[queue], q.servers(), served, q.maxWaiting());
    }

    /**
     * The shares behind this engine, for reading capacities, usages and counters.
     *
     * @return the network; only the engine may change it
     */
    public FluidNetwork network() {
        return network;
    }

    /**
     * Number of queues.
     *
     * @return 0 or more
     */
    public int queues() {
        return queueCount;
    }

    /**
     * Events processed, inner ones (end of a latency) included, since the last reset.
     *
     * @return 0 or more
     */
    public long events() {
        return events;
    }

    /**
     * Activities that have ended with a callback since the last reset.
     *
     * @return 0 or more
     */
    public long activities() {
        return activities;
    }

    /**
     * Activities started and not yet ended, permits waited for included.
     *
     * @return 0 or more
     */
    public int unfinished() {
        return unfinished;
    }

    /** Back to time 0 without events, activities and accounts. Resources keep their present capacity, queues stay. */
    public void reset() {
        checkIdle();
        heap.clear();
        network.reset();
        ledger.reset(network.resources());
        Arrays.fill(eventFields, 0, eventsKnown << EVENT_SHIFT, 0);
        Arrays.fill(phase, FREE);
        for (int q = 0; q < queueCount; q++) {
            queues[q].reset();
            queueServed[q] = 0;
            queueSince[q] = 0;
        }
        nowPs = 0;
        stopped = false;
        unfinished = 0;
        events = 0;
        callbacks = 0;
        activities = 0;
        servedPs = 0;
        flowPs = 0;
    }

    /** As {@link #reset()}, and removes all resources and queues; keeps the memory. */
    public void clear() {
        reset();
        network.clear();
        queueCount = 0;
    }

    // The loop.

    private void run(long limitPs, long callbackLimit) {
        checkIdle();
        inRun = true;
        stopped = false;
        try {
            while (!stopped && callbacks < callbackLimit) {
                long next = heap.minTime();
                if (next > nowPs && network.unsolved()) {
                    solve();
                    continue;
                }
                if (next > limitPs || next == VirtualTime.NEVER) {
                    break;
                }
                nowPs = next;
                dispatch(heap.poll());
            }
        } finally {
            inRun = false;
        }
    }

    private void dispatch(int h) {
        events++;
        int a = eventFields[(h << EVENT_SHIFT) + ACTIVITY];
        if (a == NO_ACTIVITY) {
            deliver(h);
            return;
        }
        switch (phase[a]) {
            case DELAY -> enter(a);
            case LATENCY -> flow(a);
            case FLOWING, PASSING -> finish(a);
            default -> complete(a);
        }
    }

    private void enter(int a) {
        int queue = activityQueue[a];
        if (queue == NO_QUEUE || enterQueue(queue, a)) {
            serve(a);
        } else {
            phase[a] = WAITING;
        }
    }

    private void serve(int a) {
        servedAt[a] = nowPs;
        if (latency[a] > 0) {
            phase[a] = LATENCY;
            heap.set(event[a], later(latency[a]));
        } else {
            flow(a);
        }
    }

    private void flow(int a) {
        flowAt[a] = nowPs;
        if (work[a] == 0) {
            phase[a] = PASSING;
            heap.set(event[a], nowPs);
            return;
        }
        phase[a] = FLOWING;
        settledAt[a] = nowPs;
        rate[a] = 0;
        network.start(a);
    }

    private void finish(int a) {
        if (phase[a] == FLOWING) {
            remaining[a] = 0;
            stopFlow(a);
        }
        leave(a);
        if (tail[a] > 0) {
            phase[a] = TAIL;
            heap.set(event[a], later(tail[a]));
        } else {
            complete(a);
        }
    }

    private void complete(int a) {
        servedPs = servedAt[a];
        flowPs = flowAt[a];
        if (phase[a] != GRANTED) {
            activities++;
        }
        freeActivity(a);
        deliver(event[a]);
    }

    private void deliver(int h) {
        int at = h << EVENT_SHIFT;
        int kind = eventFields[at + KIND];
        int id = eventFields[at + ID];
        freeEvent(h);
        callbacks++;
        handler.onEvent(kind, id);
    }

    /** Books the end of a fluid phase and gives the share back. */
    private void stopFlow(int a) {
        if (rate[a] > 0) {
            ledger.rate(a, rate[a], 0, nowPs);
            rate[a] = 0;
        }
        network.stop(a);
        double units = work[a] - remaining[a];
        ledger.book(a, units);
        if (intervals != null) {
            int h = event[a];
            for (int i = 0; i < network.uses(a); i++) {
                intervals.onFlow(
                        eventFields[(h << EVENT_SHIFT) + KIND],
                        eventFields[(h << EVENT_SHIFT) + ID],
                        network.resource(a, i),
                        flowAt[a],
                        nowPs,
                        units * network.amount(a, i));
            }
        }
    }

    private void leave(int a) {
        int queue = activityQueue[a];
        if (queue != NO_QUEUE) {
            if (intervals != null) {
                intervals.onService(
                        eventFields[(event[a] << EVENT_SHIFT) + KIND],
                        eventFields[(event[a] << EVENT_SHIFT) + ID],
                        queue,
                        servedAt[a],
                        nowPs);
            }
            leaveQueue(queue);
        }
    }

    private boolean enterQueue(int queue, int a) {
        clockQueue(queue);
        return queues[queue].enter(a);
    }

    private void leaveQueue(int queue) {
        clockQueue(queue);
        int next = queues[queue].leave();
        if (next == SerialQueue.NONE) {
            return;
        }
        if (phase[next] == GRANTED) {
            grant(next);
        } else {
            serve(next);
        }
    }

    private void clockQueue(int queue) {
        queueServed[queue] += queues[queue].inService() * (nowPs - queueSince[queue]);
        queueSince[queue] = nowPs;
    }

    private void grant(int a) {
        servedAt[a] = nowPs;
        flowAt[a] = nowPs;
        heap.set(event[a], nowPs);
    }

    private void solve() {
        int n = network.solve();
        for (int i = 0; i < n; i++) {
            int a = network.changed(i);
            progress(a);
            double x = network.rate(a);
            ledger.rate(a, rate[a], x, nowPs);
            rate[a] = x;
            double ps = remaining[a] == 0 ? 0 : Math.rint(remaining[a] / x * VirtualTime.PS_PER_S);
            if (ps < VirtualTime.NEVER - nowPs) {
                heap.set(event[a], nowPs + (long) ps);
            } else {
                heap.remove(event[a]);
            }
        }
        for (int i = 0; i < n; i++) {
            ledger.peaks(network.changed(i));
        }
        network.acknowledge();
        if (checking) {
            network.verify(1e-9);
        }
    }

    /** Takes the work done at the present rate off what remains. */
    private void progress(int a) {
        remaining[a] -= done(a);
        settledAt[a] = nowPs;
    }

    private double done(int a) {
        return rate[a] > 0 ? Math.min(remaining[a], rate[a] * ((nowPs - settledAt[a]) * SECONDS_PER_PS)) : 0;
    }

    private void checkStall() {
        if (unfinished == 0) {
            return;
        }
        StringBuilder text = new StringBuilder(160);
        text.append("the simulation stalls at ")
                .append(nowNs())
                .append(" ns with ")
                .append(unfinished)
                .append(unfinished == 1 ? " unfinished activity" : " unfinished activities");
        int named = 0;
        for (int a = 0; a < phase.length && named < STALLS_NAMED; a++) {
            if (phase[a] == FREE) {
                continue;
            }
            text.append(named++ == 0 ? ": " : "; ");
            text.append("(kind ")
                    .append(eventFields[(event[a] << EVENT_SHIFT) + KIND])
                    .append(", id ")
                    .append(eventFields[(event[a] << EVENT_SHIFT) + ID])
                    .append(") ");
            if (phase[a] == FLOWING) {
                int r = network.blocker(a);
                if (r >= 0) {
                    text.append("needs '").append(resourceName[r]).append("', whose capacity is 0");
                } else {
                    text.append("runs at ").append(rate[a]).append(" units/s and would take over 106 days");
                }
            } else {
                int q = activityQueue[a];
                text.append("waits in queue '")
                        .append(queueName[q])
                        .append("', whose ")
                        .append(queues[q].servers())
                        .append(" place(s) nobody gives back");
            }
        }
        throw new StalledException(text.toString());
    }

    // Tables.

    private int newActivity(ActivitySpec spec, int kind, int id) {
        int a = network.define(spec);
        if (a >= phase.length) {
            growActivities(a);
        }
        event[a] = newEvent(a, kind, id);
        rate[a] = 0;
        unfinished++;
        return a;
    }

    private void freeActivity(int a) {
        phase[a] = FREE;
        rate[a] = 0;
        network.release(a);
        unfinished--;
    }

    private int newEvent(int activity, int kind, int id) {
        int h = heap.create();
        int at = h << EVENT_SHIFT;
        if (at >= eventFields.length) {
            eventFields = Arrays.copyOf(eventFields, 2 * eventFields.length);
        }
        eventsKnown = Math.max(eventsKnown, h + 1);
        generation = generation == Integer.MAX_VALUE ? 1 : generation + 1;
        int[] fields = eventFields;
        fields[at + KIND] = kind;
        fields[at + ID] = id;
        fields[at + ACTIVITY] = activity;
        fields[at + GENERATION] = generation;
        return h;
    }

    private void freeEvent(int h) {
        eventFields[(h << EVENT_SHIFT) + GENERATION] = 0;
        heap.release(h);
    }

    private long ticket(int h) {
        return (long) eventFields[(h << EVENT_SHIFT) + GENERATION] << 32 | h;
    }

    private int handle(long ticket) {
        int h = (int) ticket;
        int of = (int) (ticket >>> 32);
        return of != 0 && h >= 0 && h < eventsKnown && eventFields[(h << EVENT_SHIFT) + GENERATION] == of ? h : -1;
    }

    private long later(long durationPs) {
        if (durationPs < 0 || durationPs >= VirtualTime.NEVER - nowPs) {
            throw new IllegalArgumentException(
                    "a duration of " + durationPs + " ps from " + nowPs + " ps on is negative or beyond 106 days");
        }
        return nowPs + durationPs;
    }

    private void checkQueue(int queue) {
        if (queue < 0 || queue >= queueCount) {
            throw new IllegalArgumentException("queue " + queue + " is unknown; there are " + queueCount);
        }
    }

    private void checkIdle() {
        if (inRun) {
            throw new IllegalStateException("a handler must not run or reset the engine that calls it");
        }
    }

    private void growActivities(int needed) {
        int length = Math.max(needed + 1, 2 * phase.length);
        phase = Arrays.copyOf(phase, length);
        event = Arrays.copyOf(event, length);
        activityQueue = Arrays.copyOf(activityQueue, length);
        remaining = Arrays.copyOf(remaining, length);
        work = Arrays.copyOf(work, length);
        rate = Arrays.copyOf(rate, length);
        settledAt = Arrays.copyOf(settledAt, length);
        latency = Arrays.copyOf(latency, length);
        tail = Arrays.copyOf(tail, length);
        servedAt = Arrays.copyOf(servedAt, length);
        flowAt = Arrays.copyOf(flowAt, length);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import java.util.Arrays;

/**
 * Resources and the flows that share them by weighted max-min fairness. It knows rates, not time: the {@link Engine}
 * adds time, latencies and completions.
 *
 * <p><b>Model.</b> A flow with rate x consumes {@code amount · x} of each resource that it uses; a resource cannot be
 * consumed beyond its capacity. A flow's <i>level</i> is its rate divided by its weight. The shares are the max-min
 * fair ones: no level can be raised without lowering one that is not above it. Equivalently (the bottleneck
 * condition, which {@link #verify(double)} checks): every flow runs at its own ceiling (its cap, or what an idle
 * network would give it) or crosses a full resource on which no flow has a higher level.
 *
 * <p><b>Incremental solving.</b> Each resource that can bind has a level, too: the level at which it fills up when
 * every flow on it takes the least of that level and of what its other resources and its ceiling allow. Levels which
 * satisfy this for all resources at once are the max-min solution. Flows that start or end, and capacities that
 * change, make their resources dirty. {@link #solve()} takes dirty resources in ascending order of the lower of old
 * and new level (what happens at a level depends on lower levels only), computes the level anew, and makes a
 * neighbour dirty only if the limit that it sees has changed below its own level. So the work is proportional to what
 * really changes, not to the connected component. Any number of changes may precede one solve.
 *
 * <p><b>Slack resources.</b> A resource on which the flows' ceilings add up to no more than its capacity can never
 * bind. It has no level, is never visited and glues nothing together: memory under a few links costs nothing.
 *
 * <p>Levels are accepted as unchanged within a relative 1e-13, so rates equal those of an exact solver to well
 * below 1e-9. If rounding should keep a solve from settling, it starts over by plain progressive filling, in which each
 * resource is fixed once ({@link #restarts()} counts this). The same calls give the same bits. Nothing is allocated once
 * the arrays have grown to the largest problem. Not safe for use by several threads.
 */
public final class FluidNetwork {
    /** Ceilings may exceed a capacity by this ratio before the resource counts as one that can bind: rounding only. */
    private static final double SLACK = 1 + 1e-12;
    /** Levels closer than this ratio are the same level. */
    private static final double SAME = 1e-13;

    private static final double NO_LEVEL = Double.POSITIVE_INFINITY;

    private final long patience;
    private int resourceCount;
    private double[] capacity = new double[16];
    /** Level at which a resource binds; NO_LEVEL if it does not. */
    private double[] level = new double[16];
    /** Sum over the members of amount times ceiling. */
    private double[] demand = new double[16];
    /** Changes to demand since it was last summed anew. */
    private int[] demandAge = new int[16];

    private boolean[] tight = new boolean[16];
    private int[] memberCount = new int[16];
    /** Edge numbers of the running flows on a resource. */
    private int[][] members = new int[16][];
    /** By member: the level that the flow could reach if this resource were free. */
    private double[][] limits = new double[16][];
    /** By member: amount times weight, what the resource loses per unit of level. */
    private double[][] draws = new double[16][];
    /** The level last computed from the limits. */
    private double[] computed = new double[16];
    /** No limit that matters has moved since. */
    private boolean[] fresh = new boolean[16];
    /** What the level cannot have fallen below since it was computed. */
    private double[] floor = new double[16];
    /** Level lost per unit of additional consumption, where the level was computed. */
    private double[] steepness = new double[16];
    /** What may be consumed in addition before a resource without a level gets one. */
    private double[] spare = new double[16];
    /** The resource is in the list of resources touched since the last solve. */
    private boolean[] touched = new boolean[16];
    /** Fixed for good by progressive filling. */
    private boolean[] frozen = new boolean[16];

    private int[] touchedList = new int[16];
    private int touchedCount;

    private int flowCount;
    private int[] freeFlows = new int[64];
    private int freeCount;
    private int running;
    private int[] useCount = new int[64];
    private boolean[] active = new boolean[64];
    private double[] weight = new double[64];
    private double[] cap = new double[64];
    /** The rate that an otherwise idle network would give. */
    private double[] ceiling = new double[64];
    /** Ceiling divided by weight. */
    private double[] ceilingLevel = new double[64];

    private double[] rate = new double[64];
    private boolean[] marked = new boolean[64];
    private int[] changed = new int[64];
    private int changedCount;

    /** Edges of flow f are f << shift, f << shift + 1, ... */
    private int shift = 2;

    private int[] edgeResource = new int[64 << 2];
    private double[] edgeAmount = new double[64 << 2];
    /** Place of the edge among the members of its resource. */
    private int[] edgePlace = new int[64 << 2];

    private final LevelHeap dirty = new LevelHeap();
    private boolean filling;
    private long solves;
    private long visits;
    private long restarts;

    /** An empty network. */
    public FluidNetwork() {
        this(16);
    }

    /** An empty network that starts a solve over after so many changes of level per resource; tests use 0. */
    FluidNetwork(long patience) {
        this.patience = patience;
    }

    // Resources.

    /**
     * Adds a resource; possible at any time.
     *
     * @param unitsPerSecond finite, not negative
     * @return its number: 0, 1, 2, ...
     * @throws IllegalArgumentException if the capacity is negative, infinite or not a number
     */
    public int addResource(double unitsPerSecond) {
        checkCapacity(unitsPerSecond);
        int r = resourceCount;
        if (r == capacity.length) {
            growResources();
        }
        resourceCount++;
        capacity[r] = unitsPerSecond;
        level[r] = NO_LEVEL;
        demand[r] = 0;
        demandAge[r] = 0;
        tight[r] = false;
        memberCount[r] = 0;
        touched[r] = false;
        fresh[r] = false;
        dirty.ensure(resourceCount);
        return r;
    }

    /**
     * Changes a capacity. Running flows get new shares at the next solve.
     *
     * @param resource resource number
     * @param unitsPerSecond finite, not negative
     * @throws IllegalArgumentException if the capacity is negative, infinite or not a number
     */
    public void capacity(int resource, double unitsPerSecond) {
        checkCapacity(unitsPerSecond);
        checkResource(resource);
        capacity[resource] = unitsPerSecond;
        touch(resource);
        for (int i = 0; i < memberCount[resource]; i++) {
            int f = members[resource][i] >> shift;
            double before = ceiling[f];
            double after = ceilingOf(f);
            if (after == before) {
                continue;
            }
            setCeiling(f, after);
            mark(f);
            int base = f << shift;
            for (int j = 0; j < useCount[f]; j++) {
                addDemand(edgeResource[base + j], edgeAmount[base + j] * (after - before));
                touch(edgeResource[base + j]);
            }
            limitEdges(f);
        }
    }

    /**
     * Capacity of a resource.
     *
     * @param resource resource number
     * @return units/s
     */
    public double capacity(int resource) {
        checkResource(resource);
        return capacity[resource];
    }

    /**
     * Number of resources.
     *
     * @return 0 or more
     */
    public int resources() {
        return resourceCount;
    }

    /**
     * Running flows on a resource.
     *
     * @param resource resource number
     * @return 0 or more
     */
    public int flows(int resource) {
        checkResource(resource);
        return memberCount[resource];
    }

    /**
     * What the running flows take of a resource, as of the last solve. Sums over the flows on it.
     *
     * @param resource resource number
     * @return units/s
     */
    public double usage(int resource) {
        checkResource(resource);
        double sum = 0;
        int[] edges = members[resource];
        for (int i = 0; i < memberCount[resource]; i++) {
            sum += edgeAmount[edges[i]] * rate[edges[i] >> shift];
        }
        return sum;
    }

    // Flows.

    /**
     * Defines a flow from the weight, cap and resources of a form. It takes no share before {@link #start(int)}.
     *
     * @param spec the form; copied
     * @return flow number; numbers of released flows are used again
     * @throws IllegalArgumentException if a resource is unknown, or nothing limits the flow (no resource and no cap)
     */
    public int define(ActivitySpec spec) {
        int n = spec.uses;
        for (int i = 0; i < n; i++) {
            checkResource(spec.resources[i]);
        }
        if (n == 0 && spec.rateCap == Double.POSITIVE_INFINITY && spec.work > 0) {
            throw new IllegalArgumentException(
                    "nothing limits this work: name a resource that it uses, or give a rate cap");
        }
        while (n > 1 << shift) {
            widen();
        }
        int f;
        if (freeCount > 0) {
            f = freeFlows[--freeCount];
        } else {
            f = flowCount;
            if (f == rate.length) {
                growFlows();
            }
            flowCount++;
        }
        useCount[f] = n;
        weight[f] = spec.weight;
        cap[f] = spec.rateCap;
        rate[f] = 0;
        active[f] = false;
        marked[f] = false;
        int base = f << shift;
        for (int i = 0; i < n; i++) {
            edgeResource[base + i] = spec.resources[i];
            edgeAmount[base + i] = spec.amounts[i];
        }
        return f;
    }

    /**
     * Lets a flow take its share from the next solve on.
     *
     * @param flow a defined flow that does not run
     */
    public void start(int flow) {
        if (active[flow]) {
            throw new IllegalStateException("flow " + flow + " runs already");
        }
        active[flow] = true;
        running++;
        double most = ceilingOf(flow);
        setCeiling(flow, most);
        mark(flow);
        int base = flow << shift;
        for (int e = base; e < base + useCount[flow]; e++) {
            int r = edgeResource[e];
            int n = memberCount[r];
            if (members[r] == null || n == members[r].length) {
                growMembers(r);
            }
            members[r][n] = e;
            draws[r][n] = edgeAmount[e] * weight[flow];
            edgePlace[e] = n;
            memberCount[r] = n + 1;
            addDemand(r, edgeAmount[e] * most);
            touch(r);
        }
        limitEdges(flow);
    }

    /**
     * Changes a flow's share weight; shares follow at the next solve.
     *
     * @param flow a defined flow
     * @param share finite, above 0
     */
    public void weight(int flow, double share) {
        weight[flow] = share;
        if (!active[flow]) {
            return;
        }
        setCeiling(flow, ceiling[flow]);
        mark(flow);
        int base = flow << shift;
        for (int e = base; e < base + useCount[flow]; e++) {
            draws[edgeResource[e]][edgePlace[e]] = edgeAmount[e] * share;
            touch(edgeResource[e]);
        }
        limitEdges(flow);
    }

    /**
     * Takes a flow's share away; the others get it at the next solve.
     *
     * @param flow a running flow; it stays defined
     */
    public void stop(int flow) {
        if (!active[flow]) {
            throw new IllegalStateException("flow " + flow + " does not run");
        }
        active[flow] = false;
        running--;
        rate[flow] = 0;
        int base = flow << shift;
        for (int e = base; e < base + useCount[flow]; e++) {
            int r = edgeResource[e];
            int[] edges = members[r];
            int n = --memberCount[r];
            int last = edges[n];
            int at = edgePlace[e];
            edges[at] = last;
            draws[r][at] = draws[r][n];
            limits[r][at] = limits[r][n];
            edgePlace[last] = at;
            if (n == 0) {
                demand[r] = 0;
                demandAge[r] = 0;
            } else {
                addDemand(r, -edgeAmount[e] * ceiling[flow]);
            }
            touch(r);
        }
    }

    /**
     * Gives a flow number back, stopping the flow if it runs.
     *
     * @param flow a defined flow
     */
    public void release(int flow) {
        if (active[flow]) {
            stop(flow);
        }
        freeFlows[freeCount++] = flow;
    }

    /**
     * A flow's rate as of the last solve.
     *
     * @param flow a defined flow
     * @return units of work per second, 0 if it does not run
     */
    public double rate(int flow) {
        return rate[flow];
    }

    /**
     * Flows that run.
     *
     * @return 0 or more
     */
    public int running() {
        return running;
    }

    int uses(int flow) {
        return useCount[flow];
    }

    int resource(int flow, int use) {
        return edgeResource[(flow << shift) + use];
    }

    double amount(int flow, int use) {
        return edgeAmount[(flow << shift) + use];
    }

    int flowOn(int resource, int place) {
        return members[resource][place] >> shift;
    }

    double amountOn(int resource, int place) {
        return edgeAmount[members[resource][place]];
    }

    // Solving.

    /**
     * Whether anything has happened since the last solve.
     *
     * @return true if rates may be out of date
     */
    public boolean unsolved() {
        return touchedCount > 0 || changedCount > 0;
    }

    /**
     * Brings all rates up to date. Afterwards {@link #changed(int)} lists the flows whose rate has changed, until
     * {@link #acknowledge()}.
     *
     * @return the number of flows whose rate has changed
     */
    public int solve() {
        solves++;
        for (int i = 0; i < touchedCount; i++) {
            int r = touchedList[i];
            touched[r] = false;
            boolean binds = demand[r] > capacity[r] * SLACK;
            tight[r] = binds;
            if (binds) {
                double next = compute(r);
                if (!same(level[r], next)) {
                    dirty.lower(r, Math.min(level[r], next));
                }
            } else if (level[r] != NO_LEVEL) {
                dirty.lower(r, level[r]);
            }
        }
        touchedCount = 0;
        settle(patience * (4 + resourceCount));
        int n = 0;
        for (int i = 0; i < changedCount; i++) {
            int f = changed[i];
            marked[f] = false;
            if (!active[f]) {
                continue;
            }
            double x = rateOf(f);
            if (x != rate[f]) {
                rate[f] = x;
                changed[n++] = f;
            }
        }
        changedCount = n;
        return n;
    }

    /**
     * A flow whose rate was changed by the last solve.
     *
     * @param i 0 up to what {@link #solve()} returned
     * @return flow number
     */
    public int changed(int i) {
        return changed[i];
    }

    /** Forgets the list of changed flows; call it after each solve, before the next change. */
    public void acknowledge() {
        changedCount = 0;
    }

    /**
     * Solves so far.
     *
     * @return calls of {@link #solve()} since the last reset
     */
    public long solves() {
        return solves;
    }

    /**
     * Resources looked at by all solves: the measure of their work.
     *
     * @return computations of a level since the last reset
     */
    public long visits() {
        return visits;
    }

    /**
     * Solves that did not settle and started over by plain progressive filling.
     *
     * @return normally 0
     */
    public long restarts() {
        return restarts;
    }

    /**
     * Checks the definition of the shares: no resource above its capacity, and for each running flow a reason why it
     * is no faster (its ceiling, or a full resource on which nobody has a higher level). Costs time proportional to
     * flows times resources; for tests and for a checking mode. Call it after a solve.
     *
     * @param tolerance relative error allowed, such as 1e-9
     * @throws IllegalStateException if a rule is broken, naming the flow or resource
     */
    public void verify(double tolerance) {
        for (int r = 0; r < resourceCount; r++) {
            double used = usage(r);
            if (used > capacity[r] * (1 + tolerance)) {
                throw new IllegalStateException(
                        "resource " + r + " is used at " + used + " units/s, above its capacity of " + capacity[r]);
            }
        }
        for (int f = 0; f < flowCount; f++) {
            if (active[f] && rate[f] < ceilingOf(f) * (1 - tolerance) && !hasBottleneck(f, tolerance)) {
                throw new IllegalStateException("flow " + f + " runs at " + rate[f] + " units/s although no resource"
                        + " stops it from running faster (its ceiling is " + ceilingOf(f) + ")");
            }
        }
    }

    /** Removes all flows; resources keep their numbers and capacities. */
    public void reset() {
        for (int r = 0; r < resourceCount; r++) {
            level[r] = NO_LEVEL;
            demand[r] = 0;
            demandAge[r] = 0;
            tight[r] = false;
            memberCount[r] = 0;
            touched[r] = false;
        }
        dirty.clear();
        touchedCount = 0;
        changedCount = 0;
        flowCount = 0;
        freeCount = 0;
        running = 0;
        solves = 0;
        visits = 0;
        restarts = 0;
    }

    /** Removes all flows and resources; keeps the memory. */
    public void clear() {
        reset();
        resourceCount = 0;
        dirty.forget();
    }

    /** A resource crossed by a flow that does not progress, or -1 if there is none. */
    int blocker(int flow) {
        int base = flow << shift;
        for (int e = base; e < base + useCount[flow]; e++) {
            if (capacity[edgeResource[e]] == 0) {
                return edgeResource[e];
            }
        }
        return -1;
    }

    private void settle(long changesAllowed) {
        long left = changesAllowed;
        while (dirty.size() > 0) {
            double key = dirty.minLevel();
            int r = dirty.poll();
            double now = level[r];
            double next = NO_LEVEL;
            if (tight[r]) {
                next = fresh[r] ? computed[r] : compute(r);
            }
            if (same(now, next)) {
                if (filling) {
                    frozen[r] = true;
                }
                continue;
            }
            double due = Math.min(now, next);
            if (due > key && dirty.size() > 0 && due > dirty.minLevel()) {
                dirty.lower(r, due);
                continue;
            }
            if (--left < 0 && !filling) {
                restart();
                return;
            }
            level[r] = next;
            if (filling) {
                frozen[r] = true;
            }
            spread(r, due);
        }
    }

    /** Plain progressive filling from nothing: each resource is fixed once, in ascending order of levels. */
    private void restart() {
        restarts++;
        dirty.clear();
        for (int r = 0; r < resourceCount; r++) {
            level[r] = NO_LEVEL;
            frozen[r] = false;
        }
        for (int f = 0; f < flowCount; f++) {
            if (active[f]) {
                mark(f);
                limitEdges(f);
            }
        }
        for (int r = 0; r < resourceCount; r++) {
            if (tight[r]) {
                dirty.lower(r, compute(r));
            }
        }
        filling = true;
        settle(0);
        filling = false;
    }

    /**
     * Tells the members of a resource its new level, and makes dirty what that can change.
     *
     * @param lower the lower one of old and new level; members held below it by others keep their rate
     */
    private void spread(int r, double lower) {
        int[] edges = members[r];
        double[] seen = limits[r];
        int n = memberCount[r];
        int s = shift;
        for (int i = 0; i < n; i++) {
            int e = edges[i];
            int f = e >> s;
            if (seen[i] > lower) {
                mark(f);
            }
            int uses = useCount[f];
            if (uses == 2) {
                limit(e ^ 1, Math.min(ceilingLevel[f], level[r]));
            } else if (uses > 2) {
                spread(f, e);
            }
        }
    }

    /** Tells the other resources of a flow what limit they see now. */
    private void spread(int f, int from) {
        int base = f << shift;
        int end = base + useCount[f];
        double least = NO_LEVEL;
        double second = NO_LEVEL;
        int leastEdge = -1;
        for (int e = base; e < end; e++) {
            double v = level[edgeResource[e]];
            if (v < least) {
                second = least;
                least = v;
                leastEdge = e;
            } else if (v < second) {
                second = v;
            }
        }
        for (int e = base; e < end; e++) {
            if (e != from) {
                limit(e, Math.min(ceilingLevel[f], e == leastEdge ? second : least));
            }
        }
    }

    private void limit(int e, double after) {
        int r = edgeResource[e];
        double[] seen = limits[r];
        int at = edgePlace[e];
        double before = seen[at];
        if (after != before) {
            seen[at] = after;
            limitMoved(r, at, before, after);
        }
    }

    /**
     * A member of {@code r} sees another limit from its other resources. Only a limit below the level matters; and how
     * far the level can have moved is bounded, so that the resource is not looked at before its turn.
     */
    private void limitMoved(int r, int place, double before, double after) {
        if (!tight[r] || (filling && frozen[r])) {
            return;
        }
        double at = computed[r];
        if (after < before) {
            // The flow gives something up, so the level can only rise.
            if (after >= at || at == NO_LEVEL) {
                return;
            }
        } else if (before >= at) {
            return;
        } else if (at == NO_LEVEL) {
            spare[r] -= draws[r][place] * (after - before);
            if (spare[r] >= 0) {
                return;
            }
            floor[r] = Math.min(floor[r], before);
        } else {
            // The function that fill() solves is concave: to the left of its root it falls at least this steeply.
            floor[r] -= draws[r][place] * (Math.min(after, at) - before) * steepness[r];
        }
        fresh[r] = false;
        dirty.lower(r, Math.min(level[r], floor[r]));
    }

    private double compute(int r) {
        double x = fill(r);
        computed[r] = x;
        floor[r] = x;
        fresh[r] = true;
        return x;
    }

    /**
     * The level at which a resource is full: the root of sum(draw · min(level, limit)) = capacity, by Newton steps
     * on that concave, piecewise linear function, begun at the present level. A step from the left never overshoots, a
     * step from the right lands on the left, so this ends after at most as many steps as there are distinct limits
     * (mostly one or two).
     */
    private double fill(int r) {
        visits++;
        double[] seen = limits[r];
        double[] draw = draws[r];
        int n = memberCount[r];
        double c = capacity[r];
        double x = level[r];
        for (int step = 0; ; step++) {
            double fixed = 0;
            double free = 0;
            // Without branches, which nobody could predict: doubles that are not negative order like their bits.
            long at = Double.doubleToRawLongBits(x);
            long highestBelow = -1;
            long lowestAbove = Long.MAX_VALUE;
            for (int i = 0; i < n; i++) {
                long limit = Double.doubleToRawLongBits(seen[i]);
                long below = (limit - at) >> 63;
                double d = draw[i];
                fixed += Double.longBitsToDouble(Double.doubleToRawLongBits(d * seen[i]) & below);
                free += Double.longBitsToDouble(Double.doubleToRawLongBits(d) & ~below);
                highestBelow = Math.max(highestBelow, (limit & below) | ~below);
                lowestAbove = Math.min(lowestAbove, limit | (below >>> 1));
            }
            if (free == 0) {
                if (fixed <= c * SLACK) {
                    spare[r] = c - fixed;
                    return NO_LEVEL;
                }
                x = 0;
                continue;
            }
            double next = Math.max(0, (c - fixed) / free);
            long to = Double.doubleToRawLongBits(next);
            if ((to > highestBelow && to <= lowestAbove) || next == x || step > n + 2) {
                steepness[r] = 1 / free;
                return next;
            }
            x = next;
        }
    }

    private static boolean same(double a, double b) {
        return a == b || Math.abs(a - b) <= SAME * Math.min(a, b);
    }

    private double ceilingOf(int f) {
        double most = Math.min(cap[f], Double.MAX_VALUE);
        int base = f << shift;
        for (int e = base; e < base + useCount[f]; e++) {
            most = Math.min(most, capacity[edgeResource[e]] / edgeAmount[e]);
        }
        return most;
    }

    private double rateOf(int f) {
        double least = NO_LEVEL;
        int base = f << shift;
        int end = base + useCount[f];
        for (int e = base; e < end; e++) {
            double x = level[edgeResource[e]];
            if (x < least) {
                least = x;
            }
        }
        double x = least * weight[f];
        return x < ceiling[f] ? x : ceiling[f];
    }

    private void limitEdges(int f) {
        int base = f << shift;
        int end = base + useCount[f];
        for (int e = base; e < end; e++) {
            double limit = ceilingLevel[f];
            for (int x = base; x < end; x++) {
                if (x != e) {
                    limit = Math.min(limit, level[edgeResource[x]]);
                }
            }
            limits[edgeResource[e]][edgePlace[e]] = limit;
        }
    }

    private void setCeiling(int f, double most) {
        ceiling[f] = most;
        ceilingLevel[f] = most / weight[f];
    }

    private boolean hasBottleneck(int f, double tolerance) {
        int base = f << shift;
        for (int e = base; e < base + useCount[f]; e++) {
            int r = edgeResource[e];
            if (usage(r) < capacity[r] * (1 - tolerance)) {
                continue;
            }
            boolean highest = true;
            for (int i = 0; i < memberCount[r] && highest; i++) {
                int g = members[r][i] >> shift;
                highest = rate[g] / weight[g] <= rate[f] / weight[f] * (1 + tolerance);
            }
            if (highest) {
                return true;
            }
        }
        return false;
    }

    /** Adds to a running sum of ceilings and sums anew often enough that rounding cannot pile up. */
    private void addDemand(int r, double amount) {
        demand[r] += amount;
        int n = memberCount[r];
        if (++demandAge[r] > n + 8 || n <= 2) {
            double sum = 0;
            int[] edges = members[r];
            for (int i = 0; i < n; i++) {
                sum += edgeAmount[edges[i]] * ceiling[edges[i] >> shift];
            }
            demand[r] = sum;
            demandAge[r] = 0;
        }
    }

    private void touch(int r) {
        if (!touched[r]) {
            touched[r] = true;
            touchedList[touchedCount++] = r;
        }
    }

    private void mark(int f) {
        if (!marked[f]) {
            marked[f] = true;
            if (changedCount == changed.length) {
                changed = Arrays.copyOf(changed, 2 * changedCount);
            }
            changed[changedCount++] = f;
        }
    }

    private void checkResource(int r) {
        if (r < 0 || r >= resourceCount) {
            throw new IllegalArgumentException("resource " + r + " is unknown; there are " + resourceCount);
        }
    }

    private static void checkCapacity(double unitsPerSecond) {
        if (!(unitsPerSecond >= 0 && unitsPerSecond <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    "a capacity must be finite and not negative, not " + unitsPerSecond + " units/s");
        }
    }

    private void growResources() {
        int length = 2 * capacity.length;
        capacity = Arrays.copyOf(capacity, length);
        level = Arrays.copyOf(level, length);
        demand = Arrays.copyOf(demand, length);
        demandAge = Arrays.copyOf(demandAge, length);
        tight = Arrays.copyOf(tight, length);
        memberCount = Arrays.copyOf(memberCount, length);
        members = Arrays.copyOf(members, length);
        limits = Arrays.copyOf(limits, length);
        draws = Arrays.copyOf(draws, length);
        computed = Arrays.copyOf(computed, length);
        floor = Arrays.copyOf(floor, length);
        steepness = Arrays.copyOf(steepness, length);
        spare = Arrays.copyOf(spare, length);
        fresh = Arrays.copyOf(fresh, length);
        touched = Arrays.copyOf(touched, length);
        frozen = Arrays.copyOf(frozen, length);
        touchedList = Arrays.copyOf(touchedList, length);
    }

    private void growMembers(int r) {
        if (members[r] == null) {
            members[r] = new int[4];
            limits[r] = new double[4];
            draws[r] = new double[4];
            return;
        }
        int length = 2 * members[r].length;
        members[r] = Arrays.copyOf(members[r], length);
        limits[r] = Arrays.copyOf(limits[r], length);
        draws[r] = Arrays.copyOf(draws[r], length);
    }

    private void growFlows() {
        int length = 2 * rate.length;
        freeFlows = Arrays.copyOf(freeFlows, length);
        useCount = Arrays.copyOf(useCount, length);
        active = Arrays.copyOf(active, length);
        weight = Arrays.copyOf(weight, length);
        cap = Arrays.copyOf(cap, length);
        ceiling = Arrays.copyOf(ceiling, length);
        ceilingLevel = Arrays.copyOf(ceilingLevel, length);
        rate = Arrays.copyOf(rate, length);
        marked = Arrays.copyOf(marked, length);
        int edges = Math.multiplyExact(length, 1 << shift);
        edgeResource = Arrays.copyOf(edgeResource, edges);
        edgeAmount = Arrays.copyOf(edgeAmount, edges);
        edgePlace = Arrays.copyOf(edgePlace, edges);
    }

    /** Doubles the edges that a flow may have; edge numbers change, their order does not. */
    private void widen() {
        int from = shift;
        int to = shift + 1;
        edgeResource = spreadOut(edgeResource, from);
        edgePlace = spreadOut(edgePlace, from);
        edgeAmount = spreadOut(edgeAmount, from);
        for (int r = 0; r < resourceCount; r++) {
            for (int i = 0; i < memberCount[r]; i++) {
                int e = members[r][i];
                int f = e >> from;
                members[r][i] = (f << to) + (e - (f << from));
            }
        }
        shift = to;
    }

    private static int[] spreadOut(int[] from, int shift) {
        int[] to = new int[Math.multiplyExact(from.length, 2)];
        for (int i = 0; i < from.length; i += 1 << shift) {
            System.arraycopy(from, i, to, 2 * i, 1 << shift);
        }
        return to;
    }

    private static double[] spreadOut(double[] from, int shift) {
        double[] to = new double[Math.multiplyExact(from.length, 2)];
        for (int i = 0; i < from.length; i += 1 << shift) {
            System.arraycopy(from, i, to, 2 * i, 1 << shift);
        }
        return to;
    }
}

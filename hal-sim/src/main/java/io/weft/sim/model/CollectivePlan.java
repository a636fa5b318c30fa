// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.graph.Command;
import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.machine.CollectiveAlgorithm;
import io.weft.sim.machine.CollectiveRange;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.Route;
import java.util.Arrays;
import java.util.List;

/**
 * What a collective takes.
 *
 * <p><b>Model.</b> The algorithm says how many bytes each rank sends to each other, over all its steps. The steps are pipelined, as in the vendors' libraries:
 * each rank runs one activity, whose work is all its traffic, after a latency of the base plus all steps. An activity uses every directed link that its rank
 * owns (those that leave its device, and those of switches that lead to it) in proportion to the bytes that cross it, the memory of its device, and
 * compute units. The collective ends when the slowest rank has ended. On an idle machine this is exactly steps times (latency + bytes / bandwidth).
 *
 * <p>Bytes for each rank, n ranks, size S: all-gather and reduce-scatter send (n-1)/n S, all-reduce twice that; broadcast and reduce pipeline parts over all
 * links (DIRECT) or rings. Reductions read what has arrived and what they add it to.
 *
 * <p>One object for each runtime; not for several threads at once.
 */
final class CollectivePlan {
    private final Machine machine;
    private final MachineResources resources;
    private final CommandCosts costs;

    private int ranks;
    private int[] device = new int[8];
    private int[] server = new int[8];
    private double[] memory = new double[8];
    private int[] following = new int[8];
    /** By device: its rank, or -1. */
    private final int[] rankOf;

    private double[] traffic;
    /** By directed link: what its bytes weigh more on what both directions share, because they are forwarded. */
    private final double[] detoured;

    private int[] owner;
    private int[] touched = new int[64];
    private int touchedCount;
    private CollectiveRange range;
    private final ActivitySpec trial = new ActivitySpec();
    /** Of the rank last filled in. */
    private double aloneRate;

    private long latencyPs;
    private int[] linkStart = new int[9];
    private int[] linkByRank = new int[64];

    CollectivePlan(Machine machine, MachineResources resources, CommandCosts costs) {
        this.machine = machine;
        this.resources = resources;
        this.costs = costs;
        traffic = new double[2 * machine.links().size()];
        owner = new int[traffic.length];
        detoured = new double[traffic.length];
        rankOf = new int[machine.deviceCount()];
        Arrays.fill(rankOf, -1);
    }

    /** ns before data flow, as found by the last plan. */
    long latencyPs() {
        return latencyPs;
    }

    /**
     * Plans a collective.
     *
     * @param parts one part for each rank, by rank; for SEND and RECEIVE the sender's and then the receiver's
     * @param devices the device of each
     */
    void plan(Command.Collective[] parts, int[] devices, int count) {
        begin(devices, count);
        Command.Collective first = parts[0];
        CollectiveKind kind = first.kind();
        double size = 0;
        for (int r = 0; r < count; r++) {
            size = Math.max(size, Math.max(bytes(parts[r].send()), bytes(parts[r].receive())));
        }
        List<CollectiveRange> ways = machine.collective(kind).ways((long) size);
        int best = 0;
        if (ways.size() > 1) {
            double fastest = Double.POSITIVE_INFINITY;
            for (int i = 0; i < ways.size(); i++) {
                follow(ways.get(i), parts, kind, size);
                double time = alonePs();
                if (time < fastest) {
                    fastest = time;
                    best = i;
                }
                clearTraffic();
            }
        }
        follow(ways.get(best), parts, kind, size);
    }

    /** Finds the traffic of one of the library's ways. */
    private void follow(CollectiveRange way, Command.Collective[] parts, CollectiveKind kind, double size) {
        range = way;
        int count = ranks;
        Command.Collective first = parts[0];
        int steps = switch (kind) {
            case SEND, RECEIVE -> pointToPoint(parts);
            case BARRIER -> log2(count);
            case ALL_TO_ALL, ALL_TO_ALL_V -> allToAll(parts, kind);
            case GATHER, SCATTER -> rooted(parts, kind);
            case BROADCAST, REDUCE -> broadcast(first, kind, size);
            case ALL_GATHER -> exchange(size / count, false, own(parts, kind));
            case REDUCE_SCATTER -> exchange(size / count, true, own(parts, kind));
            case ALL_REDUCE -> allReduce(size);
        };
        latencyPs = VirtualTime.fromNs(range.baseNanos() + steps * range.stepNanos());
        sortLinks();
    }

    private void begin(int[] devices, int count) {
        ranks = count;
        if (device.length < count) {
            device = new int[count];
            server = new int[count];
            memory = new double[count];
            following = new int[count];
            linkStart = new int[count + 1];
        }
        for (int r = 0; r < count; r++) {
            device[r] = devices[r];
            server[r] = machine.device(devices[r]).node();
            memory[r] = 0;
            rankOf[devices[r]] = r;
        }
    }

    /** ps on an idle machine. */
    private double alonePs() {
        double slowest = 0;
        for (int r = 0; r < ranks; r++) {
            double work = fill(trial, r, io.weft.api.Priority.NORMAL);
            slowest = work > 0 ? Math.max(slowest, work / aloneRate) : slowest;
        }
        return (double) latencyPs + slowest * VirtualTime.PS_PER_S;
    }

    /** Forgets the traffic of the last plan. */
    void end() {
        clearTraffic();
        for (int r = 0; r < ranks; r++) {
            rankOf[device[r]] = -1;
        }
    }

    private void clearTraffic() {
        for (int i = 0; i < touchedCount; i++) {
            traffic[touched[i]] = 0;
            detoured[touched[i]] = 0;
        }
        touchedCount = 0;
        Arrays.fill(memory, 0, ranks, 0);
    }

    /**
     * Fills a form with what one rank takes.
     *
     * @return its work
     */
    double fill(ActivitySpec spec, int rank, io.weft.api.Priority priority) {
        spec.clear();
        spec.latencyPs(latencyPs);
        double links = 0;
        for (int i = linkStart[rank]; i < linkStart[rank + 1]; i++) {
            links += traffic[linkByRank[i]];
        }
        double work = links > 0 ? links : memory[rank];
        spec.work(work);
        if (work == 0) {
            return 0;
        }
        double rate = Double.POSITIVE_INFINITY;
        for (int i = linkStart[rank]; i < linkStart[rank + 1]; i++) {
            int link = linkByRank[i];
            double amount = traffic[link] / work;
            spec.use(resources.link(link), amount);
            rate = Math.min(rate, resources.capacity(resources.link(link)) * range.efficiency() / amount);
            int duplex = resources.duplex(link);
            if (duplex >= 0) {
                spec.use(duplex, amount + detoured[link] / work);
            }
        }
        if (memory[rank] > 0) {
            int resource = resources.memory(device[rank]);
            spec.use(resource, memory[rank] / work);
            rate = Math.min(rate, resources.capacity(resource) * work / memory[rank]);
        }
        int units = Math.min(range.computeUnits(), machine.device(device[rank]).computeUnits());
        if (links == 0) {
            rate = Math.min(
                    rate,
                    Math.max(1, units) * machine.device(device[rank]).kernels().bandwidthPerUnit());
        }
        for (int i = 0; i < spec.uses(); i++) {
            rate = Math.min(rate, resources.capacity(spec.resource(i)) / spec.amount(i));
        }
        if (units > 0) {
            spec.use(resources.compute(device[rank]), units / rate);
        }
        aloneRate = rate;
        spec.rateCap(rate);
        spec.weight(rate * costs.weight(priority, device[rank]));
        return work;
    }

    // Traffic by operation; each returns its number of steps.

    private int pointToPoint(Command.Collective[] parts) {
        Command.Collective sender = parts[0].kind() == CollectiveKind.SEND ? parts[0] : parts[1];
        int from = parts[0].kind() == CollectiveKind.SEND ? 0 : 1;
        move(from, ranks == 1 ? from : 1 - from, bytes(sender.send()));
        return 1;
    }

    private int allToAll(Command.Collective[] parts, CollectiveKind kind) {
        for (int i = 0; i < ranks; i++) {
            List<Long> counts = parts[i].sendCounts();
            double equal = bytes(parts[i].send()) / ranks;
            for (int j = 0; j < ranks; j++) {
                move(
                        i,
                        j,
                        kind == CollectiveKind.ALL_TO_ALL
                                ? equal
                                : (double) counts.get(j) * parts[i].type().bytes());
            }
        }
        return 1;
    }

    private int rooted(Command.Collective[] parts, CollectiveKind kind) {
        int root = parts[0].root();
        for (int r = 0; r < ranks; r++) {
            if (kind == CollectiveKind.GATHER) {
                move(r, root, bytes(parts[r].send()));
            } else {
                move(root, r, bytes(parts[r].receive()));
            }
        }
        return 1;
    }

    private int broadcast(Command.Collective first, CollectiveKind kind, double size) {
        boolean reduces = kind == CollectiveKind.REDUCE;
        int root = first.root();
        if (ranks == 1) {
            return 0;
        }
        if (range.algorithm() == CollectiveAlgorithm.RING) {
            int channels = channels();
            for (int c = 0; c < channels; c++) {
                layRing(c);
                // A ring with this stride visits every rank only when the two have no common factor; the bytes are the
                // same for all.
                for (int i = 0; i < ranks; i++) {
                    int at = following[i];
                    if (reduces ? i != root : at != root) {
                        send(i, at, size / channels, reduces);
                    }
                }
            }
            return ranks - 1;
        }
        if (range.algorithm() == CollectiveAlgorithm.TREE) {
            for (int i = 1; i < ranks; i++) {
                int child = (root + i) % ranks;
                int parent = (root + (i - Integer.lowestOneBit(i))) % ranks;
                send(reduces ? child : parent, reduces ? parent : child, size, reduces);
            }
            return log2(ranks);
        }
        // Every other rank passes on its part while the root sends the parts of the others.
        double part = size / (ranks - 1);
        for (int i = 0; i < ranks; i++) {
            for (int j = 0; j < ranks; j++) {
                int end = reduces ? i : j;
                if (i != j && end != root) {
                    send(i, j, part, reduces);
                }
            }
        }
        return 2;
    }

    private int allReduce(double size) {
        if (range.algorithm() == CollectiveAlgorithm.TREE) {
            // A double binary tree loads all ranks alike; partners lie 1, 2, 4, ... places away.
            int partners = log2(ranks);
            for (int i = 0; i < ranks; i++) {
                for (int d = 0; d < partners; d++) {
                    double bytes = 2 * size * (ranks - 1) / ranks / partners;
                    send(i, (i + (1 << d)) % ranks, bytes / 2, true);
                    send(i, (i + (1 << d)) % ranks, bytes / 2, false);
                }
            }
            return 2 * partners;
        }
        return exchange(size / ranks, true, false) + exchange(size / ranks, false, false);
    }

    /** All-gather or reduce-scatter of one shard for each rank. */
    private int exchange(double shard, boolean reduces, boolean own) {
        if (own) {
            for (int r = 0; r < ranks; r++) {
                memory[r] += 2 * shard;
            }
        }
        return switch (range.algorithm()) {
            case DIRECT, TREE -> {
                for (int i = 0; i < ranks; i++) {
                    for (int j = 0; j < ranks; j++) {
                        send(i, j, shard, reduces);
                    }
                }
                yield range.algorithm() == CollectiveAlgorithm.TREE ? log2(ranks) : 1;
            }
            case RING -> {
                int channels = channels();
                for (int c = 0; c < channels; c++) {
                    layRing(c);
                    for (int i = 0; i < ranks; i++) {
                        send(i, following[i], shard * (ranks - 1) / channels, reduces);
                    }
                }
                yield ranks - 1;
            }
            case HIERARCHICAL -> hierarchical(shard, reduces);
        };
    }

    /** Rings that run at once. */
    private int channels() {
        return machine.rings() > 0 ? machine.rings() : Math.min(range.channels(), ranks - 1);
    }

    /** Finds who follows whom on a ring. */
    private void layRing(int channel) {
        if (machine.rings() == 0) {
            for (int i = 0; i < ranks; i++) {
                following[i] = (i + channel + 1) % ranks;
            }
            return;
        }
        int first = -1;
        int last = -1;
        for (int place = 0; place < machine.deviceCount(); place++) {
            int rank = rankOf[machine.ringDevice(channel, place)];
            if (rank >= 0) {
                first = first < 0 ? rank : first;
                if (last >= 0) {
                    following[last] = rank;
                }
                last = rank;
            }
        }
        following[last] = first;
    }

    private int hierarchical(double shard, boolean reduces) {
        int servers = 0;
        int largest = 0;
        for (int i = 0; i < ranks; i++) {
            int before = 0;
            int together = 0;
            for (int j = 0; j < ranks; j++) {
                if (server[j] == server[i]) {
                    together++;
                    before += j < i ? 1 : 0;
                }
            }
            servers += before == 0 ? 1 : 0;
            largest = Math.max(largest, together);
        }
        for (int i = 0; i < ranks; i++) {
            for (int j = 0; j < ranks; j++) {
                if (i != j && server[i] == server[j]) {
                    send(i, j, shard * servers, reduces);
                }
            }
            int next = sameLocalRank(i);
            if (next >= 0) {
                send(i, next, shard * (servers - 1), reduces);
            }
        }
        return (largest > 1 ? 1 : 0) + servers - 1;
    }

    /** The rank of equal local rank in the next server, or -1 when there is one server only. */
    private int sameLocalRank(int rank) {
        int local = 0;
        for (int j = 0; j < rank; j++) {
            local += server[j] == server[rank] ? 1 : 0;
        }
        int next = -1;
        int lowest = -1;
        for (int j = 0; j < ranks; j++) {
            if (server[j] > server[rank] && (next < 0 || server[j] < server[next])) {
                next = j;
            }
            if (lowest < 0 || server[j] < server[lowest]) {
                lowest = j;
            }
        }
        int target = next >= 0 ? server[next] : server[lowest];
        if (target == server[rank]) {
            return -1;
        }
        int last = -1;
        for (int j = 0; j < ranks; j++) {
            if (server[j] == target) {
                last = j;
                if (local-- == 0) {
                    return j;
                }
            }
        }
        return last;
    }

    /** Bytes of plain data from one rank to another, a local copy included. */
    private void move(int from, int to, double bytes) {
        if (from == to) {
            memory[from] += 2 * bytes;
        } else {
            send(from, to, bytes, false);
        }
    }

    private void send(int from, int to, double bytes, boolean reduces) {
        if (from == to || bytes == 0) {
            return;
        }
        memory[from] += bytes;
        memory[to] += reduces ? 3 * bytes : bytes;
        Route route = machine.route(device[from], device[to]);
        for (int i = 0; i < route.length(); i++) {
            int link = route.link(i);
            if (traffic[link] == 0) {
                if (touchedCount == touched.length) {
                    touched = Arrays.copyOf(touched, 2 * touchedCount);
                }
                touched[touchedCount++] = link;
                owner[link] = ownerOf(link, from);
            }
            traffic[link] += bytes;
            detoured[link] += bytes * (route.duplexWeight() - 1);
        }
    }

    private int ownerOf(int link, int otherwise) {
        int source = machine.linkSource(link);
        if (source < rankOf.length && rankOf[source] >= 0) {
            return rankOf[source];
        }
        int target = machine.linkTarget(link);
        return target < rankOf.length && rankOf[target] >= 0 ? rankOf[target] : otherwise;
    }

    /** Whether each rank also copies its own shard, as it must when send and receive are different buffers. */
    private static boolean own(Command.Collective[] parts, CollectiveKind kind) {
        BufferView send = parts[0].send();
        BufferView receive = parts[0].receive();
        return kind == CollectiveKind.ALL_GATHER && !send.memory().equals(receive.memory());
    }

    private void sortLinks() {
        if (linkByRank.length < touchedCount) {
            linkByRank = new int[Math.max(touchedCount, 2 * linkByRank.length)];
        }
        Arrays.fill(linkStart, 0, ranks + 1, 0);
        for (int i = 0; i < touchedCount; i++) {
            linkStart[owner[touched[i]] + 1]++;
        }
        for (int r = 0; r < ranks; r++) {
            linkStart[r + 1] += linkStart[r];
        }
        for (int i = touchedCount - 1; i >= 0; i--) {
            int rank = owner[touched[i]];
            linkByRank[--linkStart[rank + 1]] = touched[i];
        }
        // The pass above has turned each end into a start, one place too far to the right.
        for (int r = 0; r < ranks; r++) {
            linkStart[r] = linkStart[r + 1];
        }
        linkStart[ranks] = touchedCount;
    }

    private static double bytes(BufferView view) {
        return view == null ? 0 : view.bytes();
    }

    private static int log2(int n) {
        return n <= 1 ? 0 : 32 - Integer.numberOfLeadingZeros(n - 1);
    }
}

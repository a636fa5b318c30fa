// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.mapping;

import io.weft.api.AcceleratorException;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.Route;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Finds on which device each rank should run.
 *
 * <p><b>What is made small.</b> First the time of one exchange: all flows start at once, each takes the machine's path, and the exchange ends when the link with the most bytes for its bandwidth has carried them. Then, among equals, the sum over all
 * flows of bytes over the path's bandwidth plus the path's latency.
 *
 * <p><b>How.</b> Up to {@value #EXACT_RANKS} ranks every arrangement is tried, so the answer is the best there is. Beyond, the numbering as it is, one made greedily (the rank that exchanges most with those placed goes to the nearest
 * free device) and a few at random are improved by swapping two ranks or two servers while that helps; the best of them is taken. Random numbers have a fixed seed: the same input gives the same answer.
 *
 * <p><b>Legal</b> arrangements keep the ranks of one server together, as a rank table must. {@link Freedom#ANY} shows what reordering a framework's groups, rather than the table, could gain.
 */
public final class RankMapper {
    /** Up to so many ranks every arrangement is tried. */
    public static final int EXACT_RANKS = 8;

    /** More ranks are not searched: the matrix of distances would not fit. */
    public static final int MOST_RANKS = 2048;

    private static final long SEED = 20261130;
    private static final int RANDOM_STARTS = 3;
    /** Swaps that are tried without success in one pass before giving up on large inputs. */
    private static final long MOST_TRIALS = 4_000_000;

    /** What an arrangement may do. */
    public enum Freedom {
        /** The ranks of one server stay together. */
        LEGAL,
        /** Any rank on any device. */
        ANY
    }

    /**
     * An arrangement and what it gains.
     *
     * @param traffic for what
     * @param deviceOfRank the device of each rank
     * @param seconds time of one exchange as arranged
     * @param identitySeconds the same with rank r on device r
     * @param exact whether no better one exists
     */
    public record Mapping(
            RankTraffic traffic, List<Integer> deviceOfRank, double seconds, double identitySeconds, boolean exact) {
        public Mapping {
            deviceOfRank = List.copyOf(deviceOfRank);
        }

        /** Time with rank r on device r over the time as arranged; at least 1. */
        public double gain() {
            return seconds > 0 ? identitySeconds / seconds : 1;
        }

        /** Whether rank r is on device r. */
        public boolean isIdentity() {
            for (int rank = 0; rank < deviceOfRank.size(); rank++) {
                if (deviceOfRank.get(rank) != rank) {
                    return false;
                }
            }
            return true;
        }
    }

    private final Machine machine;
    private final RankTraffic traffic;
    private final Freedom freedom;
    private final int n;
    /** Seconds for one byte, by device and device; latency is spread over the flow's bytes. */
    private final double[] perByte;

    private final double[] latency;
    private final int[] flowFrom;
    private final int[] flowTo;
    private final double[] flowBytes;
    private final int[][] flowsOf;
    private final double[] load;
    private final List<int[]> blocks;
    /** By device: the first device of its server. */
    private final int[] serverOf;

    private RankMapper(Machine machine, RankTraffic traffic, Freedom freedom) {
        this.machine = machine;
        this.traffic = traffic;
        this.freedom = freedom;
        n = traffic.ranks();
        perByte = new double[n * n];
        latency = new double[n * n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                if (i != j) {
                    Route route = machine.route(i, j);
                    perByte[i * n + j] = 1 / route.bandwidth();
                    latency[i * n + j] = route.latencyNanos() * 1e-9;
                }
            }
        }
        int flows = traffic.flows().size();
        flowFrom = new int[flows];
        flowTo = new int[flows];
        flowBytes = new double[flows];
        int[] degree = new int[n];
        for (int f = 0; f < flows; f++) {
            RankTraffic.Flow flow = traffic.flows().get(f);
            flowFrom[f] = flow.from();
            flowTo[f] = flow.to();
            flowBytes[f] = flow.bytes();
            degree[flow.from()]++;
            degree[flow.to()]++;
        }
        flowsOf = new int[n][];
        for (int r = 0; r < n; r++) {
            flowsOf[r] = new int[degree[r]];
        }
        int[] filled = new int[n];
        for (int f = 0; f < flows; f++) {
            flowsOf[flowFrom[f]][filled[flowFrom[f]]++] = f;
            flowsOf[flowTo[f]][filled[flowTo[f]]++] = f;
        }
        load = new double[2 * machine.links().size()];
        blocks = blocks();
        serverOf = new int[n];
        for (int[] block : blocks) {
            for (int device : block) {
                serverOf[device] = block[0];
            }
        }
    }

    /**
     * Finds an arrangement.
     *
     * @param machine whose devices, by ordinal, are the places
     * @param traffic for as many ranks as the machine has devices
     * @throws AcceleratorException INVALID_ARGUMENT when the numbers differ or there are too many
     */
    public static Mapping map(Machine machine, RankTraffic traffic, Freedom freedom) {
        if (traffic.ranks() != machine.deviceCount()) {
            throw AcceleratorException.invalid(
                    "rank mapping",
                    traffic.ranks() + " ranks on " + machine.deviceCount() + " devices; expected as many");
        }
        if (traffic.ranks() > MOST_RANKS) {
            throw AcceleratorException.invalid(
                    "rank mapping", traffic.ranks() + " ranks; accepted are " + MOST_RANKS + " at most");
        }
        return new RankMapper(machine, traffic, freedom).search();
    }

    /** Time of one exchange with each rank on the device given for it, s. */
    public static double seconds(Machine machine, RankTraffic traffic, int[] deviceOfRank) {
        return new RankMapper(machine, traffic, Freedom.ANY).time(deviceOfRank);
    }

    private Mapping search() {
        int[] identity = new int[n];
        Arrays.setAll(identity, rank -> rank);
        boolean exact = n <= EXACT_RANKS;
        int[] best = exact ? exhaustive(identity) : heuristic(identity);
        double seconds = time(best);
        double before = time(identity);
        return new Mapping(traffic, Arrays.stream(best).boxed().toList(), seconds, before, exact);
    }

    // What an arrangement costs.

    private double time(int[] at) {
        Arrays.fill(load, 0);
        double slowest = 0;
        for (int f = 0; f < flowFrom.length; f++) {
            int from = at[flowFrom[f]];
            int to = at[flowTo[f]];
            if (from == to) {
                continue;
            }
            Route route = machine.route(from, to);
            for (int i = 0; i < route.length(); i++) {
                int link = route.link(i);
                load[link] += flowBytes[f];
                slowest = Math.max(slowest, load[link] / machine.linkCapacity(link));
            }
        }
        return slowest;
    }

    private double sum(int[] at) {
        double sum = 0;
        for (int f = 0; f < flowFrom.length; f++) {
            sum += flow(f, at[flowFrom[f]], at[flowTo[f]]);
        }
        return sum;
    }

    private double flow(int f, int from, int to) {
        return from == to ? 0 : flowBytes[f] * perByte[from * n + to] + latency[from * n + to];
    }

    private double sumAt(int[] at, int rank) {
        double sum = 0;
        for (int f : flowsOf[rank]) {
            sum += flow(f, at[flowFrom[f]], at[flowTo[f]]);
        }
        return sum;
    }

    private boolean better(double time, double sum, double bestTime, double bestSum) {
        double slack = 1e-9 * bestTime;
        return time < bestTime - slack || (time <= bestTime + slack && sum < bestSum - 1e-9 * bestSum);
    }

    // Servers.

    /** The ranks of each server, when they follow one another; else one block of all. */
    private List<int[]> blocks() {
        Map<Integer, List<Integer>> byServer = new LinkedHashMap<>();
        for (int d = 0; d < n; d++) {
            byServer.computeIfAbsent(machine.device(d).node(), key -> new ArrayList<>())
                    .add(d);
        }
        List<int[]> found = new ArrayList<>();
        byServer.values()
                .forEach(devices ->
                        found.add(devices.stream().mapToInt(Integer::intValue).toArray()));
        return found;
    }

    private boolean isLegal(int[] at) {
        if (freedom == Freedom.ANY) {
            return true;
        }
        Set<Integer> left = new HashSet<>();
        for (int rank = 1; rank < n; rank++) {
            int before = machine.device(at[rank - 1]).node();
            int node = machine.device(at[rank]).node();
            if (node != before) {
                left.add(before);
                if (left.contains(node)) {
                    return false;
                }
            }
        }
        return true;
    }

    // Every arrangement.

    private int[] exhaustive(int[] identity) {
        int[] best = identity.clone();
        double[] cost = {time(identity), sum(identity)};
        permute(0, 0, 0, new int[n], best, cost);
        return best;
    }

    /**
     * @param used devices that have a rank, one bit each
     * @param left servers that were left for another one, one bit each by their first device
     */
    private void permute(int rank, int used, int left, int[] at, int[] best, double[] cost) {
        if (rank == n) {
            double time = time(at);
            double sum = sum(at);
            if (better(time, sum, cost[0], cost[1])) {
                System.arraycopy(at, 0, best, 0, n);
                cost[0] = time;
                cost[1] = sum;
            }
            return;
        }
        for (int device = 0; device < n; device++) {
            if ((used & 1 << device) != 0) {
                continue;
            }
            int nowLeft = left;
            if (freedom == Freedom.LEGAL && rank > 0 && serverOf[device] != serverOf[at[rank - 1]]) {
                nowLeft |= 1 << serverOf[at[rank - 1]];
                if ((nowLeft & 1 << serverOf[device]) != 0) {
                    continue;
                }
            }
            at[rank] = device;
            permute(rank + 1, used | 1 << device, nowLeft, at, best, cost);
        }
    }

    // Many ranks.

    private int[] heuristic(int[] identity) {
        List<int[]> starts = new ArrayList<>();
        starts.add(identity.clone());
        starts.add(greedy());
        Random random = new Random(SEED);
        for (int i = 0; i < RANDOM_STARTS && n <= 64; i++) {
            starts.add(shuffled(random));
        }
        int[] best = identity.clone();
        double bestTime = time(identity);
        double bestSum = sum(identity);
        for (int[] start : starts) {
            if (!isLegal(start)) {
                continue;
            }
            improve(start);
            double time = time(start);
            double sum = sum(start);
            if (better(time, sum, bestTime, bestSum)) {
                best = start;
                bestTime = time;
                bestSum = sum;
            }
        }
        return best;
    }

    private int[] shuffled(Random random) {
        int[] at = new int[n];
        if (freedom == Freedom.ANY) {
            Arrays.setAll(at, rank -> rank);
            shuffle(at, 0, n, random);
            return at;
        }
        int rank = 0;
        int[] order = new int[blocks.size()];
        Arrays.setAll(order, block -> block);
        shuffle(order, 0, order.length, random);
        for (int block : order) {
            int start = rank;
            for (int device : blocks.get(block)) {
                at[rank++] = device;
            }
            shuffle(at, start, rank, random);
        }
        return at;
    }

    private static void shuffle(int[] values, int from, int to, Random random) {
        for (int i = to - 1; i > from; i--) {
            int j = from + random.nextInt(i - from + 1);
            int swapped = values[i];
            values[i] = values[j];
            values[j] = swapped;
        }
    }

    /** Places rank by rank: next the one that exchanges most with those placed, on the device where that costs least. */
    private int[] greedy() {
        int[] at = new int[n];
        Arrays.fill(at, -1);
        boolean[] taken = new boolean[n];
        double[] attached = new double[n];
        for (int step = 0; step < n; step++) {
            int rank = -1;
            for (int r = 0; r < n; r++) {
                if (at[r] < 0 && (rank < 0 || attached[r] > attached[rank])) {
                    rank = r;
                }
            }
            int device = -1;
            double least = Double.POSITIVE_INFINITY;
            for (int d = 0; d < n; d++) {
                if (taken[d]) {
                    continue;
                }
                double cost = 0;
                for (int f : flowsOf[rank]) {
                    int other = flowFrom[f] == rank ? flowTo[f] : flowFrom[f];
                    if (at[other] >= 0) {
                        cost += flow(f, flowFrom[f] == rank ? d : at[other], flowFrom[f] == rank ? at[other] : d);
                    }
                }
                if (cost < least) {
                    least = cost;
                    device = d;
                }
            }
            at[rank] = device;
            taken[device] = true;
            for (int f : flowsOf[rank]) {
                int other = flowFrom[f] == rank ? flowTo[f] : flowFrom[f];
                attached[other] += flowBytes[f];
            }
        }
        return at;
    }

    /** Swaps two ranks, or two servers of one size, while the sum falls. */
    private void improve(int[] at) {
        long trials = 0;
        boolean improved = true;
        while (improved && trials < MOST_TRIALS) {
            improved = freedom == Freedom.LEGAL && swapServers(at);
            for (int a = 0; a < n && trials < MOST_TRIALS; a++) {
                for (int b = a + 1; b < n; b++) {
                    trials++;
                    if (freedom == Freedom.LEGAL
                            && machine.device(at[a]).node()
                                    != machine.device(at[b]).node()) {
                        continue;
                    }
                    double before = sumAt(at, a) + sumAt(at, b);
                    swap(at, a, b);
                    double after = sumAt(at, a) + sumAt(at, b);
                    if (after < before * (1 - 1e-9)) {
                        improved = true;
                    } else {
                        swap(at, a, b);
                    }
                }
            }
        }
    }

    private static void swap(int[] at, int a, int b) {
        int device = at[a];
        at[a] = at[b];
        at[b] = device;
    }

    private boolean swapServers(int[] at) {
        if (blocks.size() < 2 || blocks.size() > 128) {
            return false;
        }
        int size = blocks.getFirst().length;
        if (blocks.stream().anyMatch(block -> block.length != size)) {
            return false;
        }
        boolean improved = false;
        double best = sum(at);
        for (int a = 0; a < blocks.size(); a++) {
            for (int b = a + 1; b < blocks.size(); b++) {
                swapBlocks(at, a, b, size);
                double now = sum(at);
                if (now < best * (1 - 1e-9)) {
                    best = now;
                    improved = true;
                } else {
                    swapBlocks(at, a, b, size);
                }
            }
        }
        return improved;
    }

    private static void swapBlocks(int[] at, int a, int b, int size) {
        for (int i = 0; i < size; i++) {
            swap(at, a * size + i, b * size + i);
        }
    }
}

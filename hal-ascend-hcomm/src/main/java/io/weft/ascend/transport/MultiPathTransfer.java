// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import io.weft.api.AcceleratorException;
import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.Engine;
import io.weft.sim.engine.VirtualTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * One transfer over several paths, in virtual time. Deterministic: equal paths and events give the same report on every run. Use an object once, from one thread.
 *
 * <p>A chunk that is three times as late as expected is given to another path as well; what arrives first counts. Of a lost HCCS or PCIe link the driver hears at once and its chunks move on; a lost RoCE link only
 * shows after its retries, and until then what was late has long gone another way.
 */
public final class MultiPathTransfer {
    /** RoCE paths of one transfer: one for each network card that a device can reach well. */
    public static final int MAX_ROCE_PATHS = 4;

    private static final long LEAST_CHUNK = 64L << 10;
    private static final long MOST_CHUNK = 4L << 20;
    /** Chunks for each path that the bytes are cut into at least, so that the last ones end close together. */
    private static final int CHUNKS_PER_PATH = 64;
    /** How late a chunk may be, in times of what was expected, before another path gets it. */
    private static final double PATIENCE = 3;
    /** What the sum of fixed times may be wrong by, ns. */
    private static final double SLACK_NANOS = 20_000;
    /** From a link's loss until the driver knows, ns; a model figure for an interrupt and its handling. */
    private static final double NOTICE_NANOS = 10_000;
    /** From a link's return until a connection is made again, ns; a model figure. */
    private static final double RECONNECT_NANOS = 1_000_000;

    private static final int CHUNK = 0;
    private static final int OVERDUE = 1;
    private static final int EVENT = 2;
    private static final int LOST = 3;
    private static final int BACK = 4;

    /** One chunk on its way by one path. */
    private static final class Flight {
        private final int chunk;
        private final int path;
        private final long bytes;
        private long ticket;
        private boolean over;
        /** Whether another path has been given the chunk as well. */
        private boolean doubled;

        Flight(int chunk, int path, long bytes) {
            this.chunk = chunk;
            this.path = path;
            this.bytes = bytes;
        }
    }

    private final Engine engine = new Engine();
    private final List<PathState> paths = new ArrayList<>();
    private final int[] resources;
    private final int[] queues;
    private final double[] share;
    /** Which outage of a path a timer belongs to. */
    private final int[] outage;

    private final List<PathEvent> events;
    private final List<Flight> flights = new ArrayList<>();
    private final ArrayDeque<Integer> late = new ArrayDeque<>();
    private final Striping striping;
    private final Reassembly reassembly;
    private final ActivitySpec spec = new ActivitySpec();
    private int unsent;
    private long restriped;
    private double endNanos;

    private MultiPathTransfer(List<PathSpec> specs, long bytes, List<PathEvent> events, DeliverySink sink) {
        long roce = specs.stream().filter(path -> path.kind() == PathKind.ROCE).count();
        if (specs.isEmpty() || roce > MAX_ROCE_PATHS || bytes < 1) {
            throw AcceleratorException.invalid(
                    "multi-path transfer",
                    specs.size() + " paths, " + roce + " of them RoCE, and " + bytes
                            + " bytes; accepted are 1 or more paths, at most " + MAX_ROCE_PATHS
                            + " of them RoCE, and 1 or more bytes");
        }
        this.events = List.copyOf(events);
        int count = specs.size();
        resources = new int[count];
        queues = new int[count];
        share = new double[count];
        outage = new int[count];
        for (int i = 0; i < count; i++) {
            paths.add(new PathState(specs.get(i)));
            resources[i] = engine.addResource(specs.get(i).name(), specs.get(i).bytesPerSecond());
            queues[i] = engine.addQueue(specs.get(i).name(), 1);
            share[i] = 1;
        }
        striping = new Striping(paths);
        long chunk = Math.clamp(bytes / ((long) count * CHUNKS_PER_PATH), LEAST_CHUNK, MOST_CHUNK);
        reassembly = new Reassembly(bytes, chunk, sink);
        engine.handler(this::onEvent);
    }

    /**
     * Moves bytes and returns when all have arrived or every path is lost.
     *
     * @param paths at least one, of RoCE at most {@link #MAX_ROCE_PATHS}
     * @param bytes 1 or more
     * @param events what happens to the paths meanwhile
     * @param sink takes the bytes in order
     */
    public static TransferReport run(List<PathSpec> paths, long bytes, List<PathEvent> events, DeliverySink sink) {
        return new MultiPathTransfer(paths, bytes, events, sink).go();
    }

    private TransferReport go() {
        for (int i = 0; i < events.size(); i++) {
            if (events.get(i).path() >= paths.size()) {
                throw AcceleratorException.invalid(
                        "multi-path transfer",
                        "path " + events.get(i).path() + " has an event; there are paths 0.." + (paths.size() - 1));
            }
            engine.at(VirtualTime.fromNs(events.get(i).atNanos()), EVENT, i);
        }
        fill();
        while (!reassembly.isComplete() && !isLost() && engine.step()) {
            // Every step is one callback.
        }
        endNanos = engine.nowNs();
        List<TransferReport.PathReport> reports = new ArrayList<>();
        for (PathState path : paths) {
            reports.add(new TransferReport.PathReport(
                    path.spec().name(), path.deliveredBytes(), path.flaps(), path.retransmissions(), !path.isDead()));
        }
        return new TransferReport(
                reassembly.isComplete(),
                reassembly.deliveredBytes(),
                endNanos,
                reports,
                restriped,
                reassembly.duplicates(),
                reassembly.mostHeldBytes());
    }

    /** Every path is given up, and no event to come brings one back. */
    private boolean isLost() {
        return striping.isHopeless()
                && events.stream().noneMatch(event -> event.share() > 0 && event.atNanos() >= engine.nowNs())
                && !comingBack();
    }

    private boolean comingBack() {
        for (double left : share) {
            if (left > 0) {
                return true;
            }
        }
        return false;
    }

    private void onEvent(int kind, int id) {
        switch (kind) {
            case CHUNK -> arrived(flights.get(id));
            case OVERDUE -> overdue(flights.get(id));
            case EVENT -> changed(events.get(id));
            case LOST -> lost(id);
            default -> back(id);
        }
        fill();
    }

    // Sending.

    /** Gives paths what they can take: late chunks first, then new ones, then what idle paths could bring sooner than those that have it. */
    private void fill() {
        while (!late.isEmpty()) {
            int flight = late.peekFirst();
            Flight old = flights.get(flight);
            if (reassembly.has(old.chunk)) {
                late.pollFirst();
                continue;
            }
            int path = striping.choose(old.bytes, old.over ? Striping.NONE : old.path);
            if (path == Striping.NONE) {
                break;
            }
            late.pollFirst();
            restriped++;
            send(old.chunk, path);
        }
        while (unsent < reassembly.chunks()) {
            int path = striping.choose(reassembly.bytesOf(unsent), Striping.NONE);
            if (path == Striping.NONE) {
                return;
            }
            send(unsent++, path);
        }
        rescueLast();
    }

    /** Nothing is left to send: an idle path takes over what another will not bring soon. */
    private void rescueLast() {
        for (Flight flight :
                List.copyOf(flights.subList(Math.max(0, flights.size() - rescueWindow()), flights.size()))) {
            if (flight.over || flight.doubled || reassembly.has(flight.chunk)) {
                continue;
            }
            PathState slow = paths.get(flight.path);
            int path = striping.choose(flight.bytes, flight.path);
            if (path != Striping.NONE
                    && paths.get(path).inFlight() == 0
                    && 2 * paths.get(path).arrivalNanos(flight.bytes) < slow.arrivalNanos(0)) {
                flight.doubled = true;
                restriped++;
                send(flight.chunk, path);
            }
        }
    }

    private int rescueWindow() {
        return paths.stream().mapToInt(path -> path.spec().queueDepth()).sum() * 2;
    }

    private void send(int chunk, int path) {
        PathState state = paths.get(path);
        Flight flight = new Flight(chunk, path, reassembly.bytesOf(chunk));
        int id = flights.size();
        flights.add(flight);
        double expected = state.arrivalNanos(flight.bytes);
        double work = flight.bytes;
        if (!state.spec().lossless() && state.congestion() >= Striping.CONGESTED) {
            // A dropped packet makes the card send everything behind it again.
            work *= 2;
            state.retransmitted();
        }
        state.sent(flight.bytes);
        spec.clear()
                .work(work)
                .use(resources[path])
                .queue(queues[path])
                .tailPs(VirtualTime.fromNs(state.spec().latencyNanos()));
        flight.ticket = engine.start(spec, CHUNK, id);
        engine.after(VirtualTime.fromNs(PATIENCE * expected + SLACK_NANOS), OVERDUE, id);
    }

    private void arrived(Flight flight) {
        PathState state = paths.get(flight.path);
        flight.over = true;
        state.over(flight.bytes);
        state.observed(
                flight.bytes,
                VirtualTime.toNs(engine.nowPs() - engine.flowPs())
                        - state.spec().latencyNanos());
        if (reassembly.arrive(flight.chunk)) {
            state.delivered(flight.bytes);
        }
    }

    private void overdue(Flight flight) {
        if (flight.over || reassembly.has(flight.chunk)) {
            return;
        }
        paths.get(flight.path).suspect();
        moveOn(flight.path);
    }

    /** What is on its way by a path goes by others as well. */
    private void moveOn(int path) {
        for (int i = 0; i < flights.size(); i++) {
            Flight flight = flights.get(i);
            if (flight.path == path && !flight.over && !flight.doubled) {
                flight.doubled = true;
                late.addLast(i);
            }
        }
    }

    // What happens to paths.

    private void changed(PathEvent event) {
        int path = event.path();
        double before = share[path];
        share[path] = event.share();
        engine.capacity(resources[path], event.share() * paths.get(path).spec().bytesPerSecond());
        if (event.share() == 0 && before > 0) {
            outage[path]++;
            PathSpec lost = paths.get(path).spec();
            double notice = lost.kind().retries() ? lost.roce().giveUpNanos() : NOTICE_NANOS;
            engine.after(VirtualTime.fromNs(notice), LOST, outageId(path));
        } else if (event.share() > 0 && before == 0 && paths.get(path).isDead()) {
            double notice = paths.get(path).spec().kind().retries() ? RECONNECT_NANOS : NOTICE_NANOS;
            engine.after(VirtualTime.fromNs(notice), BACK, outageId(path));
        }
    }

    private int outageId(int path) {
        return outage[path] * paths.size() + path;
    }

    private boolean isOld(int id) {
        return id / paths.size() != outage[id % paths.size()];
    }

    /** The hardware reports that a link is gone. */
    private void lost(int id) {
        int path = id % paths.size();
        if (isOld(id) || share[path] > 0) {
            return; // It came back within the retries: the card goes on where it was.
        }
        PathState state = paths.get(path);
        state.die();
        for (int i = 0; i < flights.size(); i++) {
            Flight flight = flights.get(i);
            if (flight.path == path && !flight.over) {
                flight.over = true;
                engine.abort(flight.ticket);
                state.over(flight.bytes);
                if (!flight.doubled) {
                    flight.doubled = true;
                    late.addLast(i);
                }
            }
        }
    }

    private void back(int id) {
        if (!isOld(id) && share[id % paths.size()] > 0) {
            paths.get(id % paths.size()).revive();
        }
    }
}

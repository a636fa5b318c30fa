// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.runtime.json.JsonWriter;
import io.weft.scheduler.GraphTimer;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.OverlapTimer;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.Schedule;
import io.weft.spi.PerformanceModel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * What the host spends on issuing small commands, once its code is compiled: the time of calls that return before the work is done, through the whole library down to the backend, the vendor's own share included. Measured by this machine's clock on
 * every platform, models as well.
 */
public final class IssueBench {
    /** Calls between two looks at the clock; few enough that no queue of a backend is full. */
    private static final int BATCH = 32;

    private static final int WARM_UP_BATCHES = 600;
    private static final int GRAPH_WARM_UP = 1_500;
    private static final long BYTES = 4_096;
    private static final int EDGE = 32;

    /**
     * One kind of command.
     *
     * @param what what was issued
     * @param nanos median host time of each, ns
     * @param most the ninth decile
     */
    public record Row(String what, double nanos, double most) {}

    /**
     * All kinds.
     *
     * @param uri the platform
     * @param machine its machine
     * @param batches counted batches of each kind
     */
    public record Report(String uri, String machine, int batches, List<Row> rows) {
        public Report {
            rows = List.copyOf(rows);
        }

        /** The report as JSON. */
        public String json() {
            return JsonWriter.text(json -> json.object(() -> json.member("figures", "measured")
                    .member("uri", uri)
                    .member("machine", machine)
                    .member("batches", batches)
                    .member("callsPerBatch", BATCH)
                    .array(
                            "rows",
                            rows,
                            row -> json.object(() -> json.member("what", row.what())
                                    .member("medianNs", row.nanos())
                                    .member("p90Ns", row.most())))));
        }
    }

    /** A service without state. */
    public IssueBench() {}

    /** Measures on the platform's first devices. */
    public Report run(Platform platform, int batches) {
        List<Row> rows = new ArrayList<>();
        Device device = platform.devices().getFirst();
        Deque<AutoCloseable> open = new ArrayDeque<>();
        try {
            Stream stream = keep(open, device.createStream());
            Stream other = keep(open, device.createStream());
            Event event = keep(open, device.createEvent(EventOptions.untimed()));
            Buffer first = keep(open, device.allocate(BYTES));
            Buffer second = keep(open, device.allocate(BYTES));
            BufferView to = BufferView.vector(first, 0, BYTES, ElementType.INT8);
            BufferView from = BufferView.vector(second, 0, BYTES, ElementType.INT8);
            Command fill = new Command.Fill(to, 1);
            rows.add(row("fill of 4 KiB", batches, stream, () -> stream.enqueue(fill)));
            Command copy = new Command.Copy(to, from, CopyMethod.AUTO);
            rows.add(row("copy of 4 KiB within a device", batches, stream, () -> stream.enqueue(copy)));
            if (platform.devices().size() > 1) {
                Device peer = platform.devices().get(1);
                if (device.canAccess(peer)) {
                    device.enablePeerAccess(peer);
                }
                Buffer far = keep(open, peer.allocate(BYTES));
                Command push =
                        new Command.Copy(BufferView.vector(far, 0, BYTES, ElementType.INT8), from, CopyMethod.ENGINE);
                rows.add(
                        row("copy of 4 KiB to another device, by engine", batches, stream, () -> stream.enqueue(push)));
                Command store =
                        new Command.Copy(BufferView.vector(far, 0, BYTES, ElementType.INT8), from, CopyMethod.KERNEL);
                rows.add(row(
                        "copy of 4 KiB to another device, by kernel", batches, stream, () -> stream.enqueue(store)));
            }
            long square = (long) EDGE * EDGE * ElementType.BF16.bytes();
            BufferView a = keep(open, device.allocate(square)).matrix(EDGE, EDGE, ElementType.BF16);
            BufferView b = keep(open, device.allocate(square)).matrix(EDGE, EDGE, ElementType.BF16);
            BufferView c = keep(open, device.allocate(square)).matrix(EDGE, EDGE, ElementType.BF16);
            stream.fill(a, 0);
            stream.fill(b, 0);
            Command gemm = Command.Gemm.of(c, a, b);
            rows.add(row("bf16 GEMM, 32 x 32 x 32", batches, stream, () -> stream.enqueue(gemm)));
            rows.add(row("record of an event", batches, stream, () -> stream.record(event)));
            rows.add(row("wait for an event", batches, other, () -> other.waitFor(event)));
        } finally {
            close(open);
        }
        if (platform.devices().size() > 1) {
            graphs(platform, batches, rows);
        }
        return new Report(platform.uri().toString(), platform.properties().machine(), batches, rows);
    }

    private static <T extends AutoCloseable> T keep(Deque<AutoCloseable> open, T one) {
        open.push(one);
        return one;
    }

    private static void close(Deque<AutoCloseable> open) {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (RuntimeException failure) {
                throw failure;
            } catch (Exception impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    private static Row row(String what, int batches, Stream stream, Runnable call) {
        double[] nanos = new double[batches];
        for (int batch = -WARM_UP_BATCHES; batch < batches; batch++) {
            long begun = System.nanoTime();
            for (int i = 0; i < BATCH; i++) {
                call.run();
            }
            long ended = System.nanoTime();
            stream.synchronize();
            if (batch >= 0) {
                nanos[batch] = (ended - begun) / (double) BATCH;
            }
        }
        return of(what, nanos);
    }

    private static Row of(String what, double[] nanos) {
        Arrays.sort(nanos);
        return new Row(what, nanos[nanos.length / 2], nanos[nanos.length * 9 / 10]);
    }

    /** A schedule of small pieces on two devices, as one graph and command by command. */
    private static void graphs(Platform platform, int rounds, List<Row> rows) {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 256, 128, 128, ElementType.BF16, 2);
        List<Device> devices = platform.devices().subList(0, problem.ranks());
        try (Communicator communicator = Communicator.over(platform, devices);
                OverlapTimer timer = OverlapTimer.open(communicator, problem, 1)) {
            Schedule schedule = Schedule.parse("shard-p2p");
            if (platform.has(Capability.DEVICE_GRAPHS)) {
                rows.add(launch("launch of a graph", timer, schedule, PerformanceModel.Issue.DEVICE_GRAPH, rounds));
            }
            rows.add(launch("launch by streams and events", timer, schedule, PerformanceModel.Issue.STREAMS, rounds));
        }
    }

    private static Row launch(
            String what, OverlapTimer timer, Schedule schedule, PerformanceModel.Issue issue, int rounds) {
        OverlapTimer.TimedSchedule ready = timer.prepare(schedule, issue);
        LoweredSchedule lowered = ready.lowered();
        double[] nanos = new double[rounds];
        for (int round = -GRAPH_WARM_UP; round < rounds; round++) {
            GraphTimer.Sample sample = ready.run();
            if (round >= 0) {
                nanos[round] = sample.issueNanos();
            }
        }
        return of(
                what + " of " + lowered.graph().size() + " commands on "
                        + lowered.graph().deviceCount() + " devices",
                nanos);
    }
}

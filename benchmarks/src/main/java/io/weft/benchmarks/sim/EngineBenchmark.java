// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.sim;

import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.Engine;
import io.weft.sim.engine.EventHeap;
import io.weft.sim.engine.Handler;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The event core, the sharing of links, dependent messages and a whole overlap graph, on the engine alone. Run with
 * {@code -prof gc} to see that a warm engine allocates nothing per event. Goals: 10 M events/s; 15,000 (64 hosts, 1,024
 * flows) and 3,000 (256, 4,096) completions/s; ring all-reduce of 1 MB within 0.3 s (256 devices) and 5 s (1,024) in 300
 * MB; a graph of about 1,000 activities in 300 µs.
 */
@State(Scope.Thread)
@Fork(value = 1, jvmArgs = "-Xmx300m")
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class EngineBenchmark {
    private static final int EVENTS = 1_000_000;
    private static final int PENDING = 1024;
    private static final int COMPLETIONS = 4096;

    /** Marsaglia's xorshift: far cheaper than what it drives. */
    private static long shuffled(long x) {
        long y = x ^ x << 13;
        y ^= y >>> 7;
        return y ^ y << 17;
    }

    /** The heap alone: take the first event, push another one, 1,024 pending. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @OperationsPerInvocation(EVENTS)
    public long heapHold() {
        EventHeap heap = new EventHeap();
        long random = 88172645463325252L;
        for (int i = 0; i < PENDING; i++) {
            random = shuffled(random);
            heap.push(random >>> 44);
        }
        for (int i = 0; i < EVENTS; i++) {
            long now = heap.minTime();
            heap.release(heap.poll());
            random = shuffled(random);
            heap.push(now + (random >>> 44));
        }
        return heap.minTime();
    }

    /** Timers of a whole engine: callback, new timer, 1,024 pending. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @OperationsPerInvocation(EVENTS)
    public long timers(Timers timers) {
        return timers.run();
    }

    /** State of {@link #timers}. */
    @State(Scope.Thread)
    public static class Timers implements Handler {
        private final Engine engine = new Engine();
        private long random = 88172645463325252L;
        private int left;

        long run() {
            engine.reset();
            engine.handler(this);
            left = EVENTS - PENDING;
            for (int i = 0; i < PENDING; i++) {
                engine.after(i, 0, i);
            }
            return engine.runUntilIdle();
        }

        @Override
        public void onEvent(int kind, int id) {
            if (left-- > 0) {
                random = shuffled(random);
                engine.after(random >>> 44, 0, id);
            }
        }
    }

    /** Transfers between random pairs of hosts on a star: every link is shared, one component holds all flows. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.SECONDS)
    @OperationsPerInvocation(COMPLETIONS)
    public double sharedLinks(Star star) {
        return star.run(COMPLETIONS);
    }

    /** State of {@link #sharedLinks}: the number of running flows stays the same from one invocation to the next. */
    @State(Scope.Thread)
    public static class Star implements Handler {
        /** Hosts and flows in flight. */
        @Param({"64x1024", "256x4096", "64x16", "64x64", "64x256", "1024x1024"})
        public String size;

        private final ActivitySpec spec = new ActivitySpec();
        private SplittableRandom random;
        private Engine engine;
        private int hosts;
        private int flows;
        private int left;

        /** Builds the star. */
        @Setup
        public void build() {
            hosts = Integer.parseInt(size.substring(0, size.indexOf('x')));
            flows = Integer.parseInt(size.substring(size.indexOf('x') + 1));
            engine = new Engine();
            engine.handler(this);
            for (int i = 0; i < 2 * hosts; i++) {
                engine.addResource("link " + i, 50e9);
            }
        }

        /** Starts all flows and lets the mixture settle. */
        @Setup(Level.Iteration)
        public void start() {
            engine.reset();
            random = new SplittableRandom(7);
            for (int i = 0; i < flows; i++) {
                transfer();
            }
            run(flows);
        }

        double run(int completions) {
            left = completions;
            while (left > 0) {
                engine.step();
            }
            return engine.nowNs();
        }

        private void transfer() {
            int from = random.nextInt(hosts);
            int to = (from + 1 + random.nextInt(hosts - 1)) % hosts;
            double bytes = Math.rint(65536 * Math.pow(2, 8 * random.nextDouble()));
            engine.start(spec.clear().work(bytes).latencyPs(500_000).use(from).use(hosts + to), 0, from);
        }

        @Override
        public void onEvent(int kind, int id) {
            left--;
            transfer();
        }
    }

    /** Ring all-reduce of 1 MB in four chunks, one after the other: each message is sent when its predecessor is in. */
    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    @Warmup(iterations = 2)
    @Measurement(iterations = 5)
    public double ringAllReduce(Ring ring) {
        return ring.run();
    }

    /** State of {@link #ringAllReduce}. */
    @State(Scope.Thread)
    public static class Ring implements Handler {
        private static final int CHUNKS = 4;

        /** Ranks of the ring: 2 (N - 1) N 4 messages. */
        @Param({"256", "1024"})
        public int devices;

        private final ActivitySpec spec = new ActivitySpec();
        private Engine engine;
        private int[] sent;
        private int[] received;

        /** Builds the ring. */
        @Setup
        public void build() {
            engine = new Engine();
            engine.handler(this);
            for (int i = 0; i < devices; i++) {
                engine.addResource("link " + i, 50e9);
            }
            sent = new int[devices];
            received = new int[devices];
        }

        double run() {
            engine.reset();
            for (int d = 0; d < devices; d++) {
                received[d] = 0;
                sent[d] = 0;
            }
            for (int d = 0; d < devices; d++) {
                send(d);
            }
            engine.runUntilIdle();
            return engine.nowNs();
        }

        private void send(int device) {
            sent[device]++;
            engine.start(
                    spec.clear()
                            .work(1048576.0 / CHUNKS / devices)
                            .latencyPs(510_000)
                            .use(device),
                    0,
                    device);
        }

        @Override
        public void onEvent(int kind, int id) {
            int to = id + 1 == devices ? 0 : id + 1;
            received[to]++;
            if (sent[to] < 2 * (devices - 1) * CHUNKS && received[to] >= sent[to]) {
                send(to);
            }
        }
    }

    /**
     * An overlap schedule on a full mesh of eight: chunk copies by copy engines, each followed by a GEMM that shares
     * compute units and memory with its neighbours, 904 activities, on an engine used before.
     */
    @Benchmark
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    public double overlapGraph(Mesh mesh) {
        return mesh.run();
    }

    /** State of {@link #overlapGraph}. */
    @State(Scope.Thread)
    public static class Mesh implements Handler {
        private static final int COPY = 0;
        private static final int GEMM = 1;
        private static final int DEVICES = 8;
        private static final int CHUNKS = 8;

        private final Engine engine = new Engine();
        private final ActivitySpec spec = new ActivitySpec();
        private final int[] memory = new int[DEVICES];
        private final int[] units = new int[DEVICES];
        private final int[] streams = new int[DEVICES];
        private final int[] link = new int[DEVICES * DEVICES];
        private final int[] sdma = new int[DEVICES * DEVICES];

        /** Builds the machine. */
        @Setup
        public void build() {
            engine.handler(this);
            for (int d = 0; d < DEVICES; d++) {
                memory[d] = engine.addResource("memory " + d, 4.0e12);
                units[d] = engine.addResource("compute units " + d, 304);
                streams[d] = engine.addQueue("hardware queues " + d, 4);
                for (int peer = 0; peer < DEVICES; peer++) {
                    link[d * DEVICES + peer] = engine.addResource("link " + d + ">" + peer, 50e9);
                    sdma[d * DEVICES + peer] = engine.addQueue("sdma " + d + "." + peer, 1);
                }
            }
        }

        double run() {
            engine.reset();
            for (int d = 0; d < DEVICES; d++) {
                gemm(d, 64);
                for (int peer = 0; peer < DEVICES; peer++) {
                    if (peer != d) {
                        for (int chunk = 0; chunk < CHUNKS; chunk++) {
                            int pair = d * DEVICES + peer;
                            engine.start(
                                    spec.clear()
                                            .work(2e6 + 1e4 * ((d * 5 + peer * 3 + chunk) % 7))
                                            .queue(sdma[pair])
                                            .latencyPs(1_500_000)
                                            .use(memory[d])
                                            .use(link[pair])
                                            .use(memory[peer]),
                                    COPY,
                                    peer);
                        }
                    }
                }
            }
            engine.runUntilIdle();
            return engine.nowNs();
        }

        /** Work in compute-unit microseconds, each of which moves 8 kB of memory. */
        private void gemm(int device, int chunks) {
            engine.start(
                    spec.clear()
                            .work(1800.0 * chunks)
                            .queue(streams[device])
                            .latencyPs(4_000_000)
                            .rateCap(304e6)
                            .use(units[device], 1e-6)
                            .use(memory[device], 8000),
                    GEMM,
                    device);
        }

        @Override
        public void onEvent(int kind, int id) {
            if (kind == COPY) {
                gemm(id, 1);
            }
        }
    }
}

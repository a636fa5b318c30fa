// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.simgrid;

import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.Engine;
import io.weft.sim.engine.Handler;

/** What many devices at one switch send one another; {@code fluid.cpp} runs the same on SimGrid. */
public enum MessagePattern {
    /** Each device passes on what has come in, N - 1 times. */
    RING_ALL_GATHER("ring-all-gather"),
    /** The same, 2 (N - 1) times. */
    RING_ALL_REDUCE("ring-all-reduce"),
    /** Each device sends its shard to every other, eight at once in rotating order. */
    DIRECT_ALL_GATHER("direct-all-gather"),
    /** The same twice. */
    DIRECT_ALL_REDUCE("direct-all-reduce"),
    /** A FiCCO layer: as the direct all-gather, and what arrives is multiplied in that order, four products beside one another, after the own shard. */
    FICCO_LAYER("ficco-layer");

    // The machine, equal to the one in fluid.cpp.
    private static final double PORT_BANDWIDTH = 50e9;
    private static final long LATENCY_PS = 500_000;
    private static final double FLOPS = 600e12;
    private static final int ENGINES = 8;
    private static final int QUEUES = 4;
    private static final long TENSOR = 1 << 20;

    private final String label;

    MessagePattern(String label) {
        this.label = label;
    }

    /** The name that both programs use. */
    public String label() {
        return label;
    }

    /**
     * What a run found.
     *
     * @param activities transfers and products
     * @param seconds simulated time
     */
    record Result(long activities, double seconds) {}

    /** Runs it on our engine. */
    Result run(int devices) {
        return switch (this) {
            case RING_ALL_GATHER -> new Ring(devices, devices - 1).run();
            case RING_ALL_REDUCE -> new Ring(devices, 2 * (devices - 1)).run();
            case DIRECT_ALL_GATHER -> new Direct(devices, 1, bytes(TENSOR, devices), 0).run();
            case DIRECT_ALL_REDUCE -> new Direct(devices, 2, bytes(TENSOR, devices), 0).run();
            case FICCO_LAYER -> new Direct(devices, 1, bytes(64 * TENSOR, devices), 1e12 / devices).run();
        };
    }

    /** Finds a pattern by its label. */
    static MessagePattern of(String label) {
        for (MessagePattern pattern : values()) {
            if (pattern.label.equals(label)) {
                return pattern;
            }
        }
        throw new IllegalArgumentException("unknown pattern '" + label + "'");
    }

    /** Bytes of one device's shard, whole as SimGrid's are. */
    private static double bytes(long tensor, int devices) {
        long shard = tensor / devices;
        return (double) shard;
    }

    /** Ports at a switch: resource {@code d} leads from device d to the switch, {@code devices + d} back. */
    private static Engine star(int devices) {
        Engine engine = new Engine();
        for (int d = 0; d < devices; d++) {
            engine.addResource("up", PORT_BANDWIDTH);
        }
        for (int d = 0; d < devices; d++) {
            engine.addResource("down", PORT_BANDWIDTH);
        }
        return engine;
    }

    private static final class Ring implements Handler {
        private final Engine engine;
        private final ActivitySpec spec = new ActivitySpec();
        private final int devices;
        private final int steps;
        private final int[] sent;
        private final int[] through;
        private final int[] received;

        Ring(int devices, int steps) {
            this.devices = devices;
            this.steps = steps;
            engine = star(devices);
            engine.handler(this);
            sent = new int[devices];
            through = new int[devices];
            received = new int[devices];
        }

        Result run() {
            for (int d = 0; d < devices; d++) {
                send(d);
            }
            engine.runUntilIdle();
            return new Result(engine.activities(), engine.nowNs() / 1e9);
        }

        private void send(int device) {
            sent[device]++;
            spec.clear()
                    .work(bytes(TENSOR, devices))
                    .latencyPs(LATENCY_PS)
                    .use(device)
                    .use(devices + next(device));
            engine.start(spec, 0, device);
        }

        private int next(int device) {
            return device + 1 == devices ? 0 : device + 1;
        }

        @Override
        public void onEvent(int kind, int id) {
            int to = next(id);
            through[id]++;
            received[to]++;
            advance(id);
            advance(to);
        }

        /** Goes on when the last message is out and the one of the same step is in. */
        private void advance(int device) {
            if (sent[device] < steps && through[device] == sent[device] && received[device] >= sent[device]) {
                send(device);
            }
        }
    }

    private static final class Direct implements Handler {
        private static final int TRANSFER = 0;
        private static final int PRODUCT = 1;

        private final Engine engine;
        private final ActivitySpec spec = new ActivitySpec();
        private final int devices;
        private final int rounds;
        private final double bytes;
        private final double flops;
        /** By device and engine: distance of the present target, and the round. */
        private final int[] distance;

        private final int[] round;

        Direct(int devices, int rounds, double bytes, double flops) {
            this.devices = devices;
            this.rounds = rounds;
            this.bytes = bytes;
            this.flops = flops;
            engine = star(devices);
            for (int d = 0; d < devices; d++) {
                engine.addResource("compute", FLOPS);
                engine.addQueue("hardware queues", QUEUES);
            }
            engine.handler(this);
            distance = new int[devices * ENGINES];
            round = new int[devices * ENGINES];
        }

        Result run() {
            for (int d = 0; d < devices; d++) {
                if (flops > 0) {
                    multiply(d);
                }
                for (int e = 0; e < ENGINES && 1 + e < devices; e++) {
                    distance[d * ENGINES + e] = 1 + e;
                    send(d * ENGINES + e);
                }
            }
            engine.runUntilIdle();
            return new Result(engine.activities(), engine.nowNs() / 1e9);
        }

        private int target(int sender) {
            return (sender / ENGINES + distance[sender]) % devices;
        }

        private void send(int sender) {
            spec.clear().work(bytes).latencyPs(LATENCY_PS).use(sender / ENGINES).use(devices + target(sender));
            engine.start(spec, TRANSFER, sender);
        }

        private void multiply(int device) {
            engine.start(spec.clear().work(flops).queue(device).use(2 * devices + device), PRODUCT, device);
        }

        @Override
        public void onEvent(int kind, int id) {
            if (kind == PRODUCT) {
                return;
            }
            if (flops > 0) {
                multiply(target(id));
            }
            distance[id] += ENGINES;
            if (distance[id] >= devices) {
                if (++round[id] == rounds) {
                    return;
                }
                distance[id] = 1 + id % ENGINES;
            }
            send(id);
        }
    }
}

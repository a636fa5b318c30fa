// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.sim;

import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.Engine;
import io.weft.sim.engine.Handler;
import io.weft.sim.engine.VirtualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * A ring all-reduce of 1 MB for each device by ASTRA-sim's rules, message by message, beside what ASTRA-sim's analytical network prints for it (commit 518bd513, ring of 50 GB/s and 500 ns, four chunks, one active at a time, endpoint delay 10).
 *
 * <p>Its rules: a link's GB is 2^30 bytes and the local memory's 10^9; the four chunks follow one another; each of the 2 (N - 1) steps costs 500 ns, 10 ns and bytes over bandwidth, and those of the reducing half three accesses at 1600 GB/s more.
 */
public final class AstraRing implements Handler {
    /** Devices, and the ns that ASTRA-sim says. */
    static final long[][] EXPECTED = {{8, 64_440}, {64, 296_896}, {256, 1_079_200}, {1024, 4_206_616}};

    private static final int CHUNKS = 4;
    private static final double BYTES = 1 << 20;
    private static final double LINK = 50.0 * (1L << 30);
    private static final double LOCAL = 1600e9;
    private static final int LATER_RUNS = 5;
    /** Runs from this length on are repeated once only. */
    private static final double LONG_SECONDS = 2;

    private final Engine engine = new Engine();
    private final ActivitySpec spec = new ActivitySpec();
    private final int devices;
    private final int steps;
    private final long localPs;
    private final int[] sent;
    private final int[] received;

    private AstraRing(int devices) {
        this.devices = devices;
        steps = 2 * (devices - 1);
        localPs = VirtualTime.fromNs(3 * BYTES / CHUNKS / devices / LOCAL * 1e9);
        sent = new int[devices];
        received = new int[devices];
        engine.handler(this);
        for (int d = 0; d < devices; d++) {
            engine.addResource("link", LINK);
        }
    }

    /**
     * Prints devices, our ns, ASTRA-sim's, their difference, wall time of the first run in this process and the median of later ones (a planner's engine is warm), messages/s and peak memory.
     *
     * @param args numbers of devices; all four when there are none
     */
    public static void main(String[] args) throws IOException {
        for (long[] expected : EXPECTED) {
            int devices = (int) expected[0];
            if (args.length > 0 && !Arrays.asList(args).contains(Integer.toString(devices))) {
                continue;
            }
            double first = seconds(devices);
            double[] later = new double[first < LONG_SECONDS ? LATER_RUNS : 1];
            AstraRing ring = null;
            for (int i = 0; i < later.length; i++) {
                ring = new AstraRing(devices);
                later[i] = ring.seconds();
            }
            Arrays.sort(later);
            double warm = later[later.length / 2];
            System.out.printf(
                    Locale.ROOT,
                    "%5d devices: %9.0f ns, ASTRA-sim %9d ns, %+.2f %%; first run %.3f s, later ones %.3f s, %.1f M messages/s, peak %d MiB%n",
                    devices,
                    ring.engine.nowNs(),
                    expected[1],
                    100 * (ring.engine.nowNs() / expected[1] - 1),
                    first,
                    warm,
                    ring.engine.activities() / warm / 1e6,
                    peakMib());
        }
    }

    private static double seconds(int devices) {
        return new AstraRing(devices).seconds();
    }

    private double seconds() {
        long before = System.nanoTime();
        run();
        return (System.nanoTime() - before) / 1e9;
    }

    /** Simulated ns of the ring by these rules. */
    static double nanos(int devices) {
        return new AstraRing(devices).run();
    }

    private double run() {
        for (int d = 0; d < devices; d++) {
            send(d);
        }
        engine.runUntilIdle();
        return engine.nowNs();
    }

    private void send(int device) {
        boolean reduces = sent[device]++ % steps < devices - 1;
        spec.clear()
                .work(BYTES / CHUNKS / devices)
                .latencyPs(510_000)
                .tailPs(reduces ? localPs : 0)
                .use(device);
        engine.start(spec, 0, device);
    }

    @Override
    public void onEvent(int kind, int id) {
        int to = id + 1 == devices ? 0 : id + 1;
        received[to]++;
        if (sent[to] < steps * CHUNKS && received[to] >= sent[to]) {
            send(to);
        }
    }

    private static long peakMib() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
            }
        }
        return 0;
    }
}

package com.example.first;

import io.weft.api.*;
import io.weft.api.graph.Timeline;
import io.weft.scheduler.*;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Multiplies a matrix whose rows are spread over eight devices, gathering rows while others are multiplied. */
public final class FirstApp {
    public static void main(String[] arguments) {
        int m = 1024, n = 256, k = 512;
        try (Platform platform = Accelerators.discover().open("sim:mesh-8");
                Communicator communicator = Communicator.overAll(platform);
                OverlapEngine engine = OverlapEngine.open(communicator)) {
            int ranks = communicator.size();
            List<BufferView> shards = new ArrayList<>(), weights = new ArrayList<>(), results = new ArrayList<>();
            for (int rank = 0; rank < ranks; rank++) {
                Device device = communicator.device(rank);
                shards.add(device.allocate(m / ranks * k * 2L).matrix(m / ranks, k, ElementType.BF16));
                weights.add(device.allocate(k * n * 2L).matrix(k, n, ElementType.BF16));
                results.add(device.allocate(m * n * 2L).matrix(m, n, ElementType.BF16));
                fill(shards.get(rank), rank + 1); // Row block r of A holds r + 1,
                fill(weights.get(rank), 0.5f); // and B holds one half,
            }
            OverlapRun run = engine.allGatherGemm(shards, weights, results);
            run.synchronize();
            float[] c = ((Buffer) results.get(3).memory()).read(ElementType.BF16, m * n);
            System.out.println("first row " + c[0] + ", last row " + c[(m - 1) * n]); // so C holds (r + 1) * k / 2.
            System.out.println("schedule: " + run.schedule());
            Timeline timeline = run.timeline();
            System.out.printf(Locale.ROOT, "%s: %.1f us%n", timeline.figures().label(), timeline.makespanNanos() / 1e3);
            for (int node = 0; node < timeline.graph().size(); node++) {
                if (timeline.graph().device(node) == 3) {
                    System.out.printf(Locale.ROOT, "%6.1f %6.1f us  %s%n", timeline.startNanos(node) / 1e3,
                            timeline.endNanos(node) / 1e3, timeline.graph().label(node));
                }
            }
        }
    }

    private static void fill(BufferView view, float value) {
        float[] values = new float[Math.toIntExact(view.elements())];
        Arrays.fill(values, value);
        ((Buffer) view.memory()).write(view.type(), values);
    }
}

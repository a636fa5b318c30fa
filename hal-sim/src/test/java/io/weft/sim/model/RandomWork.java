// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.topology.LinkKind;
import io.weft.sim.machine.CollectiveAlgorithm;
import io.weft.sim.machine.CollectiveModel;
import io.weft.sim.machine.CollectiveRange;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineCatalog;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Random machines and random graphs on them, all from one seed. */
final class RandomWork {
    private static final List<Priority> PRIORITIES = List.of(Priority.values());
    private static final List<CopyMethod> METHODS = List.of(CopyMethod.values());

    private final Random random;

    RandomWork(long seed) {
        random = new Random(seed);
    }

    /** A machine of 2 to 9 devices of several sorts, joined by a random tree over devices and switches and some links more. */
    Machine machine() {
        List<DeviceModel> sorts = new ArrayList<>();
        for (String name : MachineCatalog.names()) {
            sorts.add(MachineCatalog.open(name).device(0));
        }
        int devices = 2 + random.nextInt(8);
        Machine.Builder machine = Machine.builder("random")
                .forwardingEfficiency(0.8 + 0.2 * random.nextDouble())
                .forwardingDuplexEfficiency(0.8 + 0.2 * random.nextDouble());
        for (int d = 0; d < devices; d++) {
            machine.device(sorts.get(random.nextInt(sorts.size())));
        }
        int switches = random.nextInt(3);
        for (int s = 0; s < switches; s++) {
            machine.switchNode("switch " + s);
        }
        int vertices = devices + switches;
        boolean[][] joined = new boolean[vertices][vertices];
        for (int v = 1; v < vertices; v++) {
            join(machine, joined, v, random.nextInt(v));
        }
        for (int i = 0; i < vertices; i++) {
            join(machine, joined, random.nextInt(vertices), random.nextInt(vertices));
        }
        CollectiveAlgorithm[] algorithms = CollectiveAlgorithm.values();
        boolean fastest = random.nextBoolean();
        machine.collective(new CollectiveModel(
                Set.of(),
                List.of(
                        new CollectiveRange(
                                0, 1 << 16, algorithms[random.nextInt(algorithms.length)], "", 2, 3000, 500, 4, 0.6),
                        new CollectiveRange(
                                fastest ? 0 : 1 << 16,
                                Long.MAX_VALUE,
                                algorithms[random.nextInt(algorithms.length)],
                                "",
                                1 + random.nextInt(4),
                                9000,
                                700,
                                24,
                                0.9)),
                fastest));
        return machine.build();
    }

    private void join(Machine.Builder machine, boolean[][] joined, int a, int b) {
        if (a == b || joined[a][b]) {
            return;
        }
        joined[a][b] = true;
        joined[b][a] = true;
        machine.link(new LinkModel(
                LinkKind.FABRIC,
                "link",
                a,
                b,
                (10 + random.nextInt(90)) * 1e9,
                (10 + random.nextInt(90)) * 1e9,
                0.5 + 0.5 * random.nextDouble(),
                random.nextBoolean() ? 1 : 0.7,
                random.nextInt(2000),
                1 + random.nextInt(3),
                true,
                true));
    }

    CommandGraph graph(Machine machine, int nodes) {
        CommandGraph.Builder graph = CommandGraph.builder(machine.deviceCount());
        int devices = machine.deviceCount();
        int key = 0;
        while (graph.size() < nodes) {
            int device = random.nextInt(devices);
            int lane = random.nextInt(6);
            Priority priority = PRIORITIES.get(random.nextInt(3));
            int choice = random.nextInt(10);
            if (choice < 4) {
                add(graph, device, lane, priority, copy(graph, device, random.nextInt(devices)));
            } else if (choice < 8) {
                add(graph, device, lane, priority, gemm(graph, device));
            } else if (choice < 9) {
                add(graph, device, lane, priority, elementwise(graph, device));
            } else {
                // All parts on one lane which nothing else uses, so that no order of queues can lock up.
                collective(graph, devices, key++);
            }
        }
        return graph.build();
    }

    private void add(CommandGraph.Builder graph, int device, int lane, Priority priority, Command command) {
        int size = graph.size();
        int[] after = new int[random.nextInt(3)];
        for (int i = 0; i < after.length; i++) {
            after[i] = size == 0 ? -1 : random.nextInt(size);
        }
        graph.add(device, lane, priority, command, command.getClass().getSimpleName(), after);
    }

    private Command copy(CommandGraph.Builder graph, int device, int other) {
        CopyMethod method = METHODS.get(random.nextInt(3));
        boolean pull = random.nextBoolean();
        int from = pull ? other : device;
        int to = pull ? device : other;
        if (random.nextInt(4) == 0) {
            long rows = 1L + random.nextInt(512);
            long columns = 1L + random.nextInt(512);
            long pitch = columns + random.nextInt(64);
            return new Command.CopyStrided(
                    BufferView.pitched(slot(graph, to, rows * pitch * 2), 0, rows, columns, pitch, ElementType.BF16),
                    BufferView.pitched(slot(graph, from, rows * pitch * 2), 0, rows, columns, pitch, ElementType.BF16),
                    method);
        }
        long bytes = random.nextInt(10) == 0 ? 0 : 1L << random.nextInt(26);
        return new Command.Copy(vector(graph, to, bytes), vector(graph, from, bytes), method);
    }

    private Command gemm(CommandGraph.Builder graph, int device) {
        long m = 1L + random.nextInt(5000);
        long n = 1L + random.nextInt(5000);
        long k = 1L + random.nextInt(9000);
        BufferView c = matrix(graph, device, m, n);
        BufferView a = matrix(graph, device, m, k);
        BufferView b = matrix(graph, device, k, n);
        return random.nextBoolean() ? Command.Gemm.of(c, a, b) : Command.Gemm.accumulate(c, a, b);
    }

    private Command elementwise(CommandGraph.Builder graph, int device) {
        long bytes = 4L << random.nextInt(24);
        if (random.nextBoolean()) {
            return new Command.Fill(vector(graph, device, bytes), 0);
        }
        List<BufferView> inputs = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(4); i++) {
            inputs.add(vector(graph, device, bytes));
        }
        return new Command.Reduce(vector(graph, device, bytes), inputs, ReduceOp.SUM);
    }

    private void collective(CommandGraph.Builder graph, int ranks, int key) {
        CollectiveKind[] kinds = {
            CollectiveKind.ALL_REDUCE,
            CollectiveKind.ALL_GATHER,
            CollectiveKind.REDUCE_SCATTER,
            CollectiveKind.BROADCAST,
            CollectiveKind.REDUCE,
            CollectiveKind.ALL_TO_ALL,
            CollectiveKind.ALL_TO_ALL_V,
            CollectiveKind.GATHER,
            CollectiveKind.SCATTER,
            CollectiveKind.BARRIER
        };
        CollectiveKind kind = kinds[random.nextInt(kinds.length)];
        long count = (1L << random.nextInt(20)) * ranks;
        long[][] blocks = new long[ranks][ranks];
        for (long[] row : blocks) {
            for (int j = 0; j < ranks; j++) {
                row[j] = random.nextInt(1 << 16);
            }
        }
        GraphKit kit = GraphKit.into(graph);
        for (int r = 0; r < ranks; r++) {
            Command part = kind == CollectiveKind.ALL_TO_ALL_V
                    ? uneven(graph, r, ranks, blocks, key)
                    : kit.part(kind, r, ranks, count, key);
            graph.add(r, 3, Priority.HIGH, part, kind.name());
        }
    }

    private static Command uneven(CommandGraph.Builder graph, int rank, int ranks, long[][] blocks, int key) {
        List<Long> sends = new ArrayList<>();
        List<Long> receives = new ArrayList<>();
        long sent = 0;
        long received = 0;
        for (int j = 0; j < ranks; j++) {
            sends.add(blocks[rank][j]);
            receives.add(blocks[j][rank]);
            sent += blocks[rank][j];
            received += blocks[j][rank];
        }
        return new Command.Collective(
                CollectiveKind.ALL_TO_ALL_V,
                ReduceOp.SUM,
                rank,
                ranks,
                0,
                vector(graph, rank, sent),
                vector(graph, rank, received),
                sends,
                receives,
                key);
    }

    private static Slot slot(CommandGraph.Builder graph, int device, long bytes) {
        return graph.slot(device, "s", bytes, Slot.Role.COMMUNICATION);
    }

    private static BufferView vector(CommandGraph.Builder graph, int device, long bytes) {
        return BufferView.vector(slot(graph, device, bytes), 0, bytes, ElementType.INT8);
    }

    private static BufferView matrix(CommandGraph.Builder graph, int device, long rows, long columns) {
        return BufferView.matrix(slot(graph, device, rows * columns * 2), 0, rows, columns, ElementType.BF16);
    }
}

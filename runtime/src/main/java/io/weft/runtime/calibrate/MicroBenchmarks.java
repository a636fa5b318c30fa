// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.calibrate;

import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.spi.ModelFitter.Probe;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The micro-benchmarks of a calibration, each a command graph. Sizes span what overlap schedules move and multiply: 64 KiB to 256 MiB, and products of 64 to 8192 rows.
 *
 * <p>What is only read stands in slots of role INPUT, what is written in slots of role OUTPUT, so that all benchmarks can share two blocks of memory on each device and never spoil their operands.
 */
final class MicroBenchmarks {
    /** One benchmark. */
    record Benchmark(Probe probe, String name, CommandGraph graph) {}

    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    private static final int[] CHAINS = {1, 8, 32};
    private static final long[] SIZES = {64 * KIB, 256 * KIB, MIB, 2 * MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB};
    private static final long[] FEW_SIZES = {MIB, 16 * MIB, 128 * MIB};
    private static final long[] COLLECTIVE_SIZES = {
        16 * KIB, 256 * KIB, MIB, 2 * MIB, 8 * MIB, 32 * MIB, 48 * MIB, 128 * MIB, 256 * MIB
    };
    private static final long[] ROWS = {128, 256, 512, 1024, 2048, 4096, 8192};
    private static final long[] COLUMNS = {512, 2048, 8192};
    private static final long[] DEPTHS = {2048, 8192};

    /** Products too small for large tiles, and too thin for compute. */
    private static final long[][] SMALL_PRODUCTS = {
        {64, 64, 2048},
        {64, 64, 8192},
        {128, 64, 4096},
        {16, 64, 4096},
        {64, 512, 4096},
        {256, 256, 2048},
        {256, 256, 8192},
        {512, 256, 4096},
        {16, 1024, 4096},
        {16, 4096, 2048},
        {64, 2048, 2048},
        {64, 4096, 8192},
        {128, 1024, 1024},
        {512, 512, 1024},
        {1024, 1024, 1024},
        {32, 8192, 8192},
        {16384, 8192, 8192},
        {3072, 5120, 8192},
        {1536, 7168, 4096},
        // Odd numbers of rows of tiles, as pieces have.
        {192, 8192, 8192},
        {384, 8192, 8192},
        {640, 8192, 8192},
        {896, 8192, 4096},
        {1152, 5120, 8192},
        {1664, 8192, 4096}
    };

    /** Rows and columns of tiles that GEMM libraries have. */
    private static final long[][] TILES = {
        {256, 256},
        {256, 128},
        {128, 256},
        {192, 128},
        {128, 128},
        {64, 256},
        {128, 64},
        {64, 64},
        {32, 64},
        {64, 32},
        {128, 320},
        {192, 192},
        {128, 192},
        {160, 128},
        {96, 256},
        {128, 96}
    };

    /** Products that add to what is there; each stands among the plain ones, too, so that the two tell what the adding costs. */
    private static final long[][] ACCUMULATED = {
        {512, 8192, 8192}, {1024, 8192, 8192}, {4096, 8192, 2048}, {4096, 8192, 8192}
    };

    /** Products that every device does at once, as in a schedule: devices of one host may share what cools and feeds them. */
    private static final long[][] ON_EACH = {{2048, 8192, 8192}, {8192, 8192, 8192}, {16384, 16384, 8192}};

    /** Halves of such products along K, of which the second adds to the first in fp32. */
    private static final long[][] SLABS = {{1024, 8192, 4096}, {4096, 8192, 4096}};

    /** Bytes of a reduction's result. */
    private static final long[] REDUCED = {MIB, 16 * MIB, 128 * MIB};

    private static final long REDUCED_COLUMNS = 4096;

    /** Products that run side by side: from one that leaves half of the device free to ones that fill it many times. */
    private static final long[][] PAIRS = {{256, 2048, 4096}, {1024, 2048, 4096}, {2048, 8192, 8192}, {4096, 8192, 8192}
    };

    /** Branches of a graph that depend on nothing of each other. */
    private static final int[] BRANCHES = {2, 4};

    /** Products whose results take about half as long to send as to compute. */
    private static final long[][] SENT_PAIRS = {{512, 8192, 8192}, {2048, 8192, 4096}, {4096, 8192, 4096}};

    /** A fill that is all launch. */
    private static final long TINY = 256;

    private final Platform platform;
    private final ElementType type;
    private final int devices;
    private final List<Benchmark> benchmarks = new ArrayList<>();

    private MicroBenchmarks(Platform platform, ElementType type) {
        this.platform = platform;
        this.type = type;
        this.devices = platform.devices().size();
    }

    /** All that make sense on a platform, products with this element type. */
    static List<Benchmark> of(Platform platform, ElementType type) {
        MicroBenchmarks all = new MicroBenchmarks(platform, type);
        all.launches();
        all.spreads();
        all.local();
        all.reductions();
        if (all.devices > 1 && platform.has(Capability.PEER_COPY)) {
            all.copies();
        }
        all.products();
        if (all.devices > 1 && platform.has(Capability.COLLECTIVES)) {
            all.collectives();
        }
        return List.copyOf(all.benchmarks);
    }

    private void add(Probe probe, String name, CommandGraph.Builder graph) {
        benchmarks.add(new Benchmark(probe, name, graph.build()));
    }

    private static String size(long bytes) {
        return bytes >= MIB ? bytes / MIB + " MiB" : bytes / KIB + " KiB";
    }

    private static BufferView bytes(Slot slot) {
        return BufferView.vector(slot, 0, slot.bytes(), ElementType.INT8);
    }

    private static Slot input(CommandGraph.Builder graph, int device, long bytes) {
        return graph.slot(device, "input", bytes, Slot.Role.INPUT);
    }

    private static Slot output(CommandGraph.Builder graph, int device, long bytes) {
        return graph.slot(device, "output", bytes, Slot.Role.OUTPUT);
    }

    // Launches.

    private void launches() {
        for (int length : CHAINS) {
            CommandGraph.Builder graph = CommandGraph.builder(1);
            Slot slot = output(graph, 0, TINY);
            for (int i = 0; i < length; i++) {
                graph.add(0, 0, Priority.NORMAL, new Command.Fill(bytes(slot), i), "fill");
            }
            add(Probe.LAUNCH, length + " fills on one lane", graph);
        }
        for (int length : CHAINS) {
            if (length > 1) {
                CommandGraph.Builder graph = CommandGraph.builder(1);
                Slot slot = output(graph, 0, TINY);
                int last = -1;
                for (int i = 0; i < length; i++) {
                    last = graph.add(0, i % 2, Priority.NORMAL, new Command.Fill(bytes(slot), i), "fill", last);
                }
                add(Probe.LAUNCH, length + " fills on two lanes in turn", graph);
            }
        }
    }

    /** What it costs that a graph spreads: over devices, and over lanes of one. */
    private void spreads() {
        for (int lanes : BRANCHES) {
            CommandGraph.Builder graph = CommandGraph.builder(1);
            for (int lane = 0; lane < lanes; lane++) {
                Slot slot = output(graph, 0, TINY);
                for (int i = 0; i < 2; i++) {
                    graph.add(0, lane, Priority.NORMAL, new Command.Fill(bytes(slot), i), "fill");
                }
            }
            add(Probe.LAUNCH, "2 fills on each of " + lanes + " lanes", graph);
        }
        if (devices > 1) {
            CommandGraph.Builder graph = CommandGraph.builder(devices);
            for (int device = 0; device < devices; device++) {
                Slot slot = output(graph, device, TINY);
                for (int i = 0; i < 2; i++) {
                    graph.add(device, 0, Priority.NORMAL, new Command.Fill(bytes(slot), i), "fill");
                }
            }
            add(Probe.LAUNCH, "2 fills on each of " + devices + " devices", graph);
        }
    }

    // Copies.

    private void local() {
        for (long bytes : SIZES) {
            CommandGraph.Builder fill = CommandGraph.builder(1);
            fill.add(0, 0, Priority.NORMAL, new Command.Fill(bytes(output(fill, 0, bytes)), 0), "fill");
            add(Probe.LOCAL, "fill of " + size(bytes), fill);
            CommandGraph.Builder copy = CommandGraph.builder(1);
            Slot from = input(copy, 0, bytes);
            Slot to = output(copy, 0, bytes);
            copy.add(0, 0, Priority.NORMAL, new Command.Copy(bytes(to), bytes(from), CopyMethod.AUTO), "copy");
            add(Probe.LOCAL, "local copy of " + size(bytes), copy);
        }
    }

    /** Two parts added up, whole and as blocks of columns, and sums that are rounded: what schedules do with parts that have arrived. */
    private void reductions() {
        ElementType half = ElementType.BF16;
        for (long bytes : REDUCED) {
            long rows = bytes / half.bytes() / REDUCED_COLUMNS;
            CommandGraph.Builder whole = CommandGraph.builder(1);
            CommandGraph.Builder gaps = CommandGraph.builder(1);
            CommandGraph.Builder rounding = CommandGraph.builder(1);
            reduce(
                    whole,
                    matrix(output(whole, 0, bytes), rows, half),
                    matrix(input(whole, 0, bytes), rows, half),
                    matrix(input(whole, 0, bytes), rows, half));
            BufferView wide = BufferView.matrix(output(gaps, 0, 2 * bytes), 0, rows, 2 * REDUCED_COLUMNS, half);
            reduce(
                    gaps,
                    wide.columnRange(0, REDUCED_COLUMNS),
                    matrix(input(gaps, 0, bytes), rows, half),
                    matrix(input(gaps, 0, bytes), rows, half));
            ElementType sum = ElementType.FP32;
            reduce(
                    rounding,
                    matrix(output(rounding, 0, bytes), rows, half),
                    matrix(input(rounding, 0, rows * REDUCED_COLUMNS * sum.bytes()), rows, sum));
            add(Probe.REDUCE, "sum of two of " + size(bytes), whole);
            add(Probe.REDUCE, "sum of two into columns, " + size(bytes), gaps);
            add(Probe.REDUCE, "rounding to " + size(bytes), rounding);
        }
    }

    private static BufferView matrix(Slot slot, long rows, ElementType type) {
        return BufferView.matrix(slot, 0, rows, REDUCED_COLUMNS, type);
    }

    private static void reduce(CommandGraph.Builder graph, BufferView result, BufferView... inputs) {
        graph.add(0, 0, Priority.NORMAL, new Command.Reduce(result, List.of(inputs), ReduceOp.SUM), "reduce");
    }

    private void copies() {
        Set<String> kinds = new HashSet<>();
        for (int from = 0; from < devices; from++) {
            for (int to = 0; to < devices; to++) {
                Link link = platform.topology().link(from, to);
                String kind = link.kind() + " " + link.name() + " " + link.hops() + " " + link.width() + " "
                        + Math.round(link.bandwidth());
                if (from != to && link.kind() != LinkKind.NONE && kinds.add(kind)) {
                    pair(from, to);
                }
            }
        }
        for (long bytes : FEW_SIZES) {
            fan(bytes);
        }
    }

    private void pair(int from, int to) {
        boolean engines = platform.has(Capability.COPY_ENGINES);
        for (CopyMethod method : engines ? List.of(CopyMethod.ENGINE, CopyMethod.KERNEL) : List.of(CopyMethod.KERNEL)) {
            Probe probe = method == CopyMethod.ENGINE ? Probe.COPY : Probe.KERNEL_COPY;
            String by = method == CopyMethod.ENGINE ? " by engine" : " by kernel";
            for (long bytes : SIZES) {
                CommandGraph.Builder graph = CommandGraph.builder(Math.max(from, to) + 1);
                send(graph, from, to, 0, bytes, method);
                add(probe, "copy " + from + " to " + to + by + ", " + size(bytes), graph);
            }
            for (long bytes : FEW_SIZES) {
                CommandGraph.Builder both = CommandGraph.builder(Math.max(from, to) + 1);
                send(both, from, to, 0, bytes, method);
                send(both, to, from, 0, bytes, method);
                add(probe, "copies " + from + " to " + to + " and back" + by + ", " + size(bytes), both);
            }
        }
        for (long bytes : FEW_SIZES) {
            if (engines) {
                CommandGraph.Builder two = CommandGraph.builder(Math.max(from, to) + 1);
                send(two, from, to, 0, bytes, CopyMethod.ENGINE);
                send(two, from, to, 1, bytes, CopyMethod.ENGINE);
                add(Probe.COPY, "two copies " + from + " to " + to + " by engine, " + size(bytes), two);
            }
        }
    }

    /** One device sends to all others at once: several engines, or one port. */
    private void fan(long bytes) {
        if (devices < 3 || !platform.has(Capability.COPY_ENGINES)) {
            return;
        }
        CommandGraph.Builder graph = CommandGraph.builder(devices);
        for (int to = 1; to < devices; to++) {
            send(graph, 0, to, to - 1, bytes, CopyMethod.ENGINE);
        }
        add(Probe.COPY, "copies 0 to all others by engine, " + size(bytes) + " each", graph);
    }

    private static void send(CommandGraph.Builder graph, int from, int to, int lane, long bytes, CopyMethod method) {
        Slot source = input(graph, from, bytes);
        Slot target = output(graph, to, bytes);
        graph.add(from, lane, Priority.HIGH, new Command.Copy(bytes(target), bytes(source), method), "copy");
    }

    // Products.

    private void products() {
        for (long m : ROWS) {
            for (long n : COLUMNS) {
                for (long k : DEPTHS) {
                    product(m, n, k);
                }
            }
        }
        for (long[] shape : SMALL_PRODUCTS) {
            product(shape[0], shape[1], shape[2]);
        }
        wholeWaves();
        for (long[] shape : ACCUMULATED) {
            CommandGraph.Builder graph = CommandGraph.builder(1);
            multiply(graph, 0, 0, shape[0], shape[1], shape[2], resultType(), true);
            add(Probe.GEMM_ACCUMULATE, "product " + shape(shape[0], shape[1], shape[2]) + " added", graph);
        }
        if (type.isFloating() && type != ElementType.FP32) {
            for (long[] shape : SLABS) {
                for (boolean added : new boolean[] {false, true}) {
                    CommandGraph.Builder graph = CommandGraph.builder(1);
                    multiply(graph, 0, 0, shape[0], shape[1], shape[2], ElementType.FP32, added);
                    String name = "product " + shape(shape[0], shape[1], shape[2]) + " in fp32";
                    add(Probe.GEMM_ACCUMULATE, added ? name + " added" : name, graph);
                }
            }
        }
        for (long[] shape : PAIRS) {
            CommandGraph.Builder pair = CommandGraph.builder(1);
            multiply(pair, 0, shape[0], shape[1], shape[2]);
            multiply(pair, 1, shape[0], shape[1], shape[2]);
            add(Probe.GEMM_PAIR, "two products " + shape(shape[0], shape[1], shape[2]) + " side by side", pair);
        }
        for (long[] shape : devices > 1 ? ON_EACH : new long[0][]) {
            CommandGraph.Builder all = CommandGraph.builder(devices);
            for (int device = 0; device < devices; device++) {
                multiply(all, device, 0, shape[0], shape[1], shape[2], resultType(), false);
            }
            add(Probe.GEMM, "product " + shape(shape[0], shape[1], shape[2]) + " on each device", all);
        }
        if (devices < 2 || !platform.has(Capability.PEER_COPY)) {
            return;
        }
        if (platform.has(Capability.COPY_ENGINES)) {
            for (long[] shape : SENT_PAIRS) {
                sentPair(shape[0], shape[1], shape[2]);
            }
        }
        for (long m : new long[] {2048, 8192}) {
            for (CopyMethod method : CopyMethod.values()) {
                boolean engine = method == CopyMethod.ENGINE;
                if (method != CopyMethod.AUTO && (!engine || platform.has(Capability.COPY_ENGINES))) {
                    CommandGraph.Builder graph = CommandGraph.builder(2);
                    multiply(graph, 0, m, 8192, 8192);
                    send(graph, 0, 1, 1, 256 * MIB, method);
                    send(graph, 1, 0, 1, 256 * MIB, method);
                    add(
                            Probe.GEMM_BESIDE_COPY,
                            "product " + shape(m, 8192, 8192) + " beside copies by " + (engine ? "engine" : "kernel"),
                            graph);
                }
            }
        }
    }

    /** Two products side by side, each sent when it is done: tells whether the earlier one gets the device to itself. */
    private void sentPair(long m, long n, long k) {
        CommandGraph.Builder pair = CommandGraph.builder(2);
        for (int lane = 0; lane < 2; lane++) {
            Product product = multiply(pair, lane, m, n, k);
            Slot there = output(pair, 1, product.result().bytes());
            pair.add(
                    0,
                    2,
                    Priority.HIGH,
                    new Command.Copy(bytes(there), bytes(product.result()), CopyMethod.ENGINE),
                    "copy",
                    product.node());
        }
        add(Probe.GEMM_PAIR, "two products " + shape(m, n, k) + " side by side, each sent when done", pair);
    }

    /** Products that fill the device exactly once with tiles of usual sizes, so that each of these is the best for one of them. */
    private void wholeWaves() {
        int units = Math.max(1, platform.device(0).properties().computeUnits());
        int down = (int) Math.sqrt(units);
        while (units % down != 0) {
            down--;
        }
        if (down * down < units / 4) {
            down = (int) Math.sqrt(units); // nearly prime: almost a wave has to do
        }
        for (long[] tile : TILES) {
            product(tile[0] * down, tile[1] * (units / down), 4096);
        }
    }

    private static String shape(long m, long n, long k) {
        return m + "x" + n + "x" + k;
    }

    private void product(long m, long n, long k) {
        CommandGraph.Builder graph = CommandGraph.builder(1);
        multiply(graph, 0, m, n, k);
        add(Probe.GEMM, "product " + shape(m, n, k), graph);
    }

    /** A product's node and what it writes. */
    private record Product(int node, Slot result) {}

    private ElementType resultType() {
        return type == ElementType.INT8 ? ElementType.INT32 : type.isFp8() ? ElementType.BF16 : type;
    }

    private Product multiply(CommandGraph.Builder graph, int lane, long m, long n, long k) {
        return multiply(graph, 0, lane, m, n, k, resultType(), false);
    }

    private Product multiply(
            CommandGraph.Builder graph,
            int device,
            int lane,
            long m,
            long n,
            long k,
            ElementType result,
            boolean added) {
        Slot a = input(graph, device, m * k * type.bytes());
        Slot b = input(graph, device, k * n * type.bytes());
        Slot c = output(graph, device, m * n * result.bytes());
        BufferView target = BufferView.matrix(c, 0, m, n, result);
        BufferView left = BufferView.matrix(a, 0, m, k, type);
        BufferView right = BufferView.matrix(b, 0, k, n, type);
        int node = graph.add(
                device,
                lane,
                Priority.NORMAL,
                added ? Command.Gemm.accumulate(target, left, right) : Command.Gemm.of(target, left, right),
                "gemm");
        return new Product(node, c);
    }

    // Collectives.

    private void collectives() {
        for (CollectiveKind kind :
                List.of(CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_REDUCE)) {
            for (long bytes : COLLECTIVE_SIZES) {
                CommandGraph.Builder graph = CommandGraph.builder(devices);
                long whole = bytes / ElementType.BF16.bytes() / devices * devices;
                long part = whole / devices;
                for (int rank = 0; rank < devices; rank++) {
                    boolean gathers = kind == CollectiveKind.ALL_GATHER;
                    boolean scatters = kind == CollectiveKind.REDUCE_SCATTER;
                    BufferView send = vector(input(graph, rank, 2 * (gathers ? part : whole)));
                    BufferView receive = vector(output(graph, rank, 2 * (scatters ? part : whole)));
                    graph.add(
                            rank,
                            0,
                            Priority.NORMAL,
                            new Command.Collective(
                                    kind, ReduceOp.SUM, rank, devices, 0, send, receive, List.of(), List.of(), 0),
                            "collective");
                }
                String name = kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
                add(Probe.COLLECTIVE, name + " of " + size(bytes) + " over " + devices, graph);
            }
        }
    }

    private static BufferView vector(Slot slot) {
        return BufferView.vector(slot, 0, slot.bytes() / ElementType.BF16.bytes(), ElementType.BF16);
    }
}

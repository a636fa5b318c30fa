// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Runs a command graph node by node over plain arrays. Node numbers are an order that every dependency allows, so for a graph without races this is what every backend
 * must come to.
 *
 * <p>Results are exact bits as long as {@link #inexact()} is empty: products, and reductions over ranks, may be added up in any order by a backend, which makes no
 * difference when nothing is rounded on the way. Not for several threads.
 */
public final class GraphInterpreter {
    private final CommandGraph graph;
    private final byte[][] slots;
    private String inexact;

    /**
     * @param slots the content of every slot by index; changed by the run
     */
    public GraphInterpreter(CommandGraph graph, byte[][] slots) {
        this.graph = graph;
        this.slots = slots;
    }

    /** Runs all nodes. */
    public void run() {
        List<Integer> parts = new ArrayList<>();
        for (int node = 0; node < graph.size(); node++) {
            switch (graph.command(node)) {
                case Command.Copy copy -> write(copy.destination(), read(copy.source()));
                case Command.CopyStrided copy -> write(copy.destination(), read(copy.source()));
                case Command.Fill fill -> fill(fill);
                case Command.Gemm gemm -> gemm(gemm, node);
                case Command.Reduce reduce -> reduce(reduce, node);
                case Command.Collective part -> {
                    parts.add(node);
                    int wanted = part.kind().pointToPoint() ? 2 : part.ranks();
                    if (parts.size() == wanted) {
                        collective(List.copyOf(parts));
                        parts.clear();
                    }
                }
            }
        }
        if (!parts.isEmpty()) {
            throw new IllegalArgumentException(
                    "the parts of one collective must follow one another, each with all its ranks");
        }
    }

    /** The first node whose result a backend may round in another way, in words; empty when all bits are determined. */
    public Optional<String> inexact() {
        return Optional.ofNullable(inexact);
    }

    private int[] read(BufferView view) {
        return SlotMemory.read(memory(view), view);
    }

    private void write(BufferView view, int[] bits) {
        SlotMemory.write(memory(view), view, bits);
    }

    private byte[] memory(BufferView view) {
        return slots[((Slot) view.memory()).index()];
    }

    private void fill(Command.Fill fill) {
        int[] bits = new int[Math.toIntExact(fill.destination().elements())];
        Arrays.fill(bits, fill.bits());
        write(fill.destination(), bits);
    }

    private void reduce(Command.Reduce reduce, int node) {
        ElementType type = reduce.inputs().getFirst().type();
        int[][] inputs = reduce.inputs().stream().map(this::read).toArray(int[][]::new);
        float[] scales = new float[inputs.length];
        Arrays.fill(scales, reduce.op().scale());
        if (reduce.op().kind() == ReduceOp.Kind.PROD && type.isFloating()) {
            demand(node, Reductions.anyOrder(reduce.op().kind(), scales, type, inputs), type);
        }
        write(
                reduce.destination(),
                Reductions.ordered(
                        reduce.op().kind(),
                        scales,
                        type,
                        inputs,
                        reduce.destination().type()));
    }

    private void gemm(Command.Gemm gemm, int node) {
        int m = Math.toIntExact(gemm.m());
        int n = Math.toIntExact(gemm.n());
        int k = Math.toIntExact(gemm.k());
        for (int entry = 0; entry < gemm.batch(); entry++) {
            int[] a = operand(gemm.a(), entry * gemm.strideA(), gemm.transposeA());
            int[] b = operand(gemm.b(), entry * gemm.strideB(), gemm.transposeB());
            int[] c = SlotMemory.read(memory(gemm.c()), gemm.c(), entry * gemm.strideC());
            if (gemm.a().type().isFloating()) {
                demandExact(gemm, node, m, n, k, a, b, c);
            }
            Expectation result = Products.gemm(
                    m,
                    n,
                    k,
                    gemm.alpha(),
                    gemm.a().type(),
                    a,
                    b,
                    gemm.beta(),
                    gemm.c().type(),
                    c);
            int[] bits = new int[m * n];
            for (int i = 0; i < bits.length; i++) {
                bits[i] = Codec.of(gemm.c().type()).encode(result.values()[i]);
            }
            SlotMemory.write(memory(gemm.c()), gemm.c(), entry * gemm.strideC(), bits);
        }
    }

    private int[] operand(BufferView view, long shift, boolean transpose) {
        int[] bits = SlotMemory.read(memory(view), view, shift);
        if (!transpose) {
            return bits;
        }
        int rows = Math.toIntExact(view.rows());
        int columns = Math.toIntExact(view.columns());
        int[] turned = new int[bits.length];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                turned[column * rows + row] = bits[row * columns + column];
            }
        }
        return turned;
    }

    private void demandExact(Command.Gemm gemm, int node, int m, int n, int k, int[] a, int[] b, int[] c) {
        Codec operand = Codec.of(gemm.a().type());
        Codec result = Codec.of(gemm.c().type());
        for (int i = 0; i < m && inexact == null; i++) {
            for (int j = 0; j < n; j++) {
                Exactness terms = new Exactness();
                for (int p = 0; p < k; p++) {
                    terms.add(gemm.alpha() * operand.decode(a[i * k + p]) * operand.decode(b[p * n + j]));
                    terms.add(operand.decode(a[i * k + p]) * operand.decode(b[p * n + j]));
                }
                if (gemm.beta() != 0) {
                    terms.add(gemm.beta() * result.decode(c[i * n + j]));
                }
                if (!terms.holds()) {
                    inexact = "node " + node + ": element [" + i + ", " + j + "] of the product is rounded on the way";
                    return;
                }
            }
        }
    }

    /** A product of several factors is exact when every partial product is. */
    private void demand(int node, Expectation result, ElementType type) {
        for (double value : result.values()) {
            if (inexact == null && (!Double.isFinite(value) || (float) value != value)) {
                inexact = "node " + node + ": a product of " + type + " is rounded on the way";
            }
        }
    }

    private void collective(List<Integer> nodes) {
        List<Command.Collective> parts = nodes.stream()
                .map(node -> (Command.Collective) graph.command(node))
                .sorted(Comparator.comparingInt(Command.Collective::rank))
                .toList();
        Command.Collective first = parts.getFirst();
        switch (first.kind()) {
            case BARRIER -> {
                // No data.
            }
            case SEND, RECEIVE -> {
                Command.Collective send = only(parts, CollectiveKind.SEND);
                Command.Collective receive = only(parts, CollectiveKind.RECEIVE);
                write(receive.receive(), read(send.send()));
            }
            case ALL_TO_ALL_V -> allToAllV(parts);
            default -> plain(first, parts, nodes.getLast());
        }
    }

    private static Command.Collective only(List<Command.Collective> parts, CollectiveKind kind) {
        return parts.stream().filter(part -> part.kind() == kind).findFirst().orElseThrow();
    }

    private void plain(Command.Collective first, List<Command.Collective> parts, int node) {
        int[][] send = new int[parts.size()][];
        float[] scales = new float[parts.size()];
        for (int rank = 0; rank < send.length; rank++) {
            Command.Collective part = parts.get(rank);
            send[rank] = part.send() == null ? new int[0] : read(part.send());
            scales[rank] = part.op().scale();
        }
        if (first.kind().reduces() && first.type().isFloating()) {
            demandExact(first, send, scales, node);
        }
        Expectation[] results =
                Collectives.results(first.kind(), first.op().kind(), scales, first.type(), first.root(), send);
        Codec codec = Codec.of(first.type());
        for (int rank = 0; rank < results.length; rank++) {
            if (results[rank] == null || parts.get(rank).receive() == null) {
                continue;
            }
            int[] bits = new int[results[rank].values().length];
            for (int i = 0; i < bits.length; i++) {
                bits[i] = codec.encode(results[rank].values()[i]);
            }
            if (!first.kind().reduces()) {
                bits = moved(first, parts, send, rank);
            }
            write(parts.get(rank).receive(), bits);
        }
    }

    /** Data that are only moved keep their patterns, NaNs included. */
    private static int[] moved(Command.Collective first, List<Command.Collective> parts, int[][] send, int rank) {
        int ranks = parts.size();
        return switch (first.kind()) {
            case BROADCAST -> send[first.root()];
            case SCATTER -> block(send[first.root()], ranks, rank);
            case ALL_TO_ALL -> {
                int[][] blocks = new int[ranks][];
                for (int from = 0; from < ranks; from++) {
                    blocks[from] = block(send[from], ranks, rank);
                }
                yield joined(blocks);
            }
            default -> joined(send);
        };
    }

    private static int[] block(int[] data, int ranks, int index) {
        int size = data.length / ranks;
        return Arrays.copyOfRange(data, index * size, (index + 1) * size);
    }

    private static int[] joined(int[][] blocks) {
        return Arrays.stream(blocks).flatMapToInt(Arrays::stream).toArray();
    }

    private void demandExact(Command.Collective first, int[][] send, float[] scales, int node) {
        Codec codec = Codec.of(first.type());
        ReduceOp.Kind op = first.op().kind();
        if (op == ReduceOp.Kind.MIN || op == ReduceOp.Kind.MAX) {
            return;
        }
        for (int i = 0; i < send[0].length && inexact == null; i++) {
            Exactness terms = new Exactness();
            double product = 1;
            for (int rank = 0; rank < send.length; rank++) {
                double factor = switch (op) {
                    case AVG -> codec.decode(codec.encode(1.0 / send.length));
                    case SCALED_SUM -> codec.decode(codec.encode(scales[rank]));
                    default -> 1;
                };
                double value = factor * codec.decode(send[rank][i]);
                product *= value;
                terms.add(value);
            }
            boolean exact = op == ReduceOp.Kind.PROD
                    ? Double.isFinite(product) && codec.decode(codec.encode(product)) == product
                    : terms.holds();
            // A rank's partial sum may also be kept in the element type itself.
            if (!exact) {
                inexact =
                        "node " + node + ": element " + i + " of " + first.kind() + " " + op + " is rounded on the way";
            }
        }
    }

    private void allToAllV(List<Command.Collective> parts) {
        int ranks = parts.size();
        int[][] send = parts.stream().map(part -> read(part.send())).toArray(int[][]::new);
        for (int to = 0; to < ranks; to++) {
            int[][] blocks = new int[ranks][];
            for (int from = 0; from < ranks; from++) {
                int start = 0;
                for (int before = 0; before < to; before++) {
                    start += Math.toIntExact(parts.get(from).sendCounts().get(before));
                }
                int count = Math.toIntExact(parts.get(from).sendCounts().get(to));
                blocks[from] = Arrays.copyOfRange(send[from], start, start + count);
            }
            write(parts.get(to).receive(), joined(blocks));
        }
    }
}

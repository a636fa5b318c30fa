// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.MatrixLayout;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Makes a failing graph as small as it can while it goes on failing: nodes are left out, the largest runs of them first, then what is left is made plainer and smaller, over
 * and over until nothing helps any more.
 */
final class GraphShrinker {
    /** Attempts after which the smallest one so far must do. */
    private static final int MOST_ATTEMPTS = 3_000;

    private final Predicate<GraphDraft> fails;
    private final long seed;
    private GraphDraft smallest;
    private int attempts;

    private GraphShrinker(GraphDraft draft, long seed, Predicate<GraphDraft> fails) {
        this.smallest = draft;
        this.seed = seed;
        this.fails = fails;
    }

    /**
     * Shrinks a graph.
     *
     * @param seed of the slots' content
     * @param fails whether a graph fails
     */
    static GraphDraft shrink(GraphDraft draft, long seed, Predicate<GraphDraft> fails) {
        GraphShrinker shrinker = new GraphShrinker(draft, seed, fails);
        boolean better = true;
        while (better && shrinker.attempts < MOST_ATTEMPTS) {
            better = shrinker.leaveOut();
            better |= shrinker.makePlainer();
            better |= shrinker.makeSmaller();
        }
        shrinker.offer(shrinker.smallest.tight());
        return shrinker.smallest;
    }

    /** Takes a graph if it fails as well. */
    private boolean offer(GraphDraft other) {
        if (other.equals(smallest) || attempts >= MOST_ATTEMPTS) {
            return false;
        }
        attempts++;
        if (other.inexact(seed).isPresent() || !fails.test(other)) {
            return false;
        }
        smallest = other;
        return true;
    }

    private boolean leaveOut() {
        boolean better = false;
        for (int size = Math.max(1, smallest.nodes().size() / 2); size >= 1; size /= 2) {
            int node = 0;
            while (node < smallest.nodes().size()) {
                int from = smallest.unit(node)[0];
                int to = smallest.unit(Math.min(node + size, smallest.nodes().size()) - 1)[1];
                if (offer(smallest.without(from, to))) {
                    better = true;
                } else {
                    node = to;
                }
            }
        }
        return better;
    }

    private boolean makePlainer() {
        boolean better = false;
        for (int node = 0; node < smallest.nodes().size(); node++) {
            GraphDraft.Node one = smallest.nodes().get(node);
            better |= offer(smallest.with(
                    node, new GraphDraft.Node(one.device(), one.lane(), one.priority(), one.command(), Set.of())));
            one = smallest.nodes().get(node);
            better |= offer(smallest.with(
                    node, new GraphDraft.Node(one.device(), one.lane(), Priority.NORMAL, one.command(), one.more())));
            one = smallest.nodes().get(node);
            better |= offer(smallest.with(
                    node, new GraphDraft.Node(one.device(), 0, one.priority(), one.command(), one.more())));
        }
        return better;
    }

    private boolean makeSmaller() {
        boolean better = false;
        for (int node = 0; node < smallest.nodes().size(); node++) {
            boolean again = true;
            while (again) {
                again = false;
                GraphDraft.Node one = smallest.nodes().get(node);
                for (Command smaller : smaller(one.command())) {
                    if (offer(smallest.with(node, one.with(smaller)))) {
                        again = true;
                        better = true;
                        break;
                    }
                }
            }
            better |= smallerCollective(node);
        }
        return better;
    }

    /** Smaller or plainer commands, the most daring first. */
    private static List<Command> smaller(Command command) {
        List<Command> all = new ArrayList<>();
        switch (command) {
            case Command.Copy copy -> {
                for (long count : sizes(copy.source().elements())) {
                    tryTo(
                            all,
                            () -> new Command.Copy(
                                    head(copy.destination(), count), head(copy.source(), count), copy.method()));
                }
                tryTo(all, () -> new Command.Copy(atStart(copy.destination()), copy.source(), copy.method()));
                tryTo(all, () -> new Command.Copy(copy.destination(), atStart(copy.source()), copy.method()));
                tryTo(all, () -> new Command.Copy(copy.destination(), copy.source(), CopyMethod.AUTO));
            }
            case Command.CopyStrided copy -> {
                for (long rows : sizes(copy.source().rows())) {
                    tryTo(
                            all,
                            () -> new Command.CopyStrided(
                                    copy.destination().rowRange(0, rows),
                                    copy.source().rowRange(0, rows),
                                    copy.method()));
                }
                for (long columns : sizes(copy.source().columns())) {
                    tryTo(
                            all,
                            () -> new Command.CopyStrided(
                                    copy.destination().columnRange(0, columns),
                                    copy.source().columnRange(0, columns),
                                    copy.method()));
                }
                for (BufferView to : plainer(copy.destination())) {
                    tryTo(all, () -> new Command.CopyStrided(to, copy.source(), copy.method()));
                }
                for (BufferView from : plainer(copy.source())) {
                    tryTo(all, () -> new Command.CopyStrided(copy.destination(), from, copy.method()));
                }
                tryTo(all, () -> new Command.CopyStrided(copy.destination(), copy.source(), CopyMethod.AUTO));
            }
            case Command.Fill fill -> {
                for (long rows : sizes(fill.destination().rows())) {
                    tryTo(all, () -> new Command.Fill(fill.destination().rowRange(0, rows), fill.bits()));
                }
                for (long columns : sizes(fill.destination().columns())) {
                    tryTo(all, () -> new Command.Fill(fill.destination().columnRange(0, columns), fill.bits()));
                }
                for (BufferView view : plainer(fill.destination())) {
                    tryTo(all, () -> new Command.Fill(view, fill.bits()));
                }
            }
            case Command.Gemm gemm -> gemm(gemm, all);
            case Command.Reduce reduce -> reduce(reduce, all);
            case Command.Collective ignored -> {
                // All parts change together.
            }
        }
        return all;
    }

    private static void gemm(Command.Gemm gemm, List<Command> all) {
        for (long m : sizes(gemm.m())) {
            tryTo(
                    all,
                    () -> product(
                            gemm,
                            gemm.c().rowRange(0, m),
                            gemm.transposeA()
                                    ? gemm.a().columnRange(0, m)
                                    : gemm.a().rowRange(0, m),
                            gemm.b()));
        }
        for (long n : sizes(gemm.n())) {
            tryTo(
                    all,
                    () -> product(
                            gemm,
                            gemm.c().columnRange(0, n),
                            gemm.a(),
                            gemm.transposeB()
                                    ? gemm.b().rowRange(0, n)
                                    : gemm.b().columnRange(0, n)));
        }
        for (long k : sizes(gemm.k())) {
            tryTo(
                    all,
                    () -> product(
                            gemm,
                            gemm.c(),
                            gemm.transposeA()
                                    ? gemm.a().rowRange(0, k)
                                    : gemm.a().columnRange(0, k),
                            gemm.transposeB()
                                    ? gemm.b().columnRange(0, k)
                                    : gemm.b().rowRange(0, k)));
        }
        for (BufferView c : plainer(gemm.c())) {
            tryTo(all, () -> product(gemm, c, gemm.a(), gemm.b()));
        }
        for (BufferView a : plainer(gemm.a())) {
            tryTo(all, () -> product(gemm, gemm.c(), a, gemm.b()));
        }
        for (BufferView b : plainer(gemm.b())) {
            tryTo(all, () -> product(gemm, gemm.c(), gemm.a(), b));
        }
        tryTo(all, () -> product(gemm, false, gemm.transposeB(), gemm.alpha(), gemm.beta()));
        tryTo(all, () -> product(gemm, gemm.transposeA(), false, gemm.alpha(), gemm.beta()));
        tryTo(all, () -> product(gemm, gemm.transposeA(), gemm.transposeB(), 1, gemm.beta()));
        tryTo(all, () -> product(gemm, gemm.transposeA(), gemm.transposeB(), gemm.alpha(), 0));
    }

    private static Command product(Command.Gemm gemm, BufferView c, BufferView a, BufferView b) {
        return new Command.Gemm(c, a, b, gemm.transposeA(), gemm.transposeB(), gemm.alpha(), gemm.beta(), 1, 0, 0, 0);
    }

    private static Command product(Command.Gemm gemm, boolean a, boolean b, float alpha, float beta) {
        return new Command.Gemm(gemm.c(), gemm.a(), gemm.b(), a, b, alpha, beta, 1, 0, 0, 0);
    }

    private static void reduce(Command.Reduce reduce, List<Command> all) {
        for (int i = 0; reduce.inputs().size() > 1 && i < reduce.inputs().size(); i++) {
            List<BufferView> fewer = new ArrayList<>(reduce.inputs());
            fewer.remove(i);
            tryTo(all, () -> new Command.Reduce(reduce.destination(), fewer, reduce.op()));
        }
        for (long rows : sizes(reduce.destination().rows())) {
            tryTo(
                    all,
                    () -> new Command.Reduce(
                            reduce.destination().rowRange(0, rows),
                            reduce.inputs().stream()
                                    .map(view -> view.rowRange(0, rows))
                                    .toList(),
                            reduce.op()));
        }
        for (long columns : sizes(reduce.destination().columns())) {
            tryTo(
                    all,
                    () -> new Command.Reduce(
                            reduce.destination().columnRange(0, columns),
                            reduce.inputs().stream()
                                    .map(view -> view.columnRange(0, columns))
                                    .toList(),
                            reduce.op()));
        }
        if (!reduce.inputs().contains(reduce.destination())) {
            for (BufferView to : plainer(reduce.destination())) {
                tryTo(all, () -> new Command.Reduce(to, reduce.inputs(), reduce.op()));
            }
        }
        for (int i = 0; i < reduce.inputs().size(); i++) {
            if (reduce.inputs().get(i).equals(reduce.destination())) {
                continue;
            }
            for (BufferView from : plainer(reduce.inputs().get(i))) {
                List<BufferView> changed = new ArrayList<>(reduce.inputs());
                changed.set(i, from);
                tryTo(all, () -> new Command.Reduce(reduce.destination(), changed, reduce.op()));
            }
        }
        if (reduce.op().kind() != ReduceOp.Kind.SUM) {
            tryTo(all, () -> new Command.Reduce(reduce.destination(), reduce.inputs(), ReduceOp.SUM));
        }
    }

    /** Fewer elements for all parts of a collective at once. */
    private boolean smallerCollective(int node) {
        if (!(smallest.nodes().get(node).command() instanceof Command.Collective first) || first.count() < 1) {
            return false;
        }
        int[] unit = smallest.unit(node);
        for (long count : sizes(first.count())) {
            GraphDraft other = smallest;
            try {
                for (int part = unit[0]; part < unit[1]; part++) {
                    GraphDraft.Node one = smallest.nodes().get(part);
                    Command.Collective command = (Command.Collective) one.command();
                    other = other.with(
                            part,
                            one.with(new Command.Collective(
                                    command.kind(),
                                    command.op(),
                                    command.rank(),
                                    command.ranks(),
                                    command.root(),
                                    scaled(command.send(), first.count(), count),
                                    scaled(command.receive(), first.count(), count),
                                    List.of(),
                                    List.of(),
                                    command.key())));
                }
            } catch (AcceleratorException unfit) {
                continue;
            }
            if (offer(other)) {
                return true;
            }
        }
        return false;
    }

    private static BufferView scaled(BufferView view, long before, long after) {
        return view == null ? null : head(view, view.elements() / before * after);
    }

    private static List<Long> sizes(long size) {
        List<Long> sizes = new ArrayList<>();
        for (long next : new long[] {1, size / 2, size - 1}) {
            if (next >= 1 && next < size && !sizes.contains(next)) {
                sizes.add(next);
            }
        }
        return sizes;
    }

    private static BufferView head(BufferView view, long count) {
        return BufferView.vector(view.memory(), view.offset(), count, view.type());
    }

    private static BufferView atStart(BufferView view) {
        return new BufferView(view.memory(), 0, view.rows(), view.columns(), view.pitch(), view.layout(), view.type());
    }

    private static List<BufferView> plainer(BufferView view) {
        List<BufferView> all = new ArrayList<>();
        long minor = view.layout() == MatrixLayout.ROW_MAJOR ? view.columns() : view.rows();
        if (view.pitch() > minor) {
            all.add(new BufferView(
                    view.memory(), view.offset(), view.rows(), view.columns(), minor, view.layout(), view.type()));
        }
        if (view.offset() > 0) {
            all.add(atStart(view));
        }
        return all;
    }

    /** Takes a change unless the command's own checks refuse it, or nothing has changed. */
    private static void tryTo(List<Command> all, java.util.function.Supplier<Command> change) {
        try {
            all.add(change.get());
        } catch (AcceleratorException unfit) {
            // Such a command cannot be.
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import static io.weft.conformance.mutants.Faults.changed;
import static io.weft.conformance.mutants.Faults.edited;

import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.MatrixLayout;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.util.List;

/** Mutants that strike wherever their fault can show, for the graph fuzzer to find. */
public final class FuzzMutants {
    private static final String FUZZ = "fuzz";

    private static final List<Mutant> ALL = List.of(
            changed(
                    FUZZ,
                    "copies by engine lose an odd last element",
                    command -> command instanceof Command.Copy copy
                            && copy.method() == CopyMethod.ENGINE
                            && copy.source().elements() % 2 == 1,
                    command -> {
                        Command.Copy copy = (Command.Copy) command;
                        long count = copy.source().elements() - 1;
                        return new Command.Copy(
                                BufferView.vector(
                                        copy.destination().memory(),
                                        copy.destination().offset(),
                                        count,
                                        copy.destination().type()),
                                BufferView.vector(
                                        copy.source().memory(),
                                        copy.source().offset(),
                                        count,
                                        copy.source().type()),
                                copy.method());
                    }),
            changed(
                    FUZZ,
                    "strided copies lose their last row",
                    command -> command instanceof Command.CopyStrided copy
                            && copy.source().rows() > 2
                            && copy.source().layout() == MatrixLayout.ROW_MAJOR,
                    command -> {
                        Command.CopyStrided copy = (Command.CopyStrided) command;
                        long rows = copy.source().rows() - 1;
                        return new Command.CopyStrided(
                                copy.destination().rowRange(0, rows),
                                copy.source().rowRange(0, rows),
                                copy.method());
                    }),
            changed(
                    FUZZ,
                    "beta counts as one",
                    command -> command instanceof Command.Gemm gemm && gemm.beta() == 2,
                    command -> factors((Command.Gemm) command, ((Command.Gemm) command).alpha(), 1)),
            changed(
                    FUZZ,
                    "negative alpha loses its sign",
                    command -> command instanceof Command.Gemm gemm && gemm.alpha() < 0,
                    command -> factors(
                            (Command.Gemm) command,
                            -((Command.Gemm) command).alpha(),
                            ((Command.Gemm) command).beta())),
            changed(
                    FUZZ,
                    "minima are maxima",
                    command -> command instanceof Command.Reduce reduce
                            && reduce.op().kind() == ReduceOp.Kind.MIN,
                    command -> new Command.Reduce(
                            ((Command.Reduce) command).destination(),
                            ((Command.Reduce) command).inputs(),
                            ReduceOp.MAX)),
            changed(
                    FUZZ,
                    "the fourth input of a reduction is left out",
                    command -> command instanceof Command.Reduce reduce
                            && reduce.inputs().size() == 4
                            && reduce.op().kind() == ReduceOp.Kind.SUM,
                    command -> new Command.Reduce(
                            ((Command.Reduce) command).destination(),
                            ((Command.Reduce) command).inputs().subList(0, 3),
                            ReduceOp.SUM)),
            edited(
                    FUZZ,
                    "products with a column-major A are off",
                    command -> command instanceof Command.Gemm gemm
                            && gemm.a().layout() == MatrixLayout.COLUMN_MAJOR
                            && gemm.k() > 1,
                    (command, before, after) -> {
                        int[] wrong = after.clone();
                        wrong[0] ^= 1 << (8 * command.writes().getFirst().type().bytes() - 2);
                        return wrong;
                    }),
            Mutant.of(FUZZ, "waits for events of other devices are forgotten", () -> new Mutation() {
                @Override
                void waitFor(StreamDriver stream, EventDriver event) {
                    if (event.device().properties().ordinal() == Faults.device(stream)) {
                        super.waitFor(stream, event);
                    }
                }
            }),
            Mutant.of(FUZZ, "gathers by streams lose the last rank's block", () -> new Mutation() {
                @Override
                void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                    super.enqueue(communicator, group);
                    for (CollectiveDriver.Part part : group) {
                        Command.Collective command = part.command();
                        if (command.kind() == CollectiveKind.ALL_GATHER && command.ranks() > 1 && command.count() > 0) {
                            part.stream().synchronize();
                            int[] bits = Faults.read(command.receive());
                            int block = bits.length / command.ranks();
                            System.arraycopy(bits, 0, bits, bits.length - block, block);
                            Faults.write(command.receive(), bits);
                        }
                    }
                }
            }),
            rewritten("dependencies between lanes of one device are dropped", new GraphMutants.Rewrite() {
                @Override
                boolean keeps(CommandGraph graph, int node, int dependency) {
                    return graph.device(node) != graph.device(dependency) || graph.lane(node) == graph.lane(dependency);
                }
            }),
            rewritten("dependencies between devices are dropped", new GraphMutants.Rewrite() {
                @Override
                boolean keeps(CommandGraph graph, int node, int dependency) {
                    return graph.device(node) == graph.device(dependency);
                }
            }),
            rewritten("lanes do not keep their order", new GraphMutants.Rewrite() {
                @Override
                int lane(CommandGraph graph, int node) {
                    return node;
                }
            }),
            rewritten("nodes of high priority do not wait", new GraphMutants.Rewrite() {
                @Override
                boolean keeps(CommandGraph graph, int node, int dependency) {
                    return graph.priority(node) != Priority.HIGH;
                }
            }));

    private FuzzMutants() {}

    /** All of them. */
    public static List<Mutant> all() {
        return ALL;
    }

    private static Mutant rewritten(String what, GraphMutants.Rewrite rewrite) {
        return Mutant.of(FUZZ, what, () -> new GraphMutants.Rewriting(rewrite));
    }

    private static Command factors(Command.Gemm gemm, float alpha, float beta) {
        return new Command.Gemm(
                gemm.c(),
                gemm.a(),
                gemm.b(),
                gemm.transposeA(),
                gemm.transposeB(),
                alpha,
                beta,
                gemm.batch(),
                gemm.strideC(),
                gemm.strideA(),
                gemm.strideB());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import static io.weft.conformance.mutants.Faults.changed;
import static io.weft.conformance.mutants.Faults.edited;
import static io.weft.conformance.mutants.Faults.followed;
import static io.weft.conformance.mutants.Faults.lastOff;
import static io.weft.conformance.mutants.Faults.refused;

import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.conformance.reference.Codec;
import io.weft.spi.Enqueue;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Mutants that break a rule about numbers: products and elementwise reductions. */
final class GemmMutants {
    static final List<Mutant> ALL = List.of(
            gemm(
                    "GEM-001",
                    "square operands are exchanged",
                    gemm -> sized(gemm, 64, 64, 64),
                    gemm -> with(gemm, gemm.c(), gemm.b(), gemm.a(), false, false, 1, 0)),
            gemm(
                    "GEM-002",
                    "fp16 products are one part in a hundred too large",
                    gemm -> sized(gemm, 24, 40, 56) && gemm.a().type() == ElementType.FP16,
                    gemm -> factors(gemm, 1.01f, 0)),
            edited(
                    "GEM-003",
                    "results of bf16 products pass through bf16",
                    gemm(gemm -> sized(gemm, 16, 32, 48)
                            && gemm.a().type() == ElementType.BF16
                            && gemm.c().type() == ElementType.FP32),
                    (command, before, after) -> {
                        int[] rounded = after.clone();
                        for (int i = 0; i < rounded.length; i++) {
                            rounded[i] &= 0xFFFF0000;
                        }
                        return rounded;
                    }),
            gemm(
                    "GEM-004",
                    "transposeA is forgotten where A is square",
                    gemm -> sized(gemm, 32, 32, 32) && gemm.transposeA() && !gemm.transposeB(),
                    gemm -> transposes(gemm, false, false)),
            gemm(
                    "GEM-005",
                    "transposeB is forgotten where B is square",
                    gemm -> sized(gemm, 32, 32, 32) && !gemm.transposeA() && gemm.transposeB(),
                    gemm -> transposes(gemm, false, false)),
            gemm(
                    "GEM-006",
                    "transposeB is forgotten where A is transposed too",
                    gemm -> sized(gemm, 32, 32, 32) && gemm.transposeA() && gemm.transposeB(),
                    gemm -> transposes(gemm, true, false)),
            gemm(
                    "GEM-007",
                    "column-major results are written by rows",
                    gemm -> gemm.c().layout() == MatrixLayout.COLUMN_MAJOR && gemm.m() == gemm.n(),
                    gemm -> with(
                            gemm,
                            new BufferView(
                                    gemm.c().memory(),
                                    gemm.c().offset(),
                                    gemm.c().rows(),
                                    gemm.c().columns(),
                                    gemm.c().pitch(),
                                    MatrixLayout.ROW_MAJOR,
                                    gemm.c().type()),
                            gemm.a(),
                            gemm.b(),
                            gemm.transposeA(),
                            gemm.transposeB(),
                            gemm.alpha(),
                            gemm.beta())),
            gemm(
                    "GEM-008",
                    "the pitch of B is forgotten",
                    gemm -> sized(gemm, 16, 24, 32)
                            && !gemm.transposeA()
                            && !gemm.transposeB()
                            && gemm.b().pitch() == 32,
                    gemm -> with(
                            gemm,
                            gemm.c(),
                            gemm.a(),
                            BufferView.matrix(
                                    gemm.b().memory(), 0, 32, 24, gemm.b().type()),
                            false,
                            false,
                            1,
                            0)),
            followed(
                    "GEM-009",
                    "products store whole tiles over the gaps of C",
                    gemm(gemm -> sized(gemm, 20, 20, 32) && gemm.c().pitch() > 20),
                    command -> {
                        BufferView c = ((Command.Gemm) command).c();
                        return new Command.Fill(
                                BufferView.pitched(c.memory(), 80, 19, c.pitch() - 20, c.pitch(), c.type()), 0);
                    }),
            gemm(
                    "GEM-010",
                    "fractions of alpha are cut off",
                    gemm -> sized(gemm, 16, 16, 32) && gemm.alpha() == 0.375f,
                    gemm -> factors(gemm, 0, gemm.beta())),
            gemm(
                    "GEM-011",
                    "beta counts as one",
                    gemm -> sized(gemm, 16, 16, 32) && gemm.alpha() == 1 && gemm.beta() == 2,
                    gemm -> factors(gemm, 1, 1)),
            edited(
                    "GEM-012",
                    "the old C is multiplied by beta 0",
                    gemm(gemm -> sized(gemm, 16, 16, 32) && gemm.beta() == 0),
                    (command, before, after) -> {
                        ElementType type = ((Command.Gemm) command).c().type();
                        int[] spoilt = after.clone();
                        for (int i = 0; i < spoilt.length; i++) {
                            double old = Codec.of(type).decode(before[i]);
                            spoilt[i] = Double.isFinite(old)
                                    ? spoilt[i]
                                    : Codec.of(type).encode(Double.NaN);
                        }
                        return spoilt;
                    }),
            gemm("GEM-013", "alpha 0 leaves C as it is", gemm -> gemm.alpha() == 0 && gemm.k() > 0, gemm -> null),
            gemm(
                    "GEM-014",
                    "an inner size of 0 leaves C as it is",
                    gemm -> gemm.k() == 0 && gemm.m() > 0,
                    gemm -> null),
            refused("GEM-015", "products of nothing are refused", gemm(gemm -> gemm.m() == 0 || gemm.n() == 0)),
            edited(
                    "GEM-016",
                    "the last row is lost when M is odd and larger than a tile",
                    gemm(gemm -> gemm.m() % 2 == 1 && gemm.m() > 16 && gemm.k() > 1),
                    (command, before, after) -> {
                        int columns = Math.toIntExact(((Command.Gemm) command).n());
                        int[] lost = after.clone();
                        System.arraycopy(before, before.length - columns, lost, lost.length - columns, columns);
                        return lost;
                    }),
            gemm(
                    "GEM-017",
                    "batches take A's entries without gaps",
                    gemm -> gemm.batch() > 1 && gemm.strideA() > gemm.m() * gemm.k(),
                    gemm -> batch(gemm, gemm.batch(), gemm.m() * gemm.k())),
            gemm(
                    "GEM-018",
                    "batches with a shared operand compute their first product only",
                    gemm -> gemm.batch() > 1 && gemm.strideB() == 0,
                    gemm -> batch(gemm, 1, gemm.strideA())),
            Mutant.of("GEM-019", "long sums are kept in C's type on the way", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (!(command instanceof Command.Gemm gemm) || gemm.k() != 1025) {
                        return super.enqueue(stream, command);
                    }
                    for (int k = 0; k < 1025; k += 8) {
                        int depth = Math.min(8, 1025 - k);
                        super.enqueue(
                                stream,
                                with(
                                        gemm,
                                        gemm.c(),
                                        gemm.a().columnRange(k, depth),
                                        gemm.b().rowRange(k, depth),
                                        false,
                                        false,
                                        1,
                                        k == 0 ? 0 : 1));
                    }
                    return Enqueue.ACCEPTED;
                }
            }),
            edited(
                    "GEM-020",
                    "fp32 products have eleven bits",
                    gemm(gemm -> sized(gemm, 16, 16, 1) && gemm.c().type() == ElementType.FP32),
                    (command, before, after) -> {
                        int[] cut = after.clone();
                        for (int i = 0; i < cut.length; i++) {
                            cut[i] &= ~0xFFF;
                        }
                        return cut;
                    }),
            edited(
                    "GEM-021",
                    "results are cut off instead of rounded",
                    gemm(gemm -> sized(gemm, 16, 2, 2)),
                    (command, before, after) -> {
                        // The sums are known to be positive; what was rounded up goes down by one pattern.
                        Command.Gemm gemm = (Command.Gemm) command;
                        int[] a = Faults.read(gemm.a());
                        int[] cut = after.clone();
                        Codec codec = Codec.of(gemm.c().type());
                        for (int i = 0; i < cut.length; i++) {
                            double exact = codec.decode(a[i / 2 * 2]) + codec.decode(a[i / 2 * 2 + 1]);
                            cut[i] -= Math.abs(codec.decode(cut[i])) > exact ? 1 : 0;
                        }
                        return cut;
                    }),
            edited(
                    "GEM-022",
                    "NaNs are taken for zeros",
                    gemm(gemm -> sized(gemm, 8, 8, 16)),
                    (command, before, after) -> {
                        int[] clean = after.clone();
                        for (int i = 0; i < clean.length; i++) {
                            clean[i] = Double.isNaN(Codec.of(
                                                    ((Command.Gemm) command).c().type())
                                            .decode(clean[i]))
                                    ? 0
                                    : clean[i];
                        }
                        return clean;
                    }),
            edited(
                    "GEM-023",
                    "int8 products are off by a little",
                    gemm(gemm -> gemm.c().type() == ElementType.INT32 && gemm.k() == 300),
                    (command, before, after) -> lastOff(after)),
            followed(
                    "GEM-024",
                    "products clear the first element of A",
                    gemm(gemm -> sized(gemm, 32, 16, 24)),
                    command -> new Command.Fill(((Command.Gemm) command).a().window(0, 1, 0, 1), 0)),
            Mutant.of("GEM-025", "equal products differ in their last bit", () -> new Mutation() {
                private int count;

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    Enqueue result = super.enqueue(stream, command);
                    if (command instanceof Command.Gemm gemm && sized(gemm, 32, 32, 96)) {
                        stream.synchronize();
                        int[] bits = Faults.read(gemm.c());
                        bits[0] ^= count++ & 1;
                        Faults.write(gemm.c(), bits);
                    }
                    return result;
                }
            }),
            Mutant.of("GEM-027", "the second of several products into one C is lost", () -> new Mutation() {
                private int count;

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    boolean counts = command instanceof Command.Gemm gemm && sized(gemm, 16, 16, 8) && gemm.beta() == 1;
                    return counts && ++count == 2 ? Enqueue.ACCEPTED : super.enqueue(stream, command);
                }
            }),
            gemm(
                    "GEM-028",
                    "fp8-fnuz operands are read as fp8",
                    gemm -> sized(gemm, 16, 16, 16) && gemm.a().type() == ElementType.FP8_E4M3_FNUZ,
                    gemm -> with(
                            gemm,
                            gemm.c(),
                            typed(gemm.a(), ElementType.FP8_E4M3),
                            typed(gemm.b(), ElementType.FP8_E4M3),
                            false,
                            false,
                            1,
                            0)),
            chained("GEM-030", "bf16 sums are rounded at every step", ReduceOp.SUM, ElementType.BF16),
            chained("GEM-031", "fp16 products are rounded at every step", ReduceOp.PROD, ElementType.FP16),
            recomputed(
                    "GEM-032",
                    "int8 maxima are compared without sign",
                    reduce -> reduce.op().kind() == ReduceOp.Kind.MAX && type(reduce) == ElementType.INT8,
                    (values, op) -> {
                        double most = values[0];
                        for (double value : values) {
                            most = ((int) value & 0xFF) > ((int) most & 0xFF) ? value : most;
                        }
                        return most;
                    }),
            recomputed(
                    "GEM-033",
                    "a NaN among the inputs of a minimum is dropped",
                    reduce -> reduce.op().kind() == ReduceOp.Kind.MIN && elements(reduce) == 8,
                    (values, op) -> {
                        double least = Double.POSITIVE_INFINITY;
                        for (double value : values) {
                            least = Double.isNaN(value) ? least : Math.min(least, value);
                        }
                        return least;
                    }),
            recomputed(
                    "GEM-034",
                    "floating averages divide the sum",
                    reduce -> reduce.op().kind() == ReduceOp.Kind.AVG
                            && type(reduce).isFloating(),
                    (values, op) -> sum(values) / values.length),
            recomputed(
                    "GEM-035",
                    "integer averages are rounded down",
                    reduce -> reduce.op().kind() == ReduceOp.Kind.AVG
                            && !type(reduce).isFloating(),
                    (values, op) -> Math.floor(sum(values) / values.length)),
            recomputed(
                    "GEM-036",
                    "scaled sums are scaled at the end",
                    reduce -> reduce.op().kind() == ReduceOp.Kind.SCALED_SUM
                            && type(reduce).isFloating(),
                    (values, op) -> sum(values) * op.scale()),
            recomputed(
                    "GEM-037",
                    "int8 sums saturate",
                    reduce -> reduce.op().kind() == ReduceOp.Kind.SUM
                            && type(reduce) == ElementType.INT8
                            && reduce.inputs().size() == 3,
                    (values, op) -> sum(values)),
            Mutant.of("GEM-038", "the destination is cleared first", () -> new Mutation() {
                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    if (command instanceof Command.Reduce reduce
                            && reduce.inputs().size() == 3
                            && reduce.inputs().get(2).equals(reduce.destination())) {
                        super.enqueue(stream, new Command.Fill(reduce.destination(), 0));
                    }
                    return super.enqueue(stream, command);
                }
            }),
            recomputed(
                    "GEM-039",
                    "fp32 inputs are rounded before the sum",
                    reduce -> type(reduce) == ElementType.FP32
                            && reduce.destination().type() == ElementType.BF16,
                    (values, op) -> {
                        double sum = 0;
                        Codec codec = Codec.of(ElementType.BF16);
                        for (double value : values) {
                            sum += codec.decode(codec.encode(value));
                        }
                        return sum;
                    }),
            changed(
                    "GEM-040",
                    "all inputs of a reduction are read with the pitch of the first",
                    command -> command instanceof Command.Reduce reduce
                            && reduce.inputs().size() == 3
                            && reduce.inputs().get(1).pitch() == 17,
                    command -> {
                        Command.Reduce reduce = (Command.Reduce) command;
                        List<BufferView> inputs = new ArrayList<>();
                        for (BufferView input : reduce.inputs()) {
                            inputs.add(BufferView.matrix(
                                    input.memory(), input.offset(), input.rows(), input.columns(), input.type()));
                        }
                        return new Command.Reduce(reduce.destination(), inputs, reduce.op());
                    }),
            changed(
                    "GEM-041",
                    "the ninth input and those behind it are left out",
                    command -> command instanceof Command.Reduce reduce
                            && reduce.inputs().size() > 8,
                    command -> {
                        Command.Reduce reduce = (Command.Reduce) command;
                        return new Command.Reduce(
                                reduce.destination(), reduce.inputs().subList(0, 8), reduce.op());
                    }),
            edited(
                    "GEM-042",
                    "the last of many odd elements is lost",
                    command -> command instanceof Command.Reduce reduce && elements(reduce) == 2049,
                    (command, before, after) -> {
                        int[] lost = after.clone();
                        lost[lost.length - 1] = before[before.length - 1];
                        return lost;
                    }));

    private GemmMutants() {}

    @FunctionalInterface
    private interface Recompute {
        double of(double[] values, ReduceOp op);
    }

    private static Mutant gemm(
            String rule, String what, Predicate<Command.Gemm> which, UnaryOperator<Command.Gemm> change) {
        return changed(rule, what, gemm(which), command -> change.apply((Command.Gemm) command));
    }

    private static Predicate<Command> gemm(Predicate<Command.Gemm> which) {
        return command -> command instanceof Command.Gemm gemm && which.test(gemm);
    }

    private static boolean sized(Command.Gemm gemm, long m, long n, long k) {
        return gemm.m() == m && gemm.n() == n && gemm.k() == k && gemm.batch() == 1;
    }

    private static Command.Gemm with(
            Command.Gemm gemm,
            BufferView c,
            BufferView a,
            BufferView b,
            boolean transposeA,
            boolean transposeB,
            float alpha,
            float beta) {
        return new Command.Gemm(
                c,
                a,
                b,
                transposeA,
                transposeB,
                alpha,
                beta,
                gemm.batch(),
                gemm.strideC(),
                gemm.strideA(),
                gemm.strideB());
    }

    private static Command.Gemm factors(Command.Gemm gemm, float alpha, float beta) {
        return with(gemm, gemm.c(), gemm.a(), gemm.b(), gemm.transposeA(), gemm.transposeB(), alpha, beta);
    }

    private static Command.Gemm transposes(Command.Gemm gemm, boolean a, boolean b) {
        return with(gemm, gemm.c(), gemm.a(), gemm.b(), a, b, gemm.alpha(), gemm.beta());
    }

    private static Command.Gemm batch(Command.Gemm gemm, int batch, long strideA) {
        return new Command.Gemm(
                gemm.c(),
                gemm.a(),
                gemm.b(),
                gemm.transposeA(),
                gemm.transposeB(),
                gemm.alpha(),
                gemm.beta(),
                batch,
                gemm.strideC(),
                strideA,
                gemm.strideB());
    }

    private static BufferView typed(BufferView view, ElementType type) {
        return new BufferView(
                view.memory(), view.offset(), view.rows(), view.columns(), view.pitch(), view.layout(), type);
    }

    private static ElementType type(Command.Reduce reduce) {
        return reduce.inputs().getFirst().type();
    }

    private static long elements(Command.Reduce reduce) {
        return reduce.destination().elements();
    }

    private static double sum(double[] values) {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        return sum;
    }

    /** A reduction of four inputs, one after the other into the destination. */
    private static Mutant chained(String rule, String what, ReduceOp op, ElementType type) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Enqueue enqueue(StreamDriver stream, Command command) {
                if (!(command instanceof Command.Reduce reduce)
                        || !reduce.op().equals(op)
                        || type(reduce) != type
                        || reduce.inputs().size() != 4) {
                    return super.enqueue(stream, command);
                }
                BufferView to = reduce.destination();
                super.enqueue(stream, new Command.Reduce(to, reduce.inputs().subList(0, 2), op));
                super.enqueue(
                        stream,
                        new Command.Reduce(to, List.of(to, reduce.inputs().get(2)), op));
                return super.enqueue(
                        stream,
                        new Command.Reduce(to, List.of(to, reduce.inputs().get(3)), op));
            }
        });
    }

    /** Reductions whose elements are worked out in another way. */
    private static Mutant recomputed(String rule, String what, Predicate<Command.Reduce> which, Recompute how) {
        return edited(
                rule,
                what,
                command -> command instanceof Command.Reduce reduce && which.test(reduce),
                (command, before, after) -> {
                    Command.Reduce reduce = (Command.Reduce) command;
                    List<int[]> inputs =
                            reduce.inputs().stream().map(Faults::read).toList();
                    int[] result = after.clone();
                    double[] values = new double[inputs.size()];
                    for (int i = 0; i < result.length; i++) {
                        for (int n = 0; n < values.length; n++) {
                            values[n] = Codec.of(type(reduce)).decode(inputs.get(n)[i]);
                        }
                        result[i] = Codec.of(reduce.destination().type()).encode(how.of(values, reduce.op()));
                    }
                    return result;
                });
    }
}

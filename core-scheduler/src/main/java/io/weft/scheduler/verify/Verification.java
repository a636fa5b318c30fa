// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler.verify;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.ElementType;
import io.weft.api.Figures;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.Poison;
import io.weft.api.numeric.RandomData;
import io.weft.api.numeric.Ulp;
import io.weft.scheduler.LoweredSchedule;
import io.weft.scheduler.Lowering;
import io.weft.scheduler.OverlapEngine;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.OverlapRun;
import io.weft.scheduler.Schedule;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks schedules of one problem on random data.
 *
 * <p>Results and workspace are poisoned before every run, so that what nobody wrote, or what was read too early, shows. Then every element is compared twice.
 *
 * <p><b>With an independent reference</b> in double precision. An element is right when it is within {@link #MAX_ULP} of the reference rounded to the result's type, or of the interval around it that rounding explains: fp32 sums of K
 * terms may be off by {@code (2K + 3) 2^-24} of the sum of their absolute values in any order (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2), which covers K cut into slabs as well; and where n partial products
 * are summed, each was rounded once, {@code 2^-(p+1)} of its size with p mantissa bits, and the sum takes n more fp32 roundings. {@link VerificationResult#maxUlp()} counts beyond that interval, so sums that cancel do not look
 * worse than they are.
 *
 * <p><b>With the serial schedule</b>, bit by bit. On a model, whose GEMMs sum along K and whose collectives sum over ranks in one order, schedules which promise the serial bits ({@link Schedule#keepsBits}) are wrong when one
 * differs. Real libraries may choose another order for another size; there the outcome is only told.
 *
 * <p>Needs a platform whose buffers hold data. Not for several threads at once; closing it frees its buffers.
 */
public final class Verification implements AutoCloseable {
    /** The final rounding: the exact sum may lie on the other side of a tie. */
    public static final long MAX_ULP = 1;

    private final OverlapEngine engine;
    private final OverlapProblem problem;
    private final ElementType resultType;
    private final boolean exactOrder;
    private final List<Buffer> buffers = new ArrayList<>();
    private final List<BufferView> operands = new ArrayList<>();
    private final List<BufferView> weights = new ArrayList<>();
    private final List<BufferView> results = new ArrayList<>();
    private final ExpectedResult[] expected;
    private byte[][] serial;

    /** Where the buffers of operands and results come from. */
    @FunctionalInterface
    public interface Allocation {
        /** A buffer of a rank's device, of 1 byte or more. */
        Buffer allocate(int rank, long bytes);
    }

    private Verification(OverlapEngine engine, OverlapProblem problem, long seed, Allocation allocation) {
        this.engine = engine;
        this.problem = problem;
        this.resultType = problem.outputType();
        this.exactOrder = engine.communicator().platform().figures() == Figures.MODEL;
        LoweredSchedule shape = Lowering.lower(problem, Schedule.serial());
        List<MemorySegment> a = new ArrayList<>();
        List<MemorySegment> b = new ArrayList<>();
        try {
            ElementType type = problem.elementType();
            for (int rank = 0; rank < problem.ranks(); rank++) {
                long operandBytes = shape.operands().get(rank).bytes();
                long resultBytes = shape.results().get(rank).bytes();
                operands.add(view(allocate(allocation, rank, operandBytes), operandBytes, problem.k(), type));
                weights.add(view(
                        allocate(allocation, rank, shape.weights().get(rank).bytes()),
                        shape.weights().get(rank).bytes(),
                        problem.n(),
                        type));
                results.add(view(allocate(allocation, rank, resultBytes), resultBytes, problem.n(), resultType));
                a.add(random(operands.get(rank), seed, 2L * rank));
                b.add(random(weights.get(rank), seed, 2L * rank + 1));
            }
            expected = ExpectedResult.of(problem, a, b);
        } catch (RuntimeException | Error failure) {
            close();
            throw failure;
        }
    }

    /**
     * Makes data and the reference.
     *
     * @throws io.weft.api.AcceleratorException UNSUPPORTED when the platform's buffers hold no data, or for several groups; OUT_OF_MEMORY
     */
    public static Verification prepare(OverlapEngine engine, OverlapProblem problem, long seed) {
        return prepare(
                engine,
                problem,
                seed,
                (rank, bytes) -> engine.communicator().device(rank).allocate(bytes));
    }

    /** As above, in buffers from elsewhere, which are closed with it. */
    public static Verification prepare(OverlapEngine engine, OverlapProblem problem, long seed, Allocation allocation) {
        engine.communicator().platform().require(Capability.STORAGE, "verify");
        if (problem.inPlace()) {
            throw AcceleratorException.invalid(
                    "verify", "in place the operands change with every run; time and check it with OverlapTimer");
        }
        return new Verification(engine, problem, seed, allocation);
    }

    /** Runs a schedule and checks it. */
    public VerificationResult check(Schedule schedule) {
        return check(Lowering.lower(problem, schedule));
    }

    /** Runs a lowered schedule of this problem, which may have been changed on purpose, and checks it. */
    public VerificationResult check(LoweredSchedule lowered) {
        if (serial == null) {
            LoweredSchedule plain = Lowering.lower(problem, Schedule.serial());
            execute(plain);
            serial = read();
        }
        OverlapRun run = execute(lowered);
        return compare(lowered.schedule(), read(), run);
    }

    private OverlapRun execute(LoweredSchedule lowered) {
        engine.poisonWorkspace(lowered, poison());
        for (BufferView result : results) {
            if (!result.isEmpty()) {
                byte[] bytes = new byte[Math.toIntExact(result.bytes())];
                MemorySegment host = MemorySegment.ofArray(bytes);
                Poison.fill(host, 0, resultType, result.elements());
                ((Buffer) result.memory()).write(0, host);
            }
        }
        OverlapRun run = engine.run(lowered, operands, weights, results);
        run.synchronize();
        return run;
    }

    /** A byte that makes NaNs of the problem's types, or large values where a type has none of one byte. */
    private int poison() {
        return switch (problem.elementType()) {
            case FP8_E4M3_FNUZ, FP8_E5M2_FNUZ -> 0x80;
            case INT8, INT32 -> 0x55;
            default -> 0xFF;
        };
    }

    private VerificationResult compare(Schedule schedule, byte[][] found, OverlapRun run) {
        long worst = 0;
        boolean identical = true;
        VerificationResult.Difference wrong = null;
        VerificationResult.Difference differing = null;
        for (int rank = 0; rank < found.length; rank++) {
            MemorySegment actual = MemorySegment.ofArray(found[rank]);
            MemorySegment reference = MemorySegment.ofArray(serial[rank]);
            ExpectedResult wanted = expected[rank];
            for (int i = 0; i < wanted.values.length; i++) {
                long at = (long) i * resultType.bytes();
                int bits = Elements.bits(actual, at, resultType);
                int serialBits = Elements.bits(reference, at, resultType);
                long ulps = distance(wanted, i, bits);
                worst = Math.max(worst, ulps);
                if (ulps > MAX_ULP && wrong == null) {
                    wrong = difference(rank, i, wanted.columns, wanted.values[i], bits);
                }
                if (bits != serialBits) {
                    identical = false;
                    if (differing == null) {
                        differing = difference(rank, i, wanted.columns, Elements.value(resultType, serialBits), bits);
                    }
                }
            }
        }
        if (wrong == null && exactOrder && schedule.keepsBits(problem.pattern())) {
            wrong = differing;
        }
        return new VerificationResult(schedule, wrong == null, worst, identical, Optional.ofNullable(wrong), run);
    }

    private VerificationResult.Difference difference(int rank, int index, int columns, double wanted, int bits) {
        return new VerificationResult.Difference(
                rank, index / columns, index % columns, wanted, Elements.value(resultType, bits));
    }

    /** Units in the last place beyond the interval that rounding explains. */
    private long distance(ExpectedResult wanted, int index, int bits) {
        long plain = Ulp.distance(resultType, wanted.nearest(resultType, index, 0), bits);
        if (plain <= MAX_ULP || plain == Ulp.INCOMPARABLE) {
            return plain;
        }
        int low = wanted.nearest(resultType, index, -1);
        int high = wanted.nearest(resultType, index, 1);
        double value = Elements.value(resultType, bits);
        if (value >= Elements.value(resultType, low) && value <= Elements.value(resultType, high)) {
            return 0;
        }
        return Math.min(Ulp.distance(resultType, low, bits), Ulp.distance(resultType, high, bits));
    }

    private Buffer allocate(Allocation allocation, int rank, long bytes) {
        Buffer buffer = allocation.allocate(rank, Math.max(1, bytes));
        buffers.add(buffer);
        return buffer;
    }

    private static BufferView view(Buffer buffer, long bytes, long columns, ElementType type) {
        return buffer.matrix(bytes / type.bytes() / columns, columns, type);
    }

    private static MemorySegment random(BufferView view, long seed, long stream) {
        MemorySegment host = MemorySegment.ofArray(new byte[Math.toIntExact(view.bytes())]);
        RandomData.fill(host, view.type(), seed, stream);
        if (!view.isEmpty()) {
            ((Buffer) view.memory()).write(0, host);
        }
        return host;
    }

    private byte[][] read() {
        byte[][] all = new byte[results.size()][];
        for (int rank = 0; rank < all.length; rank++) {
            BufferView result = results.get(rank);
            all[rank] = new byte[Math.toIntExact(result.bytes())];
            if (!result.isEmpty()) {
                ((Buffer) result.memory()).read(MemorySegment.ofArray(all[rank]), 0);
            }
        }
        return all;
    }

    @Override
    public void close() {
        buffers.forEach(buffer -> {
            if (!buffer.isClosed()) {
                buffer.close();
            }
        });
    }
}

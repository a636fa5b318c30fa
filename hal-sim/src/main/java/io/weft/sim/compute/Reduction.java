// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Elementwise reduction of N inputs on host memory, in parallel.
 *
 * <p><b>The numbers are a contract.</b> For each element the inputs are taken in their order, 0 to N-1:
 *
 * <ul>
 *   <li>Floating types: {@code acc = x[0]}, then {@code acc = acc op x[i]} in fp32, then ONE rounding to the output's type. MIN and MAX
 *       are exact, NaN wins, and -0 is less than +0. A NaN is written as {@code type.encode(Float.NaN)}.
 *   <li>AVG on floating types: each input is multiplied by 1/N, which is first rounded to the INPUT's type; the product is rounded to
 *       fp32 and summed in fp32. So for N that is not a power of two it is not the sum divided by N, as in the collective libraries.
 *   <li>SCALED_SUM: the same with the given factors, each rounded to the input's type.
 *   <li>Integers: arithmetic wraps to the type after every step, int8 as the hardware does. AVG is the wrapped sum, then division
 *       by N toward zero. Factors of SCALED_SUM must be whole numbers.
 * </ul>
 *
 * Threads and vector width do not show in the result. The output may be one of the inputs (same address, type and pitch); any other
 * overlap is undefined. Thread-safe; allocates nothing once warm except the hand-over to the pool.
 */
public final class Reduction {
    /** Elements that one step keeps in L1: three fp32 runs of 8 KiB. */
    private static final int RUN = 2048;

    /** Input bytes that are worth a task of their own. */
    private static final long TASK_BYTES = 256 << 10;

    private final ComputePool pool;
    private final Lanes lanes;
    private final ConcurrentLinkedDeque<Scratch> idle = new ConcurrentLinkedDeque<>();

    private static final class Scratch {
        private final float[] sum = new float[RUN];
        private final float[] next = new float[RUN];
        private final int[] whole = new int[RUN];
        private final int[] nextWhole = new int[RUN];
        private final byte[] bytes = new byte[RUN];
    }

    /** Reduces on a pool, with the fastest inner loops that this JVM has. */
    public Reduction(ComputePool pool) {
        this(pool, Lanes.fastest());
    }

    Reduction(ComputePool pool, Lanes lanes) {
        this.pool = pool;
        this.lanes = lanes;
    }

    /**
     * Reduces contiguous vectors of one type and returns when the output is written.
     *
     * @param inputs at least one; element 0 is at the start of each
     * @param count elements
     */
    public void reduce(ReduceOp op, ElementType type, MemorySegment[] inputs, MemorySegment output, long count) {
        reduce(op, null, type, inputs, null, type, output, count, 1, count);
    }

    /**
     * Reduces row-major matrices and returns when the output is written.
     *
     * @param scales one factor per input for SCALED_SUM, or null for {@code op.scale()} on all; ignored by other kinds
     * @param type of the inputs
     * @param inputs at least one; element (0, 0) is at the start of each
     * @param pitches for each input, elements from one row to the next; null if all rows are contiguous
     * @param outputType the inputs' type, or any floating type if they are fp32
     * @param outputPitch elements from one row of the output to the next
     * @throws IllegalArgumentException if the arguments do not fit each other
     */
    public void reduce(
            ReduceOp op,
            float[] scales,
            ElementType type,
            MemorySegment[] inputs,
            long[] pitches,
            ElementType outputType,
            MemorySegment output,
            long outputPitch,
            long rows,
            long columns) {
        check(op, scales, type, inputs, pitches, outputType);
        if (rows == 0 || columns == 0) {
            return;
        }
        boolean dense = rows == 1 || outputPitch == columns;
        for (int i = 0; dense && rows > 1 && pitches != null && i < pitches.length; i++) {
            dense = pitches[i] == columns;
        }
        long lines = dense ? 1 : rows;
        long width = dense ? rows * columns : columns;
        int[] factors = type.isFloating() ? null : wholeFactors(op, scales, inputs.length);
        float[] floatFactors = type.isFloating() ? floatFactors(op, scales, type, inputs.length) : null;
        // A task is some rows, or a part of one row where rows are long.
        long rowBytes = width * type.bytes() * inputs.length;
        long parts = Math.max(1, Math.min(rowBytes / TASK_BYTES, (width + RUN - 1) / RUN));
        long part = ((width + parts - 1) / parts + RUN - 1) / RUN * RUN;
        long partCount = (width + part - 1) / part;
        long group = partCount > 1 ? 1 : Math.clamp(TASK_BYTES / Math.max(1, rowBytes), 1, lines);
        long groups = (lines + group - 1) / group;
        int tasks = Math.toIntExact(groups * partCount);
        pool.run(tasks, (task, lane) -> {
            Scratch scratch = take();
            long firstLine = task / partCount * group;
            long from = task % partCount * part;
            long to = Math.min(width, from + part);
            for (long line = firstLine; line < Math.min(lines, firstLine + group); line++) {
                for (long at = from; at < to; at += RUN) {
                    int size = (int) Math.min(RUN, to - at);
                    long target = (line * outputPitch + at) * outputType.bytes();
                    if (floatFactors != null || type.isFloating()) {
                        floats(op.kind(), floatFactors, type, inputs, pitches, columns, line, at, size, scratch);
                        lanes.encode(outputType, scratch.sum, 0, output, target, size);
                    } else {
                        integers(op.kind(), factors, type, inputs, pitches, columns, line, at, size, scratch);
                        store(type, scratch.whole, output, target, size, scratch.bytes);
                    }
                }
            }
            idle.push(scratch);
        });
    }

    private static void check(
            ReduceOp op,
            float[] scales,
            ElementType type,
            MemorySegment[] inputs,
            long[] pitches,
            ElementType outputType) {
        if (inputs.length == 0) {
            throw new IllegalArgumentException("a reduction needs at least one input");
        }
        if (pitches != null && pitches.length != inputs.length) {
            throw new IllegalArgumentException(pitches.length + " pitches for " + inputs.length + " inputs");
        }
        if (op.kind() == ReduceOp.Kind.SCALED_SUM && scales != null && scales.length != inputs.length) {
            throw new IllegalArgumentException(scales.length + " factors for " + inputs.length + " inputs");
        }
        if (outputType != type && !(type == ElementType.FP32 && outputType.isFloating())) {
            throw new IllegalArgumentException("a reduction of " + type + " cannot write " + outputType
                    + "; only fp32 may be rounded to another floating type");
        }
    }

    private static float[] floatFactors(ReduceOp op, float[] scales, ElementType type, int count) {
        if (op.kind() != ReduceOp.Kind.AVG && op.kind() != ReduceOp.Kind.SCALED_SUM) {
            return null;
        }
        float[] factors = new float[count];
        for (int i = 0; i < count; i++) {
            float factor = op.kind() == ReduceOp.Kind.AVG ? 1f / count : scales == null ? op.scale() : scales[i];
            factors[i] = type.decode(type.encode(factor));
        }
        return factors;
    }

    private static int[] wholeFactors(ReduceOp op, float[] scales, int count) {
        if (op.kind() != ReduceOp.Kind.SCALED_SUM) {
            return null;
        }
        int[] factors = new int[count];
        for (int i = 0; i < count; i++) {
            float factor = scales == null ? op.scale() : scales[i];
            factors[i] = (int) factor;
            if (factors[i] != factor) {
                throw new IllegalArgumentException("factor " + factor + " must be a whole number for an integer type");
            }
        }
        return factors;
    }

    private Scratch take() {
        Scratch scratch = idle.poll();
        return scratch != null ? scratch : new Scratch();
    }

    private void floats(
            ReduceOp.Kind op,
            float[] factors,
            ElementType type,
            MemorySegment[] inputs,
            long[] pitches,
            long columns,
            long line,
            long at,
            int size,
            Scratch scratch) {
        float[] sum = scratch.sum;
        for (int i = 0; i < inputs.length; i++) {
            long offset = (line * (pitches == null ? columns : pitches[i]) + at) * type.bytes();
            if (i == 0) {
                lanes.decode(type, inputs[0], offset, sum, 0, size);
                if (factors != null) {
                    Lanes.scale(factors[0], sum, size);
                }
            } else if (factors != null) {
                lanes.addScaled(factors[i], type, inputs[i], offset, sum, size, scratch.next);
            } else {
                lanes.combine(op, type, inputs[i], offset, sum, size, scratch.next);
            }
        }
    }

    private static void integers(
            ReduceOp.Kind op,
            int[] factors,
            ElementType type,
            MemorySegment[] inputs,
            long[] pitches,
            long columns,
            long line,
            long at,
            int size,
            Scratch scratch) {
        int[] result = scratch.whole;
        for (int i = 0; i < inputs.length; i++) {
            long offset = (line * (pitches == null ? columns : pitches[i]) + at) * type.bytes();
            int[] x = i == 0 ? result : scratch.nextWhole;
            load(type, inputs[i], offset, x, size, scratch.bytes);
            if (factors != null) {
                for (int j = 0; j < size; j++) {
                    x[j] *= factors[i];
                }
            }
            if (i > 0) {
                combine(op, result, x, size);
            }
        }
        if (op == ReduceOp.Kind.AVG) {
            for (int j = 0; j < size; j++) {
                int sum = type == ElementType.INT8 ? (byte) result[j] : result[j];
                result[j] = sum / inputs.length;
            }
        }
    }

    private static void combine(ReduceOp.Kind op, int[] into, int[] x, int count) {
        switch (op) {
            case SUM, AVG, SCALED_SUM -> {
                for (int i = 0; i < count; i++) {
                    into[i] += x[i];
                }
            }
            case PROD -> {
                for (int i = 0; i < count; i++) {
                    into[i] *= x[i];
                }
            }
            case MIN -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Math.min(into[i], x[i]);
                }
            }
            case MAX -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Math.max(into[i], x[i]);
                }
            }
        }
    }

    // Bytes go through an array: the JIT vectorises widening from an array, not from a segment.
    private static void load(ElementType type, MemorySegment memory, long offset, int[] to, int count, byte[] bytes) {
        if (type == ElementType.INT32) {
            MemorySegment.copy(memory, ValueLayout.JAVA_INT_UNALIGNED, offset, to, 0, count);
        } else {
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset, bytes, 0, count);
            widen(bytes, to, count);
        }
    }

    private static void widen(byte[] from, int[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i];
        }
    }

    private static void store(
            ElementType type, int[] from, MemorySegment memory, long offset, int count, byte[] bytes) {
        if (type == ElementType.INT32) {
            MemorySegment.copy(from, 0, memory, ValueLayout.JAVA_INT_UNALIGNED, offset, count);
        } else {
            narrow(from, bytes, count);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, offset, count);
        }
    }

    private static void narrow(int[] from, byte[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = (byte) from[i];
        }
    }
}

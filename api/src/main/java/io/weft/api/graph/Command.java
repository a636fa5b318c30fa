// SPDX-License-Identifier: Apache-2.0
package io.weft.api.graph;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Memory;
import io.weft.api.ReduceOp;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * One piece of device work: what a stream accepts and what a graph's node holds. Construction checks everything that the operands alone can tell
 * (shapes, types, pitches), so a plugin may rely on it.
 */
public sealed interface Command {
    /** The same command on other memories. */
    Command rebind(UnaryOperator<Memory> binding);

    /** Every view that it reads, in order. */
    List<BufferView> reads();

    /** Every view that it writes, in order. */
    List<BufferView> writes();

    private static BufferView rebind(BufferView view, UnaryOperator<Memory> binding) {
        return view == null ? null : view.on(binding.apply(view.memory()));
    }

    private static void sameBytes(String operation, BufferView destination, BufferView source) {
        if (destination.type() != source.type()) {
            refuseShape(operation, destination, source);
        }
        sameShape(operation, destination, source);
    }

    private static void sameShape(String operation, BufferView destination, BufferView source) {
        if (destination.rows() != source.rows()
                || destination.columns() != source.columns()
                || destination.layout() != source.layout()) {
            refuseShape(operation, destination, source);
        }
    }

    private static void refuseShape(String operation, BufferView destination, BufferView source) {
        throw AcceleratorException.invalid(
                operation,
                "source [" + source.rows() + ", " + source.columns() + "] " + source.type() + " and destination ["
                        + destination.rows() + ", " + destination.columns() + "] " + destination.type()
                        + " must have the same shape, layout and type");
    }

    /**
     * Copies a contiguous range. The views may differ in shape but not in type and number of elements; neither has gaps. The ranges must not overlap.
     *
     * @param destination where to
     * @param source where from, on the same or a reachable device or pinned host memory
     * @param method what carries it out
     */
    record Copy(BufferView destination, BufferView source, CopyMethod method) implements Command {
        public Copy {
            Objects.requireNonNull(method);
            if (destination.type() != source.type() || destination.elements() != source.elements()) {
                throw AcceleratorException.invalid(
                        "copy",
                        source.elements() + " " + source.type() + " cannot be copied to " + destination.elements() + " "
                                + destination.type() + ": number and type must be equal");
            }
            if (!destination.isContiguous() || !source.isContiguous()) {
                throw AcceleratorException.invalid("copy", "a view with gaps between rows needs a strided copy");
            }
            if (destination.memory().equals(source.memory())
                    && !destination.isEmpty()
                    && destination.offset() < source.end()
                    && source.offset() < destination.end()) {
                throw AcceleratorException.invalid("copy", "source and destination overlap");
            }
        }

        @Override
        public Copy rebind(UnaryOperator<Memory> binding) {
            return new Copy(Command.rebind(destination, binding), Command.rebind(source, binding), method);
        }

        @Override
        public List<BufferView> reads() {
            return List.of(source);
        }

        @Override
        public List<BufferView> writes() {
            return List.of(destination);
        }
    }

    /**
     * Copies a rectangle between views of the same shape, layout and type whose pitches may differ.
     *
     * @param destination where to
     * @param source where from
     * @param method what carries it out
     */
    record CopyStrided(BufferView destination, BufferView source, CopyMethod method) implements Command {
        public CopyStrided {
            Objects.requireNonNull(method);
            sameBytes("strided copy", destination, source);
        }

        @Override
        public CopyStrided rebind(UnaryOperator<Memory> binding) {
            return new CopyStrided(Command.rebind(destination, binding), Command.rebind(source, binding), method);
        }

        @Override
        public List<BufferView> reads() {
            return List.of(source);
        }

        @Override
        public List<BufferView> writes() {
            return List.of(destination);
        }
    }

    /**
     * Sets every element of a view.
     *
     * @param destination what to set; gaps are left alone
     * @param bits the element's bit pattern, in its low bytes
     */
    record Fill(BufferView destination, int bits) implements Command {
        public Fill {
            Objects.requireNonNull(destination);
        }

        @Override
        public Fill rebind(UnaryOperator<Memory> binding) {
            return new Fill(Command.rebind(destination, binding), bits);
        }

        @Override
        public List<BufferView> reads() {
            return List.of();
        }

        @Override
        public List<BufferView> writes() {
            return List.of(destination);
        }
    }

    /**
     * {@code C = alpha * op(A) * op(B) + beta * C}, {@code batch} times at fixed strides.
     *
     * <p>{@code op(A)} is [M, K], {@code op(B)} is [K, N], {@code C} is [M, N]. A and B have one element type; products are accumulated in fp32 (int32 for
     * int8) and rounded once to C's type. With beta 0, C is not read, so a NaN there does no harm. C must not overlap A or B.
     *
     * @param c result
     * @param a left operand, [M, K], or [K, M] when transposed
     * @param b right operand, [K, N], or [N, K] when transposed
     * @param transposeA whether op(A) is A transposed
     * @param transposeB whether op(B) is B transposed
     * @param alpha factor of the product
     * @param beta factor of the old C
     * @param batch number of products, at least 1
     * @param strideC elements from one product's C to the next
     * @param strideA elements from one product's A to the next
     * @param strideB elements from one product's B to the next
     */
    record Gemm(
            BufferView c,
            BufferView a,
            BufferView b,
            boolean transposeA,
            boolean transposeB,
            float alpha,
            float beta,
            int batch,
            long strideC,
            long strideA,
            long strideB)
            implements Command {
        public Gemm {
            long rows = transposeA ? a.columns() : a.rows();
            long depth = transposeA ? a.rows() : a.columns();
            long depthB = transposeB ? b.columns() : b.rows();
            long columns = transposeB ? b.rows() : b.columns();
            if (depth != depthB || c.rows() != rows || c.columns() != columns) {
                throw AcceleratorException.invalid(
                        "gemm",
                        "op(A) is [" + rows + ", " + depth + "], op(B) is [" + depthB + ", " + columns + "], C is ["
                                + c.rows() + ", " + c.columns() + "]: inner sizes must be equal and C must be [M, N]");
            }
            if (a.type() != b.type()) {
                throw AcceleratorException.invalid(
                        "gemm", "A is " + a.type() + " and B is " + b.type() + ": they must have one type");
            }
            boolean integer = !a.type().isFloating();
            if (integer != !c.type().isFloating()
                    || (integer && (a.type().bytes() != 1 || c.type().bytes() != 4))) {
                throw AcceleratorException.invalid(
                        "gemm",
                        "C of type " + c.type() + " does not go with " + a.type()
                                + " operands: int8 gives int32, floats give floats");
            }
            if (batch < 1 || strideA < 0 || strideB < 0 || strideC < 0) {
                throw AcceleratorException.invalid(
                        "gemm", "batch " + batch + " must be at least 1 and strides must not be negative");
            }
            if (batch > 1) {
                fits("A", a, batch, strideA);
                fits("B", b, batch, strideB);
                fits("C", c, batch, strideC);
            }
        }

        /** One product, {@code C = A * B} without transposes. */
        public static Gemm of(BufferView c, BufferView a, BufferView b) {
            return new Gemm(c, a, b, false, false, 1, 0, 1, 0, 0, 0);
        }

        /** One product added to C, {@code C = A * B + C}. */
        public static Gemm accumulate(BufferView c, BufferView a, BufferView b) {
            return new Gemm(c, a, b, false, false, 1, 1, 1, 0, 0, 0);
        }

        private static void fits(String name, BufferView view, int batch, long stride) {
            long end = view.end() + (batch - 1) * stride * view.type().bytes();
            if (end > view.memory().bytes()) {
                throw new AcceleratorException(
                        ErrorCode.OUT_OF_BOUNDS,
                        "gemm",
                        "product " + batch + " of " + name + " ends at byte " + end + " of a memory of "
                                + view.memory().bytes() + " bytes");
            }
        }

        /** Rows of the result. */
        public long m() {
            return c.rows();
        }

        /** Columns of the result. */
        public long n() {
            return c.columns();
        }

        /** Length of the inner sum. */
        public long k() {
            return transposeA ? a.rows() : a.columns();
        }

        /** Floating-point operations, a fused multiply-add being two. */
        public double flops() {
            return 2.0 * m() * n() * k() * batch;
        }

        @Override
        public Gemm rebind(UnaryOperator<Memory> binding) {
            return new Gemm(
                    Command.rebind(c, binding),
                    Command.rebind(a, binding),
                    Command.rebind(b, binding),
                    transposeA,
                    transposeB,
                    alpha,
                    beta,
                    batch,
                    strideC,
                    strideA,
                    strideB);
        }

        @Override
        public List<BufferView> reads() {
            return beta == 0 ? List.of(a, b) : List.of(a, b, c);
        }

        @Override
        public List<BufferView> writes() {
            return List.of(c);
        }
    }

    /**
     * Elementwise reduction of one or more inputs in their order. The destination may be one of the inputs.
     *
     * <p>Inputs of fp32 may have a destination of another floating type: the fp32 result is rounded once, to that type. That is how an fp32 accumulator becomes a result.
     *
     * @param destination result, same shape as every input, and of the same type except as said above
     * @param inputs at least one
     * @param op which reduction
     */
    record Reduce(BufferView destination, List<BufferView> inputs, ReduceOp op) implements Command {
        public Reduce {
            Objects.requireNonNull(op);
            inputs = List.copyOf(inputs);
            if (inputs.isEmpty()) {
                throw AcceleratorException.invalid("reduce", "at least one input is needed");
            }
            boolean rounds = inputs.getFirst().type() == ElementType.FP32
                    && destination.type() != ElementType.FP32
                    && destination.type().isFloating();
            for (BufferView input : inputs) {
                if (rounds && input.type() == ElementType.FP32) {
                    sameShape("reduce", destination, input);
                } else {
                    sameBytes("reduce", destination, input);
                }
            }
        }

        @Override
        public Reduce rebind(UnaryOperator<Memory> binding) {
            return new Reduce(
                    Command.rebind(destination, binding),
                    inputs.stream().map(input -> Command.rebind(input, binding)).toList(),
                    op);
        }

        @Override
        public List<BufferView> reads() {
            return inputs;
        }

        @Override
        public List<BufferView> writes() {
            return List.of(destination);
        }
    }

    /**
     * One rank's part of a collective. The parts of all ranks carry the same key inside one graph, and are matched by their order on the communicator on
     * streams.
     *
     * <p>Views are contiguous. Counts of ALL_TO_ALL_V are elements for each peer; blocks lie one after the other in rank order.
     *
     * @param kind which operation
     * @param op the reduction, for kinds that reduce; otherwise {@link ReduceOp#SUM}
     * @param rank this rank's number
     * @param ranks number of ranks
     * @param root root of rooted kinds, peer of SEND and RECEIVE, otherwise 0
     * @param send what this rank gives, or null where the kind gives nothing
     * @param receive where this rank's result goes, or null where the kind gets nothing
     * @param sendCounts elements for each peer, ALL_TO_ALL_V only, otherwise empty
     * @param receiveCounts elements from each peer, ALL_TO_ALL_V only, otherwise empty
     * @param key joins the parts of one collective inside a graph; unused on streams
     */
    record Collective(
            CollectiveKind kind,
            ReduceOp op,
            int rank,
            int ranks,
            int root,
            BufferView send,
            BufferView receive,
            List<Long> sendCounts,
            List<Long> receiveCounts,
            int key)
            implements Command {
        public Collective {
            Objects.requireNonNull(kind);
            Objects.requireNonNull(op);
            sendCounts = List.copyOf(sendCounts);
            receiveCounts = List.copyOf(receiveCounts);
            if (ranks < 1 || rank < 0 || rank >= ranks || root < 0 || root >= ranks) {
                throw AcceleratorException.invalid(
                        "collective",
                        kind + ": rank " + rank + " and root or peer " + root + " must lie in 0.." + (ranks - 1));
            }
            CollectiveShapes.check(kind, rank, ranks, root, send, receive, sendCounts, receiveCounts);
        }

        /** The element type, or null for a barrier. */
        public io.weft.api.ElementType type() {
            return send != null ? send.type() : receive != null ? receive.type() : null;
        }

        /** The count that all ranks must agree on, in elements (see {@link CollectiveKind}); -1 for ALL_TO_ALL_V, 0 for a barrier. */
        public long count() {
            return CollectiveShapes.count(kind, ranks, send, receive);
        }

        @Override
        public Collective rebind(UnaryOperator<Memory> binding) {
            return new Collective(
                    kind,
                    op,
                    rank,
                    ranks,
                    root,
                    Command.rebind(send, binding),
                    Command.rebind(receive, binding),
                    sendCounts,
                    receiveCounts,
                    key);
        }

        @Override
        public List<BufferView> reads() {
            return send == null ? List.of() : List.of(send);
        }

        @Override
        public List<BufferView> writes() {
            return receive == null ? List.of() : List.of(receive);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.function.LongUnaryOperator;

/**
 * Elementwise operators of the vendor's library, of which reductions and products of any types are put together. Every call asks for an executor of its own, since one serves one launch. Calls are made on the device's thread, in the order of a stream.
 */
final class AclOperators {
    /** Types that can be converted and computed with. */
    static final Set<ElementType> TYPES =
            Set.of(ElementType.FP32, ElementType.FP16, ElementType.BF16, ElementType.INT8, ElementType.INT32);

    private static final int FORMAT_ND = 2;
    private static final int KEEP_TYPE = 0;
    /** The piece of a stream's scratch memory for operators' own workspace. */
    private static final int WORKSPACE = 3;
    /** Where in this thread's words the answers of a question lie, and the numbers of a matrix. */
    private static final long ANSWERS = 0;

    private static final long NUMBERS = 64;

    private final AclRuntime runtime;
    private final AclCalls calls;

    AclOperators(AclRuntime runtime) {
        this.runtime = runtime;
        this.calls = runtime.calls();
    }

    /** Whether all functions are there. */
    boolean isComplete() {
        return List.of(
                        AclFunction.CREATE_TENSOR,
                        AclFunction.CREATE_SCALAR,
                        AclFunction.CAST_WORKSPACE,
                        AclFunction.ADD_WORKSPACE,
                        AclFunction.MUL_WORKSPACE,
                        AclFunction.MULS_WORKSPACE,
                        AclFunction.MAXIMUM_WORKSPACE,
                        AclFunction.MINIMUM_WORKSPACE,
                        AclFunction.MATMUL_WORKSPACE)
                .stream()
                .allMatch(function -> calls.libraries().find(function).isPresent());
    }

    /** A matrix's handle. */
    private long tensor(AclMatrix matrix) {
        Scratch words = Scratch.mine();
        words.word(NUMBERS, matrix.rows());
        words.word(NUMBERS + 8, matrix.columns());
        words.word(NUMBERS + 16, matrix.rowStride());
        words.word(NUMBERS + 24, matrix.columnStride());
        words.word(NUMBERS + 32, matrix.storageRows());
        words.word(NUMBERS + 40, matrix.storageColumns());
        long at = words.address() + NUMBERS;
        return calls.createTensor(
                at, at + 16, at + 32, AclTypes.tensor(matrix.type()).orElseThrow(), FORMAT_ND, matrix.address());
    }

    /** Asks for an executor, gives it its workspace and launches it. */
    private void launch(AclFunction function, LongUnaryOperator question, long stream, long... handles) {
        try {
            Scratch words = Scratch.mine();
            words.word(ANSWERS, 0);
            words.word(ANSWERS + 8, 0);
            check(function, (int) question.applyAsLong(words.address() + ANSWERS));
            long bytes = words.word(ANSWERS);
            long executor = words.word(ANSWERS + 8);
            long workspace = bytes == 0 ? 0 : runtime.scratch().get(stream, WORKSPACE, bytes);
            check(function, calls.direct(function, workspace, bytes, executor, stream));
        } finally {
            for (long handle : handles) {
                calls.direct(AclFunction.DESTROY_TENSOR, handle);
            }
        }
    }

    private void check(AclFunction function, int code) {
        if (code != 0) {
            throw calls.failure(function.symbol(), code);
        }
    }

    private void on(Runnable task) {
        calls.on(() -> {
            task.run();
            return null;
        });
    }

    /** Converts, rounding to nearest. */
    void cast(AclMatrix from, AclMatrix to, long stream) {
        on(() -> {
            long x = tensor(from);
            long y = tensor(to);
            int type = AclTypes.tensor(to.type()).orElseThrow();
            launch(
                    AclFunction.CAST,
                    out -> calls.direct(AclFunction.CAST_WORKSPACE, x, type, y, out, out + 8),
                    stream,
                    x,
                    y);
        });
    }

    /** Multiplies by a number. */
    void scale(AclMatrix from, float factor, AclMatrix to, long stream) {
        on(() -> {
            long scalar = scalar(from.type(), factor);
            try {
                long x = tensor(from);
                long y = tensor(to);
                launch(
                        AclFunction.MULS,
                        out -> calls.direct(AclFunction.MULS_WORKSPACE, x, scalar, y, out, out + 8),
                        stream,
                        x,
                        y);
            } finally {
                calls.direct(AclFunction.DESTROY_SCALAR, scalar);
            }
        });
    }

    private long scalar(ElementType type, float value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(8, 8);
            if (type == ElementType.INT32) {
                number.set(ValueLayout.JAVA_INT, 0, (int) value);
            } else {
                number.set(ValueLayout.JAVA_FLOAT, 0, value);
            }
            return calls.createScalar(number.address(), AclTypes.tensor(type).orElseThrow());
        }
    }

    /** Combines two matrices of one type, element by element. */
    void combine(ReduceOp.Kind kind, AclMatrix left, AclMatrix right, AclMatrix to, long stream) {
        on(() -> {
            long scalar = kind == ReduceOp.Kind.SUM ? scalar(left.type(), 1) : 0;
            try {
                long x = tensor(left);
                long y = tensor(right);
                long z = tensor(to);
                AclFunction function = switch (kind) {
                    case SUM -> AclFunction.ADD;
                    case PROD -> AclFunction.MUL;
                    case MAX -> AclFunction.MAXIMUM;
                    case MIN -> AclFunction.MINIMUM;
                    case AVG, SCALED_SUM -> throw new IllegalStateException(kind + " is a scaling and a sum");
                };
                launch(function, out -> ask(kind, x, y, scalar, z, out), stream, x, y, z);
            } finally {
                if (scalar != 0) {
                    calls.direct(AclFunction.DESTROY_SCALAR, scalar);
                }
            }
        });
    }

    private int ask(ReduceOp.Kind kind, long x, long y, long one, long z, long out) {
        return switch (kind) {
            case SUM -> calls.direct(AclFunction.ADD_WORKSPACE, x, y, one, z, out, out + 8);
            case PROD -> calls.direct(AclFunction.MUL_WORKSPACE, x, y, z, out, out + 8);
            case MAX -> calls.direct(AclFunction.MAXIMUM_WORKSPACE, x, y, z, out, out + 8);
            default -> calls.direct(AclFunction.MINIMUM_WORKSPACE, x, y, z, out, out + 8);
        };
    }

    /** The product of two matrices of one type. */
    void multiply(AclMatrix a, AclMatrix b, AclMatrix c, long stream) {
        on(() -> {
            long x = tensor(a);
            long y = tensor(b);
            long z = tensor(c);
            launch(
                    AclFunction.MATMUL,
                    out -> calls.direct(AclFunction.MATMUL_WORKSPACE, x, y, z, KEEP_TYPE, out, out + 8),
                    stream,
                    x,
                    y,
                    z);
        });
    }
}

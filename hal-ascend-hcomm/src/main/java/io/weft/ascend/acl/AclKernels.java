// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.DeviceKernels;
import io.weft.nativehal.driver.Route;
import java.util.List;

/**
 * What a device computes without kernels of our own, which the vendor's libraries have no place for: reductions and products of any types, put together from elementwise operators. Floating numbers are added up in fp32 and rounded once. Slower than one
 * kernel would be, since every step goes through memory.
 */
final class AclKernels implements DeviceKernels {
    private static final int FIRST = 0;
    private static final int SECOND = 1;
    private static final int THIRD = 2;

    private final AclRuntime runtime;
    private final AclOperators operators;
    private final boolean complete;

    AclKernels(AclRuntime runtime, AclOperators operators) {
        this.runtime = runtime;
        this.operators = operators;
        this.complete = operators.isComplete();
    }

    @Override
    public void copy(
            long destination,
            long destinationPitch,
            long source,
            long sourcePitch,
            long width,
            long rows,
            long stream) {
        runtime.copy2d(
                destination, destinationPitch, source, sourcePitch, width, rows, Route.WITHIN_DEVICE, false, stream);
    }

    private AclMatrix scratch(long stream, int slot, ElementType type, long rows, long columns) {
        long address = runtime.scratch().get(stream, slot, rows * columns * type.bytes());
        return AclMatrix.dense(address, type, rows, columns);
    }

    @Override
    public void reduce(Command.Reduce command, long stream) {
        BufferView to = command.destination();
        ElementType type = command.inputs().getFirst().type();
        ReduceOp op = command.op();
        boolean integerMean = op.kind() == ReduceOp.Kind.AVG && !type.isFloating();
        if (!complete || integerMean || !AclOperators.TYPES.contains(type) || !AclOperators.TYPES.contains(to.type())) {
            throw refused("reduce", op.kind() + " of " + type + " to " + to.type());
        }
        runtime.join(stream);
        synchronized (runtime.scratch().lock(stream)) {
            steps(command, type, stream);
        }
    }

    private void steps(Command.Reduce command, ElementType type, long stream) {
        BufferView to = command.destination();
        List<BufferView> inputs = command.inputs();
        ReduceOp op = command.op();
        ElementType wide = type.isFloating() ? ElementType.FP32 : ElementType.INT32;
        AclMatrix sum = scratch(stream, FIRST, wide, to.rows(), to.columns());
        AclMatrix next = scratch(stream, SECOND, wide, to.rows(), to.columns());
        boolean scaled = op.kind() == ReduceOp.Kind.AVG || op.kind() == ReduceOp.Kind.SCALED_SUM;
        float factor = op.kind() == ReduceOp.Kind.AVG ? 1f / inputs.size() : op.scale();
        float rounded = type.isFloating() ? type.decode(type.encode(factor)) : factor;
        for (int i = 0; i < inputs.size(); i++) {
            AclMatrix into = i == 0 ? sum : next;
            operators.cast(AclMatrix.of(inputs.get(i)), into, stream);
            if (scaled) {
                operators.scale(into, rounded, into, stream);
            }
            if (i > 0) {
                operators.combine(scaled ? ReduceOp.Kind.SUM : op.kind(), sum, next, sum, stream);
            }
        }
        operators.cast(sum, AclMatrix.of(to), stream);
    }

    @Override
    public void gemm(Command.Gemm gemm, long stream) {
        ElementType operand = gemm.a().type();
        ElementType result = gemm.c().type();
        if (!complete
                || !AclProducts.TYPES.contains(operand)
                || !result.isFloating()
                || !AclOperators.TYPES.contains(result)) {
            throw refused("gemm", "a product of " + operand + " to " + result);
        }
        runtime.join(stream);
        synchronized (runtime.scratch().lock(stream)) {
            steps(gemm, stream);
        }
    }

    private void steps(Command.Gemm gemm, long stream) {
        for (int i = 0; i < gemm.batch(); i++) {
            AclMatrix c = AclMatrix.of(gemm.c(), false, i * gemm.strideC());
            AclMatrix product = scratch(stream, THIRD, ElementType.FP32, c.rows(), c.columns());
            if (gemm.k() == 0) {
                runtime.clear(product.address(), product.wideBytes(), stream);
            } else {
                AclMatrix a = widened(AclMatrix.of(gemm.a(), gemm.transposeA(), i * gemm.strideA()), FIRST, stream);
                AclMatrix b = widened(AclMatrix.of(gemm.b(), gemm.transposeB(), i * gemm.strideB()), SECOND, stream);
                operators.multiply(a, b, product, stream);
            }
            if (gemm.alpha() != 1) {
                operators.scale(product, gemm.alpha(), product, stream);
            }
            if (gemm.beta() != 0) {
                AclMatrix old = widened(c, FIRST, stream);
                if (gemm.beta() != 1) {
                    operators.scale(old, gemm.beta(), old, stream);
                }
                operators.combine(ReduceOp.Kind.SUM, product, old, product, stream);
            }
            operators.cast(product, c, stream);
        }
    }

    private AclMatrix widened(AclMatrix matrix, int slot, long stream) {
        AclMatrix wide = scratch(stream, slot, ElementType.FP32, matrix.rows(), matrix.columns());
        operators.cast(matrix, wide, stream);
        return wide;
    }

    private static AcceleratorException refused(String operation, String what) {
        return new AcceleratorException(
                ErrorCode.UNSUPPORTED,
                operation,
                what + " cannot be put together from the vendor's operators",
                "use fp32, fp16 or bf16, and check that libopapi is installed",
                null,
                null);
    }

    @Override
    public void close() {
        // Nothing was loaded.
    }
}

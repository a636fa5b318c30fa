// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.HostMatrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The contracts of the kernels, word for word and one element at a time. */
final class Naive {
    private Naive() {}

    /** What C's whole memory holds after the product; C itself is left alone. */
    static byte[] gemm(float alpha, HostMatrix a, HostMatrix b, float beta, HostMatrix c) {
        byte[] result = c.memory().toArray(ValueLayout.JAVA_BYTE);
        MemorySegment target = MemorySegment.ofArray(result);
        for (int entry = 0; entry < c.batch(); entry++) {
            for (int i = 0; i < c.rows(); i++) {
                for (int j = 0; j < c.columns(); j++) {
                    Elements.put(
                            target, c.address(entry, i, j), c.type(), gemmElement(alpha, a, b, beta, c, entry, i, j));
                }
            }
        }
        return result;
    }

    static int gemmElement(float alpha, HostMatrix a, HostMatrix b, float beta, HostMatrix c, int entry, int i, int j) {
        float sum = 0f;
        if (a.type() == ElementType.INT8) {
            int whole = 0;
            for (int k = 0; k < a.columns(); k++) {
                whole += (byte) a.bits(entry, i, k) * (byte) b.bits(entry, k, j);
            }
            if (c.type() == ElementType.INT32) {
                return ((int) alpha) * whole + (beta == 0f ? 0 : ((int) beta) * c.bits(entry, i, j));
            }
            sum = whole;
        } else {
            for (int k = 0; k < a.columns(); k++) {
                sum = Math.fma(a.type().decode(a.bits(entry, i, k)), b.type().decode(b.bits(entry, k, j)), sum);
            }
        }
        float value = alpha * sum;
        if (beta != 0f) {
            value = Math.fma(beta, c.type().decode(c.bits(entry, i, j)), value);
        }
        return encode(c.type(), value);
    }

    /** One element of a reduction, from the inputs' patterns. */
    static int reduce(ReduceOp op, float[] scales, ElementType type, int[] inputs, ElementType outputType) {
        int n = inputs.length;
        if (!type.isFloating()) {
            int result = 0;
            for (int i = 0; i < n; i++) {
                int x = type == ElementType.INT8 ? (byte) inputs[i] : inputs[i];
                x *= op.kind() == ReduceOp.Kind.SCALED_SUM ? (int) op.scale() : 1;
                result = i == 0
                        ? x
                        : switch (op.kind()) {
                            case SUM, AVG, SCALED_SUM -> result + x;
                            case PROD -> result * x;
                            case MIN -> Math.min(result, x);
                            case MAX -> Math.max(result, x);
                        };
                result = type == ElementType.INT8 ? (byte) result : result;
            }
            if (op.kind() == ReduceOp.Kind.AVG) {
                result /= n;
            }
            return type == ElementType.INT8 ? result & 0xFF : result;
        }
        float result = 0;
        for (int i = 0; i < n; i++) {
            float x = type.decode(inputs[i]);
            if (op.kind() == ReduceOp.Kind.AVG) {
                x *= type.decode(type.encode(1f / n));
            } else if (op.kind() == ReduceOp.Kind.SCALED_SUM) {
                x *= type.decode(type.encode(scales == null ? op.scale() : scales[i]));
            }
            result = i == 0
                    ? x
                    : switch (op.kind()) {
                        case SUM, AVG, SCALED_SUM -> result + x;
                        case PROD -> result * x;
                        case MIN -> Math.min(result, x);
                        case MAX -> Math.max(result, x);
                    };
        }
        return encode(outputType, result);
    }

    static int encode(ElementType type, float value) {
        return type.encode(Float.isNaN(value) ? Float.NaN : value);
    }
}

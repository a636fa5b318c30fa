// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;

/**
 * Elementwise reductions, by the meaning that {@link ReduceOp} gives to them. Inputs are bit patterns, one array for each input.
 */
public final class Reductions {
    private Reductions() {}

    /**
     * A reduction whose order is fixed: fp32 accumulation in the order of the inputs, one rounding at the end. Bits are exact.
     *
     * @param scales factor of each input for SCALED_SUM; ignored otherwise
     * @param type of the inputs
     * @param target of the result
     */
    public static int[] ordered(
            ReduceOp.Kind op, float[] scales, ElementType type, int[][] inputs, ElementType target) {
        int[] result = new int[inputs[0].length];
        double[] factors = factors(op, scales, type, inputs.length);
        for (int i = 0; i < result.length; i++) {
            if (type.isFloating()) {
                float sum = 0;
                for (int n = 0; n < inputs.length; n++) {
                    float value = (float) (factors[n] * Codec.of(type).decode(inputs[n][i]));
                    sum = n == 0 ? value : combine(op, sum, value);
                }
                result[i] = Codec.of(target).encode(sum);
            } else {
                result[i] = whole(op, factors, type, inputs, i);
            }
        }
        return result;
    }

    private static float combine(ReduceOp.Kind op, float a, float b) {
        return switch (op) {
            case SUM, AVG, SCALED_SUM -> a + b;
            case PROD -> a * b;
            case MIN -> Math.min(a, b);
            case MAX -> Math.max(a, b);
        };
    }

    /**
     * A reduction over ranks in any order, with what the order may change as the tolerance.
     *
     * @param scales factor of each rank for SCALED_SUM; ignored otherwise
     */
    public static Expectation anyOrder(ReduceOp.Kind op, float[] scales, ElementType type, int[][] inputs) {
        int count = inputs[0].length;
        double[] values = new double[count];
        double[] slack = new double[count];
        double[] factors = factors(op, scales, type, inputs.length);
        for (int i = 0; i < count; i++) {
            if (!type.isFloating()) {
                values[i] = Codec.of(type).decode(whole(op, factors, type, inputs, i));
                continue;
            }
            double result = 0;
            double size = 0;
            for (int n = 0; n < inputs.length; n++) {
                double value = factors[n] * Codec.of(type).decode(inputs[n][i]);
                size += Math.abs(value);
                result = n == 0
                        ? value
                        : switch (op) {
                            case SUM, AVG, SCALED_SUM -> result + value;
                            case PROD -> result * value;
                            case MIN -> Math.min(result, value);
                            case MAX -> Math.max(result, value);
                        };
            }
            values[i] = result;
            // Two fp32 roundings for each term: the product with its factor and the addition.
            slack[i] = op == ReduceOp.Kind.SUM || op == ReduceOp.Kind.AVG || op == ReduceOp.Kind.SCALED_SUM
                    ? 2 * inputs.length * size * 0x1p-24
                    : 0;
        }
        return new Expectation(type, values, slack, Tolerance.ulps(op, type, inputs.length));
    }

    /** Average and scaled sum multiply every input by a factor that is rounded to the type first. */
    private static double[] factors(ReduceOp.Kind op, float[] scales, ElementType type, int count) {
        double[] factors = new double[count];
        for (int n = 0; n < count; n++) {
            double factor = switch (op) {
                case AVG -> type.isFloating() ? 1.0 / count : 1;
                case SCALED_SUM -> scales[n];
                case SUM, PROD, MIN, MAX -> 1;
            };
            factors[n] = Codec.of(type).decode(Codec.of(type).encode(factor));
        }
        return factors;
    }

    /** Integers wrap to their type after every step; the average is the wrapped sum divided toward zero. */
    private static int whole(ReduceOp.Kind op, double[] factors, ElementType type, int[][] inputs, int index) {
        boolean narrow = type == ElementType.INT8;
        int result = 0;
        for (int n = 0; n < inputs.length; n++) {
            int element = (int) Codec.of(type).decode(inputs[n][index]);
            int value = element * (int) factors[n];
            value = narrow ? (byte) value : value;
            if (n == 0) {
                result = value;
            } else {
                result = switch (op) {
                    case SUM, AVG, SCALED_SUM -> result + value;
                    case PROD -> result * value;
                    case MIN -> Math.min(result, value);
                    case MAX -> Math.max(result, value);
                };
            }
            result = narrow ? (byte) result : result;
        }
        if (op == ReduceOp.Kind.AVG) {
            result /= inputs.length;
        }
        return narrow ? result & 0xFF : result;
    }
}

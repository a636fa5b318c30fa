// SPDX-License-Identifier: Apache-2.0
package io.weft.api.numeric;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.util.List;
import java.util.stream.IntStream;

/**
 * GEMM and elementwise reduction in double precision, written independently of every kernel that is checked with them.
 *
 * <p>Products of any two floating elements are exact in double, so an element of a GEMM is off by about {@code K * 2^-53} of the sum of its terms'
 * absolute values: nothing against fp32. Runs on the common pool; memory is about 16 bytes per element of the result.
 */
public final class Reference {
    private static final int ROWS = 64;
    private static final int COLUMNS = 256;
    private static final int DEPTH = 128;

    private Reference() {}

    /**
     * {@code alpha * A * B + beta * C}, where C is read now (not if beta is 0) and never written.
     *
     * <p>For int8 operands and an int32 C the result is wrapped to 32 bits, as the hardware does.
     *
     * @param a {@code [M, K]}
     * @param b {@code [K, N]}
     * @param c {@code [M, N]}; its batch is that of the result
     * @throws IllegalArgumentException if the shapes do not fit
     */
    public static Expected gemm(double alpha, HostMatrix a, HostMatrix b, double beta, HostMatrix c) {
        if (a.rows() != c.rows()
                || b.columns() != c.columns()
                || a.columns() != b.rows()
                || a.batch() != c.batch()
                || b.batch() != c.batch()) {
            throw new IllegalArgumentException(
                    "reference gemm of " + shape(a) + " by " + shape(b) + " into " + shape(c) + ": these do not fit");
        }
        int m = c.rows();
        int n = c.columns();
        int total = Math.multiplyExact(Math.multiplyExact(c.batch(), m), n);
        double[] values = new double[total];
        double[] magnitudes = new double[total];
        int down = (m + ROWS - 1) / ROWS;
        int across = (n + COLUMNS - 1) / COLUMNS;
        IntStream.range(0, Math.multiplyExact(c.batch(), down * across))
                .parallel()
                .forEach(task -> {
                    int entry = task / (down * across);
                    int row = task / across % down * ROWS;
                    int column = task % across * COLUMNS;
                    block(alpha, a, b, beta, c, entry, row, column, values, magnitudes);
                });
        if (c.type() == ElementType.INT32) {
            for (int i = 0; i < total; i++) {
                values[i] = (int) (long) values[i];
            }
        }
        // K products, the sum's K roundings count once each with fma and twice without; alpha and beta add three.
        return new Expected(c.batch(), m, n, 2 * a.columns() + 3, values, magnitudes);
    }

    private static String shape(HostMatrix matrix) {
        return "[" + matrix.batch() + ", " + matrix.rows() + ", " + matrix.columns() + "]";
    }

    private static void block(
            double alpha,
            HostMatrix a,
            HostMatrix b,
            double beta,
            HostMatrix c,
            int entry,
            int row,
            int column,
            double[] values,
            double[] magnitudes) {
        int rows = Math.min(ROWS, c.rows() - row);
        int columns = Math.min(COLUMNS, c.columns() - column);
        double[] right = new double[DEPTH * COLUMNS];
        double[] sum = new double[ROWS * COLUMNS];
        double[] size = new double[ROWS * COLUMNS];
        for (int k = 0; k < a.columns(); k += DEPTH) {
            int depth = Math.min(DEPTH, a.columns() - k);
            for (int p = 0; p < depth; p++) {
                for (int j = 0; j < columns; j++) {
                    right[p * COLUMNS + j] = b.value(entry, k + p, column + j);
                }
            }
            for (int i = 0; i < rows; i++) {
                for (int p = 0; p < depth; p++) {
                    addProduct(a.value(entry, row + i, k + p), right, p * COLUMNS, columns, sum, size, i * COLUMNS);
                }
            }
        }
        for (int i = 0; i < rows; i++) {
            int to = (entry * c.rows() + row + i) * c.columns() + column;
            for (int j = 0; j < columns; j++) {
                double old = beta == 0 ? 0 : beta * c.value(entry, row + i, column + j);
                values[to + j] = alpha * sum[i * COLUMNS + j] + old;
                magnitudes[to + j] = Math.abs(alpha) * size[i * COLUMNS + j] + Math.abs(old);
            }
        }
    }

    private static void addProduct(
            double left, double[] right, int at, int count, double[] sum, double[] size, int to) {
        for (int j = 0; j < count; j++) {
            double product = left * right[at + j];
            sum[to + j] += product;
            size[to + j] += Math.abs(product);
        }
    }

    /**
     * Elementwise reduction of equally shaped inputs of one type, by the meaning that {@link ReduceOp} gives to each kind.
     *
     * @param inputs at least one
     * @param scales factor of each input for {@link ReduceOp.Kind#SCALED_SUM}, which are rounded to the type; null for {@code
     *     op.scale()} on all
     */
    public static Expected reduce(ReduceOp op, List<HostMatrix> inputs, float[] scales) {
        HostMatrix shape = inputs.getFirst();
        ElementType type = shape.type();
        for (HostMatrix input : inputs) {
            if (input.rows() != shape.rows()
                    || input.columns() != shape.columns()
                    || input.batch() != shape.batch()
                    || input.type() != type) {
                throw new IllegalArgumentException("reference reduction of " + shape(shape) + " " + type + " with "
                        + shape(input) + " " + input.type() + ": these differ");
            }
        }
        int total = Math.multiplyExact(Math.multiplyExact(shape.batch(), shape.rows()), shape.columns());
        double[] values = new double[total];
        double[] magnitudes = new double[total];
        double[] factors = new double[inputs.size()];
        for (int i = 0; i < factors.length; i++) {
            double factor = switch (op.kind()) {
                case AVG -> type.isFloating() ? 1.0 / factors.length : 1;
                case SCALED_SUM -> scales == null ? op.scale() : scales[i];
                case SUM, PROD, MIN, MAX -> 1;
            };
            factors[i] = Elements.value(type, Elements.nearest(type, factor));
        }
        IntStream.range(0, shape.batch() * shape.rows()).parallel().forEach(line -> {
            int entry = line / shape.rows();
            int row = line % shape.rows();
            for (int column = 0; column < shape.columns(); column++) {
                element(op.kind(), inputs, factors, entry, row, column, values, magnitudes);
            }
        });
        return new Expected(shape.batch(), shape.rows(), shape.columns(), 2 * inputs.size(), values, magnitudes);
    }

    private static void element(
            ReduceOp.Kind kind,
            List<HostMatrix> inputs,
            double[] factors,
            int entry,
            int row,
            int column,
            double[] values,
            double[] magnitudes) {
        HostMatrix shape = inputs.getFirst();
        int to = (entry * shape.rows() + row) * shape.columns() + column;
        if (!shape.type().isFloating()) {
            values[to] = integer(kind, inputs, factors, entry, row, column);
            return; // exact, so without slack
        }
        double result = 0;
        double size = 0;
        for (int i = 0; i < factors.length; i++) {
            double value = factors[i] * inputs.get(i).value(entry, row, column);
            result = i == 0
                    ? value
                    : switch (kind) {
                        case SUM, AVG, SCALED_SUM -> result + value;
                        case PROD -> result * value;
                        case MIN -> Math.min(result, value);
                        case MAX -> Math.max(result, value);
                    };
            size += Math.abs(value);
        }
        values[to] = result;
        magnitudes[to] = switch (kind) {
            case SUM, AVG, SCALED_SUM -> size;
            case PROD -> Math.abs(result);
            case MIN, MAX -> 0;
        };
    }

    private static int integer(
            ReduceOp.Kind kind, List<HostMatrix> inputs, double[] factors, int entry, int row, int column) {
        boolean narrow = inputs.getFirst().type() == ElementType.INT8;
        int result = 0;
        for (int i = 0; i < factors.length; i++) {
            int bits = inputs.get(i).bits(entry, row, column);
            int value = ((int) factors[i]) * (narrow ? (byte) bits : bits);
            result = i == 0
                    ? value
                    : switch (kind) {
                        case SUM, AVG, SCALED_SUM -> result + value;
                        case PROD -> result * value;
                        case MIN -> Math.min(result, value);
                        case MAX -> Math.max(result, value);
                    };
            result = narrow ? (byte) result : result;
        }
        return kind == ReduceOp.Kind.AVG ? result / factors.length : result;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.reference;

import io.weft.api.ElementType;

/** Matrix products in double, where products of two elements are exact, with what fp32 accumulation in any order may change as the tolerance. */
public final class Products {
    private Products() {}

    /**
     * {@code alpha * A * B + beta * C}.
     *
     * @param a patterns of A, [m, k] row-major
     * @param b patterns of B, [k, n] row-major
     * @param c patterns of the old C, [m, n] row-major; not looked at when beta is 0
     * @return what C should be, [m, n] row-major
     */
    public static Expectation gemm(
            int m,
            int n,
            int k,
            float alpha,
            ElementType type,
            int[] a,
            int[] b,
            float beta,
            ElementType target,
            int[] c) {
        double[] values = new double[m * n];
        double[] slack = new double[m * n];
        Codec operand = Codec.of(type);
        Codec result = Codec.of(target);
        double[] right = new double[k * n];
        for (int i = 0; i < right.length; i++) {
            right[i] = operand.decode(b[i]);
        }
        for (int i = 0; i < m; i++) {
            double[] sum = new double[n];
            double[] size = new double[n];
            for (int p = 0; p < k; p++) {
                double left = operand.decode(a[i * k + p]);
                for (int j = 0; j < n; j++) {
                    double term = left * right[p * n + j];
                    sum[j] += term;
                    size[j] += Math.abs(term);
                }
            }
            for (int j = 0; j < n; j++) {
                int at = i * n + j;
                double old = beta == 0 ? 0 : beta * result.decode(c[at]);
                if (target == ElementType.INT32) {
                    // Whole numbers, which wrap to 32 bits.
                    long factor = (long) alpha;
                    values[at] = (int) (factor * (long) sum[j] + (long) old);
                    continue;
                }
                values[at] = alpha * sum[j] + old;
                // Each of the k terms is rounded once in the product at most and once in the sum; alpha, beta and their
                // sum add three.
                double magnitude = Math.abs(alpha) * size[j] + Math.abs(old);
                slack[at] = (2.0 * k + 3) * magnitude * 0x1p-24;
            }
        }
        return new Expectation(target, values, slack, 0);
    }
}

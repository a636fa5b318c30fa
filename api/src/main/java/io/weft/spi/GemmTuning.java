// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.ElementType;
import io.weft.api.graph.Command;
import java.util.List;
import java.util.Objects;

/**
 * Extension: the backend's library has several algorithms for one product, and the caller may say which one a shape gets. Optional: a backend without it chooses by itself. Algorithms differ in speed and in the order of
 * their sums, never beyond what rounding explains. Safe for any thread.
 */
public interface GemmTuning {
    /**
     * What an algorithm is chosen by: a command's sizes and types, not its memory.
     *
     * @param m rows of the result
     * @param n columns of the result
     * @param k length of the inner sum
     * @param operands type of A and B
     * @param result type of C
     * @param transposeA whether A is transposed
     * @param transposeB whether B is transposed
     * @param accumulates whether the old C is added (beta is not 0)
     * @param batch number of products
     */
    record Shape(
            long m,
            long n,
            long k,
            ElementType operands,
            ElementType result,
            boolean transposeA,
            boolean transposeB,
            boolean accumulates,
            int batch) {
        public Shape {
            Objects.requireNonNull(operands);
            Objects.requireNonNull(result);
        }

        /** The shape of a command. */
        public static Shape of(Command.Gemm gemm) {
            return new Shape(
                    gemm.m(),
                    gemm.n(),
                    gemm.k(),
                    gemm.a().type(),
                    gemm.c().type(),
                    gemm.transposeA(),
                    gemm.transposeB(),
                    gemm.beta() != 0,
                    gemm.batch());
        }

        /** Such as {@code 4096x8192x8192 bf16}, with {@code +C} when it accumulates; stable, for files. */
        @Override
        public String toString() {
            return m + "x" + n + "x" + k + " " + operands + (result == operands ? "" : ">" + result)
                    + (transposeA ? " AT" : "") + (transposeB ? " BT" : "") + (accumulates ? " +C" : "")
                    + (batch == 1 ? "" : " batch " + batch);
        }
    }

    /**
     * The algorithms for a shape, the library's own preference first. Names are stable for one device, driver and library version, and hold no white space.
     *
     * @param most how many to name at most, 1 or more
     * @return at least one
     */
    List<String> variants(DeviceDriver device, Shape shape, int most);

    /**
     * Makes products of this shape use an algorithm: commands issued and graphs instantiated after the call. Graphs made before keep theirs.
     *
     * @param variant a name from {@link #variants}
     * @throws io.weft.api.AcceleratorException INVALID_ARGUMENT when the library has no such algorithm, as after an update
     */
    void choose(DeviceDriver device, Shape shape, String variant);

    /** The algorithm that the shape gets now. */
    String chosen(DeviceDriver device, Shape shape);
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import java.lang.foreign.MemorySegment;

/**
 * The inner loops of the data plane, on runs of contiguous elements. Two classes implement it, one with the Vector API and one with plain
 * loops; both give the same bits for the same arguments.
 *
 * <p>Arguments are trusted: callers check bounds of whole operands before. Stateless, so usable by any thread.
 */
abstract sealed class Lanes permits VectorLanes, ScalarLanes {
    private static final class Choice {
        static final Lanes FASTEST = choose();

        // Whether the module is there is best learnt by linking to it: it may come from the boot layer or from one made
        // later.
        private static Lanes choose() {
            try {
                return VectorLanes.create();
            } catch (LinkageError absent) {
                return new ScalarLanes();
            }
        }
    }

    /** The Vector API where this JVM was started with it, plain loops elsewhere. */
    static Lanes fastest() {
        return Choice.FASTEST;
    }

    /** Rows of the register tile that {@link #tile} computes. */
    abstract int tileRows();

    /** Columns of the register tile that {@link #tile} computes. */
    abstract int tileColumns();

    /**
     * {@code c[i][j] = fma(a[p][i], b[p][j], c[i][j])} for p = 0 to {@code depth - 1}, in this order.
     *
     * @param a panel, {@code [depth][tileRows]} from {@code aAt}
     * @param b panel, {@code [depth][tileColumns]} from {@code bAt}
     * @param c tile, {@code [tileRows][tileColumns]} from {@code cAt}
     */
    abstract void tile(float[] a, int aAt, float[] b, int bAt, int depth, float[] c, int cAt);

    /** Converts elements of any type but {@link ElementType#INT32} to fp32; exact. */
    abstract void decode(ElementType type, MemorySegment memory, long offset, float[] to, int at, int count);

    /**
     * Converts {@code depth} rows of {@link #tileColumns} elements into a panel for {@link #tile}, {@code [depth][tileColumns]} from
     * {@code at}.
     *
     * @param pitch bytes from one row to the next
     * @param staging scratch memory of at least {@code 2 * depth * tileColumns} bytes
     */
    abstract void decodePanel(
            ElementType type,
            MemorySegment memory,
            long offset,
            long pitch,
            int depth,
            float[] to,
            int at,
            MemorySegment staging);

    /** Rounds fp32 to a floating type, and may spoil {@code from}; every NaN becomes the pattern {@code type.encode(Float.NaN)}. */
    abstract void encode(ElementType type, float[] from, int at, MemorySegment memory, long offset, int count);

    /** {@code x[i] = fma(beta, c[i], alpha * x[i])}. */
    abstract void scaleAdd(float alpha, float[] x, float beta, float[] c, int count);

    /**
     * {@code into[i] = into[i] op x[i]} in fp32 where x are the elements in memory; SUM, PROD, MIN or MAX.
     *
     * @param scratch at least {@code count} long
     */
    abstract void combine(
            ReduceOp.Kind op,
            ElementType type,
            MemorySegment memory,
            long offset,
            float[] into,
            int count,
            float[] scratch);

    /**
     * {@code into[i] = into[i] + factor * x[i]}, the product rounded to fp32 first.
     *
     * @param scratch at least {@code count} long
     */
    abstract void addScaled(
            float factor,
            ElementType type,
            MemorySegment memory,
            long offset,
            float[] into,
            int count,
            float[] scratch);

    /** {@code x[i] = factor * x[i]}. */
    static void scale(float factor, float[] x, int count) {
        for (int i = 0; i < count; i++) {
            x[i] *= factor;
        }
    }
}

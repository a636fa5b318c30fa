// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.lt;

import io.weft.api.ElementType;
import io.weft.nativehal.driver.GemmLibrary;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.nativehal.driver.GemmShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A library of products in the style that vendors call "Lt": descriptions of a product and of its column-major matrices, a question for kernels, and a call with one of them. A kernel is an opaque structure of {@link #algorithmBytes()}
 * bytes; a result is that structure, then the workspace it needs (64 bits), whether it can be used (32 bits, 0 for yes) and the waves it makes (a float), then what the vendor keeps for itself.
 */
public interface LtLibrary extends GemmLibrary {
    /** Bytes of a kernel's description, by which the same version of the library knows it again. */
    long algorithmBytes();

    /** Bytes of one result. */
    long resultBytes();

    /** The library's number of an element type; -1 for what it lacks. */
    int code(ElementType type);

    /** What a product computes: in int32 with integer factors, or in fp32. */
    long createDescription(boolean integer, boolean transposeA, boolean transposeB);

    /** Releases a description. */
    void destroyDescription(long description);

    /** A column-major matrix; pitch and stride are elements. */
    long createLayout(int type, long rows, long columns, long pitch, int batch, long stride);

    /** Releases a matrix description. */
    void destroyLayout(long layout);

    /**
     * Asks for kernels, the best by the library's own estimate first.
     *
     * @param alignments bytes to which the addresses of A, B, C and D are aligned
     * @param results memory for {@code wanted} results
     * @return how many were found; 0 when the library cannot do it
     */
    int heuristics(
            long handle,
            long description,
            long a,
            long b,
            long c,
            long d,
            long workspaceBytes,
            int[] alignments,
            MemorySegment results,
            int wanted);

    /** {@code C = alpha * op(A) * op(B) + beta * C}; alpha and beta are addresses of host numbers, read before the call returns. */
    void multiply(
            long handle,
            long description,
            long alpha,
            long a,
            long layoutA,
            long b,
            long layoutB,
            long beta,
            long c,
            long layoutC,
            long algorithm,
            long workspace,
            long workspaceBytes,
            long stream);

    /** Workspace bytes of a result. */
    default long workspaceBytes(MemorySegment result) {
        return result.get(ValueLayout.JAVA_LONG, algorithmBytes());
    }

    /** Whether a result can be used. */
    default boolean isUsable(MemorySegment result) {
        return result.get(ValueLayout.JAVA_INT, algorithmBytes() + 8) == 0;
    }

    /** Waves of the device that a result's tiles make. */
    default float waves(MemorySegment result) {
        return result.get(ValueLayout.JAVA_FLOAT, algorithmBytes() + 12);
    }

    @Override
    default GemmPlan plan(long handle, GemmShape shape, long workspaceLimit) {
        return new LtPlan(this, handle, shape, workspaceLimit);
    }
}

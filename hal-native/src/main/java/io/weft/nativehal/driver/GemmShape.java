// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.Memory;
import io.weft.api.graph.Command;

/** All of a product that decides how it is carried out: everything but the addresses, of which only the alignment counts. */
public record GemmShape(
        ElementType resultType,
        ElementType operandType,
        long m,
        long n,
        long k,
        MatrixLayout layoutC,
        MatrixLayout layoutA,
        MatrixLayout layoutB,
        boolean transposeA,
        boolean transposeB,
        long pitchC,
        long pitchA,
        long pitchB,
        int batch,
        long strideC,
        long strideA,
        long strideB,
        float alpha,
        float beta,
        int alignmentC,
        int alignmentA,
        int alignmentB) {
    /** More alignment than this makes no difference to a kernel: its widest access. */
    private static final int WIDEST = 16;

    /** The shape of a product; its operands may be slots or buffers. */
    public static GemmShape of(Command.Gemm gemm) {
        BufferView c = gemm.c();
        BufferView a = gemm.a();
        BufferView b = gemm.b();
        return new GemmShape(
                c.type(),
                a.type(),
                gemm.m(),
                gemm.n(),
                gemm.k(),
                c.layout(),
                a.layout(),
                b.layout(),
                gemm.transposeA(),
                gemm.transposeB(),
                c.pitch(),
                a.pitch(),
                b.pitch(),
                gemm.batch(),
                gemm.strideC(),
                gemm.strideA(),
                gemm.strideB(),
                gemm.alpha(),
                gemm.beta(),
                alignment(c),
                alignment(a),
                alignment(b));
    }

    /** A slot counts as aligned as a buffer of its own is. */
    private static int alignment(BufferView view) {
        Memory memory = view.memory();
        long address = memory instanceof Buffer buffer ? buffer.address() + view.offset() : view.offset();
        return (int) Long.lowestOneBit(address | WIDEST);
    }
}

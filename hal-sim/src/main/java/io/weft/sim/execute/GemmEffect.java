// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.api.graph.Command;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.HostMatrix;
import io.weft.sim.compute.Gemm;
import java.util.ArrayList;
import java.util.List;

/** A matrix product. */
final class GemmEffect extends Effect {
    private final Gemm kernel;
    private final Command.Gemm command;
    private final Operand a;
    private final Operand b;
    private final Operand c;
    /** The old C, read when beta is not 0. */
    private final Operand old;

    GemmEffect(Gemm kernel, Command.Gemm command, Operand c, Operand a, Operand b, Operand old) {
        super(reads(a, b, old), List.of(c));
        this.kernel = kernel;
        this.command = command;
        this.a = a;
        this.b = b;
        this.c = c;
        this.old = old;
    }

    private static List<Operand> reads(Operand a, Operand b, Operand old) {
        List<Operand> reads = new ArrayList<>(List.of(a, b));
        if (old != null) {
            reads.add(old);
        }
        return reads;
    }

    @Override
    boolean worksInPlace(Operand read, Operand write) {
        return read == old;
    }

    @Override
    void compute() {
        if (c.view().isEmpty()) {
            return;
        }
        HostMatrix left = a.matrix();
        HostMatrix right = b.matrix();
        HostMatrix result = c.matrix(c.current());
        if (old != null && old.isKept()) {
            restore(old.matrix(), result);
        }
        kernel.multiply(
                command.alpha(),
                command.transposeA() ? left.transposed() : left,
                command.transposeB() ? right.transposed() : right,
                command.beta(),
                result);
    }

    /** Puts the kept C back where the kernel reads it. Element by element, since gaps between rows may be others' results. */
    private static void restore(HostMatrix kept, HostMatrix result) {
        for (int entry = 0; entry < kept.batch(); entry++) {
            for (int row = 0; row < kept.rows(); row++) {
                for (int column = 0; column < kept.columns(); column++) {
                    Elements.put(
                            result.memory(),
                            result.address(entry, row, column),
                            result.type(),
                            kept.bits(entry, row, column));
                }
            }
        }
    }
}

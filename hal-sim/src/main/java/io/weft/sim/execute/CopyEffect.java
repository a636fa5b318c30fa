// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.sim.compute.CopyKernel;
import java.util.List;

/** Copies one view to another: the whole range when neither has gaps, run by run otherwise. */
final class CopyEffect extends Effect {
    private final CopyKernel kernel;
    private final boolean contiguous;

    CopyEffect(CopyKernel kernel, Operand destination, Operand source, boolean contiguous) {
        super(List.of(source), List.of(destination));
        this.kernel = kernel;
        this.contiguous = contiguous;
    }

    @Override
    void compute() {
        Operand from = reads.getFirst();
        Operand to = writes.getFirst();
        if (to.view().isEmpty()) {
            return;
        }
        if (contiguous) {
            kernel.copy(from.segment(), 0, to.current(), 0, to.view().bytes());
        } else {
            kernel.copyRows(from.segment(), 0, from.pitch(), to.current(), 0, to.pitch(), to.width(), to.runs());
        }
    }
}

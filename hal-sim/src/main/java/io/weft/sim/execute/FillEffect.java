// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.sim.compute.CopyKernel;
import java.util.List;

/** Sets every element of a view; gaps keep what they hold. */
final class FillEffect extends Effect {
    private final CopyKernel kernel;
    private final int bits;

    FillEffect(CopyKernel kernel, Operand destination, int bits) {
        super(List.of(), List.of(destination));
        this.kernel = kernel;
        this.bits = bits;
    }

    @Override
    void compute() {
        Operand to = writes.getFirst();
        if (to.view().isEmpty()) {
            return;
        }
        int bytes = to.type().bytes();
        kernel.fillRows(to.current(), 0, to.pitch(), bits, bytes, to.width() / bytes, to.runs());
    }
}

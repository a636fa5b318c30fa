// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.api.ReduceOp;
import io.weft.sim.compute.Reduction;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** An elementwise reduction of views of one shape. */
final class ReduceEffect extends Effect {
    private final Reduction kernel;
    private final ReduceOp op;

    ReduceEffect(Reduction kernel, Operand destination, List<Operand> inputs, ReduceOp op) {
        super(inputs, List.of(destination));
        this.kernel = kernel;
        this.op = op;
    }

    @Override
    boolean worksInPlace(Operand read, Operand write) {
        // The same elements in the same places: each is read before it is written.
        return read.extent().equals(write.extent()) && read.type() == write.type();
    }

    @Override
    void compute() {
        Operand to = writes.getFirst();
        if (to.view().isEmpty()) {
            return;
        }
        MemorySegment[] inputs = new MemorySegment[reads.size()];
        long[] pitches = new long[inputs.length];
        for (int i = 0; i < inputs.length; i++) {
            inputs[i] = reads.get(i).segment();
            pitches[i] = reads.get(i).view().pitch();
        }
        kernel.reduce(
                op,
                null,
                reads.getFirst().type(),
                inputs,
                pitches,
                to.type(),
                to.current(),
                to.view().pitch(),
                to.runs(),
                to.width() / to.type().bytes());
    }
}

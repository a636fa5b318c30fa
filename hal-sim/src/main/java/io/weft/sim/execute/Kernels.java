// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.graph.Command;
import io.weft.sim.compute.ComputePool;
import io.weft.sim.compute.CopyKernel;
import io.weft.sim.compute.Gemm;
import io.weft.sim.compute.Reduction;
import java.util.ArrayList;
import java.util.List;

/** Turns commands into effects. */
final class Kernels {
    private final Gemm gemm;
    private final Reduction reduction;
    private final CopyKernel copies;

    Kernels(ComputePool pool) {
        this.gemm = new Gemm(pool);
        this.reduction = new Reduction(pool);
        this.copies = new CopyKernel(pool);
    }

    /** The effect of a command on buffers of this provider. */
    Effect effect(Command command) {
        return switch (command) {
            case Command.Copy copy -> new CopyEffect(copies, operand(copy.destination()), operand(copy.source()), true);
            case Command.CopyStrided copy ->
                new CopyEffect(copies, operand(copy.destination()), operand(copy.source()), false);
            case Command.Fill fill -> new FillEffect(copies, operand(fill.destination()), fill.bits());
            case Command.Gemm product ->
                new GemmEffect(
                        gemm,
                        product,
                        operand(product.c(), product.batch(), product.strideC()),
                        operand(product.a(), product.batch(), product.strideA()),
                        operand(product.b(), product.batch(), product.strideB()),
                        product.beta() == 0 ? null : operand(product.c(), product.batch(), product.strideC()));
            case Command.Reduce reduce -> {
                List<Operand> inputs = new ArrayList<>(reduce.inputs().size());
                reduce.inputs().forEach(input -> inputs.add(operand(input)));
                yield new ReduceEffect(reduction, operand(reduce.destination()), inputs, reduce.op());
            }
            case Command.Collective part ->
                throw new IllegalArgumentException("one part of a collective has no effect of its own: " + part.kind());
        };
    }

    /** The effect of a collective; its parts by rank, or those of sender and receiver. */
    Effect effect(List<Command.Collective> parts) {
        List<Operand> send = new ArrayList<>(parts.size());
        List<Operand> receive = new ArrayList<>(parts.size());
        for (Command.Collective part : parts) {
            send.add(part.send() == null ? null : operand(part.send()));
            receive.add(part.receive() == null ? null : operand(part.receive()));
        }
        return new CollectiveEffect(reduction, copies, parts, send, receive);
    }

    private static Operand operand(BufferView view) {
        return operand(view, 1, 0);
    }

    private static Operand operand(BufferView view, int batch, long stride) {
        Buffer buffer = (Buffer) view.memory();
        return new Operand((Store) buffer.memory(), buffer.base(), view, batch, stride);
    }
}

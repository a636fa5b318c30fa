// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.DeviceKernels;
import io.weft.nativehal.driver.Route;
import java.util.List;
import java.util.OptionalInt;

/**
 * What a device computes by the runtime alone, without kernels of our own: sums, maxima and minima of two operands at a time. More than two operands of 16 bits would be rounded each time, and products of numbers are lacking; both are refused.
 */
final class AclKernels implements DeviceKernels {
    private final AclRuntime runtime;

    AclKernels(AclRuntime runtime) {
        this.runtime = runtime;
    }

    @Override
    public void copy(
            long destination,
            long destinationPitch,
            long source,
            long sourcePitch,
            long width,
            long rows,
            long stream) {
        runtime.copy2d(
                destination, destinationPitch, source, sourcePitch, width, rows, Route.WITHIN_DEVICE, false, stream);
    }

    @Override
    public void reduce(Command.Reduce command, long stream) {
        BufferView to = command.destination();
        List<BufferView> inputs = command.inputs();
        ElementType type = to.type();
        OptionalInt kind = AclTypes.runtimeReduction(command.op().kind());
        OptionalInt number = AclTypes.tensor(type);
        boolean exact = type.bytes() == 4 || inputs.size() <= 2;
        int aliased = aliased(to, inputs);
        boolean ordered = aliased <= 0 || inputs.size() == 2;
        boolean alike = inputs.stream().allMatch(input -> input.type() == type && input.isContiguous());
        if (inputs.size() > 1
                && (kind.isEmpty()
                        || number.isEmpty()
                        || type.isFp8()
                        || !exact
                        || !ordered
                        || !alike
                        || !to.isContiguous())) {
            throw refused("reduce", command.op().kind() + " of " + inputs.size() + " inputs of " + type);
        }
        runtime.join(stream);
        long bytes = to.bytes();
        int start = Math.max(0, aliased);
        if (aliased < 0) {
            runtime.move(address(to), address(inputs.getFirst()), bytes, Route.WITHIN_DEVICE, stream);
        }
        for (int i = 0; i < inputs.size(); i++) {
            if (i != start) {
                runtime.calls()
                        .check(
                                "reduce",
                                AclFunction.REDUCE_ASYNC,
                                address(to),
                                address(inputs.get(i)),
                                bytes,
                                kind.orElseThrow(),
                                number.orElseThrow(),
                                stream,
                                0);
            }
        }
    }

    /** Which input the destination is; -1 for none. */
    private static int aliased(BufferView to, List<BufferView> inputs) {
        for (int i = 0; i < inputs.size(); i++) {
            if (address(inputs.get(i)) == address(to)) {
                return i;
            }
        }
        return -1;
    }

    private static long address(BufferView view) {
        return ((Buffer) view.memory()).address() + view.offset();
    }

    @Override
    public void gemm(Command.Gemm command, long stream) {
        throw refused(
                "gemm",
                "a product of " + command.a().type() + " to " + command.c().type() + " with alpha " + command.alpha()
                        + " and beta " + command.beta());
    }

    private static AcceleratorException refused(String operation, String what) {
        return new AcceleratorException(
                ErrorCode.UNSUPPORTED,
                operation,
                what + " has no function in the vendor's libraries that this plugin uses",
                "products need alpha 1, beta 0 and one type of fp32, fp16 or bf16; reductions a sum, maximum or minimum",
                null,
                null);
    }

    @Override
    public void close() {
        // Nothing was loaded.
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.MatrixLayout;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.DeviceRuntime;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.nativehal.driver.IssuePlace;
import io.weft.nativehal.driver.Route;
import io.weft.spi.CommandFactors;

/** Turns commands whose operands are buffers into calls of the vendor's libraries. The device is current. */
final class CommandIssuer {
    private final DeviceRuntime runtime;
    private final NativeDevice device;

    CommandIssuer(NativeDevice device) {
        this.device = device;
        this.runtime = device.runtime();
    }

    void issue(Command command, IssuePlace place) {
        CommandFactors.check(command);
        switch (command) {
            case Command.Copy copy -> copy(copy, place.handle());
            case Command.CopyStrided copy -> copy(copy, place.handle());
            case Command.Fill fill -> fill(fill, place.handle());
            case Command.Gemm gemm -> gemm(gemm, place);
            case Command.Reduce reduce -> reduce(reduce, place.handle());
            case Command.Collective ignored ->
                throw AcceleratorException.invalid("enqueue", "a collective is issued through its communicator");
        }
    }

    private void copy(Command.Copy copy, long stream) {
        BufferView to = copy.destination();
        BufferView from = copy.source();
        long bytes = to.bytes();
        boolean engine = copy.method() == CopyMethod.ENGINE;
        if (bytes == 0) {
            return;
        }
        requireUsable(to);
        requireUsable(from);
        if (copy.method() == CopyMethod.KERNEL && device.canAddress(to, from)) {
            device.kernels().copy(address(to), bytes, address(from), bytes, bytes, 1, stream);
        } else {
            runtime.copy(address(to), address(from), bytes, route(to, from), engine, stream);
        }
    }

    private void copy(Command.CopyStrided copy, long stream) {
        BufferView to = copy.destination();
        BufferView from = copy.source();
        if (to.isEmpty()) {
            return;
        }
        requireUsable(to);
        requireUsable(from);
        int element = to.type().bytes();
        boolean engine = copy.method() == CopyMethod.ENGINE;
        boolean rowMajor = to.layout() == MatrixLayout.ROW_MAJOR;
        long width = (rowMajor ? to.columns() : to.rows()) * element;
        long rows = rowMajor ? to.rows() : to.columns();
        long toPitch = to.pitch() * element;
        long fromPitch = from.pitch() * element;
        boolean byKernel = copy.method() == CopyMethod.KERNEL
                || (rows > 1 && (toPitch > runtime.maxPitch() || fromPitch > runtime.maxPitch()));
        if (byKernel && device.canAddress(to, from)) {
            device.kernels().copy(address(to), toPitch, address(from), fromPitch, width, rows, stream);
        } else if (rows == 1 || (toPitch == width && fromPitch == width)) {
            runtime.copy(address(to), address(from), width * rows, route(to, from), engine, stream);
        } else {
            runtime.copy2d(
                    address(to), toPitch, address(from), fromPitch, width, rows, route(to, from), engine, stream);
        }
    }

    private void fill(Command.Fill fill, long stream) {
        BufferView to = fill.destination();
        if (to.isEmpty()) {
            return;
        }
        requireUsable(to);
        int element = to.type().bytes();
        int bits = element == 4 ? fill.bits() : fill.bits() & ((1 << (8 * element)) - 1);
        boolean rowMajor = to.layout() == MatrixLayout.ROW_MAJOR;
        long columns = rowMajor ? to.columns() : to.rows();
        long rows = rowMajor ? to.rows() : to.columns();
        if (to.isContiguous()) {
            columns *= rows;
            rows = 1;
        }
        runtime.fill(address(to), to.pitch() * element, bits, element, columns, rows, stream);
    }

    private void gemm(Command.Gemm gemm, IssuePlace place) {
        if (gemm.c().isEmpty()) {
            return;
        }
        requireUsable(gemm.c());
        requireUsable(gemm.a());
        requireUsable(gemm.b());
        if (gemm.k() == 0) {
            device.kernels().gemm(gemm, place.handle()); // C = beta * C
            return;
        }
        GemmPlan plan = device.gemms().plan(gemm);
        if (plan != null && plan.isNative()) {
            plan.issue(gemm, place);
        } else {
            device.kernels().gemm(gemm, place.handle());
        }
    }

    private void reduce(Command.Reduce reduce, long stream) {
        if (reduce.destination().isEmpty()) {
            return;
        }
        requireUsable(reduce.destination());
        reduce.inputs().forEach(CommandIssuer::requireUsable);
        device.kernels().reduce(reduce, stream);
    }

    private static long address(BufferView view) {
        return ((Buffer) view.memory()).address() + view.offset();
    }

    private static Route route(BufferView to, BufferView from) {
        return ((NativeMemory) ((Buffer) from.memory()).memory())
                .routeTo((NativeMemory) ((Buffer) to.memory()).memory());
    }

    private static void requireUsable(BufferView view) {
        requireUsable("execute", view);
    }

    /** Checks that a view's memory was not given back and is mapped; null is let pass. */
    static void requireUsable(String operation, BufferView view) {
        if (view != null
                && view.memory() instanceof Buffer buffer
                && buffer.memory() instanceof NativeMemory memory
                && !view.isEmpty()) {
            memory.requireUsable(operation, buffer.base() + view.offset(), view.end() - view.offset());
        }
    }
}

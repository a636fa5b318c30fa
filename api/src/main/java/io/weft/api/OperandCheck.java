// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import io.weft.api.graph.Command;

/** What a command's operands must be before a driver sees them: buffers, open, of this platform, of supported types, and within the device's reach. */
final class OperandCheck {
    private OperandCheck() {}

    static void check(Command command, Device device) {
        switch (command) {
            case Command.Copy copy -> copy(copy.destination(), copy.source(), device);
            case Command.CopyStrided copy -> copy(copy.destination(), copy.source(), device);
            case Command.Gemm gemm -> {
                if (!device.properties().gemmTypes().contains(gemm.a().type())) {
                    throw new AcceleratorException(
                            ErrorCode.UNSUPPORTED,
                            "gemm",
                            device + " has no " + gemm.a().type() + " GEMM; it has "
                                    + device.properties().gemmTypes());
                }
                kernel("gemm", command, device);
                disjoint(gemm.c(), gemm.a());
                disjoint(gemm.c(), gemm.b());
            }
            case Command.Collective ignored ->
                throw AcceleratorException.invalid("enqueue", "a collective is issued through its communicator");
            default -> kernel("enqueue", command, device);
        }
    }

    private static void copy(BufferView destination, BufferView source, Device device) {
        Buffer to = buffer("copy", destination, device);
        Buffer from = buffer("copy", source, device);
        if (to.device() != from.device()) {
            if (!device.platform()
                    .topology()
                    .link(from.device().ordinal(), to.device().ordinal())
                    .copyable()) {
                throw new AcceleratorException(
                        ErrorCode.PEER_ACCESS,
                        "copy",
                        "there is no copy path from device " + from.device().ordinal() + " to device "
                                + to.device().ordinal());
            }
            if (to.device() != device && from.device() != device) {
                throw new AcceleratorException(
                        ErrorCode.WRONG_DEVICE,
                        "copy",
                        "a stream of " + device + " copies from or to its own device, not between two others");
            }
        } else if (to.device() != device) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "copy",
                    "source and destination are on " + to.device() + " and the stream is on " + device);
        }
        if (to.memory().equals(from.memory()) && meet(destination, to.base(), source, from.base())) {
            throw AcceleratorException.invalid("copy", "source and destination overlap");
        }
    }

    /** Whether two views of one allocation share a byte. Rows may interleave without meeting, so extents alone do not tell. */
    private static boolean meet(BufferView one, long oneBase, BufferView other, long otherBase) {
        if (one.isEmpty()
                || other.isEmpty()
                || oneBase + one.end() <= otherBase + other.offset()
                || otherBase + other.end() <= oneBase + one.offset()) {
            return false;
        }
        long oneRuns = runs(one);
        long otherRuns = runs(other);
        long oneBytes = one.bytes() / oneRuns;
        long otherBytes = other.bytes() / otherRuns;
        long i = 0;
        long j = 0;
        while (i < oneRuns && j < otherRuns) {
            long a = oneBase + one.offset() + i * one.pitch() * one.type().bytes();
            long b = otherBase
                    + other.offset()
                    + j * other.pitch() * other.type().bytes();
            if (a + oneBytes <= b) {
                i++;
            } else if (b + otherBytes <= a) {
                j++;
            } else {
                return true;
            }
        }
        return false;
    }

    /** Contiguous pieces: rows or columns, one when there are no gaps. */
    private static long runs(BufferView view) {
        if (view.isContiguous()) {
            return 1;
        }
        return view.layout() == MatrixLayout.ROW_MAJOR ? view.rows() : view.columns();
    }

    private static void kernel(String operation, Command command, Device device) {
        for (BufferView view : command.reads()) {
            own(operation, view, device);
        }
        for (BufferView view : command.writes()) {
            own(operation, view, device);
        }
    }

    private static void own(String operation, BufferView view, Device device) {
        Buffer buffer = buffer(operation, view, device);
        if (buffer.device() != device) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    operation,
                    "an operand lies on device " + buffer.device().ordinal() + " and the stream on device "
                            + device.ordinal(),
                    "copy it first",
                    null,
                    null);
        }
    }

    private static void disjoint(BufferView c, BufferView other) {
        Buffer result = (Buffer) c.memory();
        Buffer operand = (Buffer) other.memory();
        if (!result.memory().equals(operand.memory()) || c.isEmpty() || other.isEmpty()) {
            return;
        }
        boolean apart = result.base() + c.end() <= operand.base() + other.offset()
                || operand.base() + other.end() <= result.base() + c.offset();
        if (!apart) {
            throw AcceleratorException.invalid("gemm", "C overlaps an operand");
        }
    }

    static Buffer buffer(String operation, BufferView view, Device device) {
        if (!(view.memory() instanceof Buffer buffer)) {
            throw AcceleratorException.invalid(operation, "an operand is a graph slot; streams need buffers");
        }
        buffer.requireOpen(operation);
        if (buffer.device().platform() != device.platform()) {
            throw new AcceleratorException(ErrorCode.WRONG_DEVICE, operation, "an operand belongs to another platform");
        }
        return buffer;
    }
}

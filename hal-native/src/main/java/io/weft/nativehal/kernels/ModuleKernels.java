// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.kernels;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ErrorCode;
import io.weft.api.MatrixLayout;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.DeviceKernels;
import io.weft.nativehal.ffi.Scratch;

/**
 * Our own kernels on one device: reductions, copies by compute units, and products which the vendor's library refuses. Their source is the same for every vendor; each compiles it in its own way. Offsets of arguments are those of the
 * structures in the source.
 */
public final class ModuleKernels implements DeviceKernels {
    /** Inputs of one reduction. */
    public static final int MAX_INPUTS = 64;

    private static final int THREADS = 256;
    /** Blocks for each compute unit: enough to keep memory busy. */
    private static final int BLOCKS_PER_UNIT = 8;

    private static final int TILE = 16;
    /** Where the pointer to a kernel's one argument stands in the scratch memory, behind the largest argument. */
    private static final long POINTER = 1536;

    private final KernelModule module;
    private final int maxBlocks;

    /** Takes over a module of the current device. */
    public ModuleKernels(KernelModule module, int computeUnits) {
        this.module = module;
        this.maxBlocks = Math.max(1, computeUnits) * BLOCKS_PER_UNIT;
    }

    @Override
    public void close() {
        module.close();
    }

    private int blocks(long items) {
        return Math.clamp(Math.ceilDiv(items, THREADS), 1, maxBlocks);
    }

    private void launch(KernelModule.Entry entry, int blocks, long stream, Scratch scratch) {
        scratch.word(POINTER, scratch.address());
        module.launch(entry, blocks, 1, 1, THREADS, 1, stream, scratch.address() + POINTER);
    }

    private static long address(BufferView view) {
        return ((Buffer) view.memory()).address() + view.offset();
    }

    @Override
    public void reduce(Command.Reduce command, long stream) {
        BufferView out = command.destination();
        int inputs = command.inputs().size();
        if (inputs > MAX_INPUTS) {
            throw new AcceleratorException(
                    ErrorCode.UNSUPPORTED,
                    "reduce",
                    inputs + " inputs are more than the " + MAX_INPUTS + " that one kernel takes",
                    "reduce in several steps, the first ones into fp32",
                    null,
                    null);
        }
        Scratch scratch = Scratch.mine();
        boolean rowMajor = out.layout() == MatrixLayout.ROW_MAJOR;
        long rows = rowMajor ? out.rows() : out.columns();
        long columns = rowMajor ? out.columns() : out.rows();
        boolean whole = out.isContiguous();
        long bits = address(out);
        for (int i = 0; i < inputs; i++) {
            BufferView in = command.inputs().get(i);
            whole &= in.isContiguous();
            bits |= address(in);
            scratch.word(56 + 8L * i, address(in));
            scratch.word(56 + 8L * MAX_INPUTS + 8L * i, in.pitch());
        }
        ReduceOp op = command.op();
        int inputType = KernelNumbers.of(command.inputs().getFirst().type());
        int outputType = KernelNumbers.of(out.type());
        if (whole) {
            columns *= rows;
            rows = 1;
        }
        scratch.word(0, address(out));
        scratch.word(8, out.pitch());
        scratch.word(16, rows);
        scratch.word(24, columns);
        scratch.integer(32, inputs);
        scratch.integer(36, KernelNumbers.of(op));
        float factor = op.kind() == ReduceOp.Kind.AVG ? 1f / inputs : op.scale();
        scratch.integer(40, Float.floatToRawIntBits(factor));
        scratch.integer(44, inputType);
        scratch.integer(48, outputType);
        scratch.integer(52, whole ? 1 : 0);
        boolean half = inputType == 1 || inputType == 2;
        if (whole && half && inputType == outputType && op.kind() == ReduceOp.Kind.SUM && (bits & 15) == 0) {
            launch(KernelModule.Entry.SUM_WIDE, blocks(Math.ceilDiv(columns, 8)), stream, scratch);
        } else {
            launch(KernelModule.Entry.REDUCE, blocks(rows * columns), stream, scratch);
        }
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
        Scratch scratch = Scratch.mine();
        scratch.word(0, destination);
        scratch.word(8, source);
        scratch.word(16, destinationPitch);
        scratch.word(24, sourcePitch);
        scratch.word(32, width);
        scratch.word(40, rows);
        long all = destination | source | width | (rows > 1 ? destinationPitch | sourcePitch : 0);
        if ((all & 15) == 0) {
            launch(KernelModule.Entry.COPY_WIDE, blocks(width / 16 * rows), stream, scratch);
        } else {
            launch(KernelModule.Entry.COPY_BYTES, blocks(width * rows), stream, scratch);
        }
    }

    @Override
    public void gemm(Command.Gemm command, long stream) {
        Scratch scratch = Scratch.mine();
        BufferView c = command.c();
        BufferView a = command.a();
        BufferView b = command.b();
        scratch.word(0, address(c));
        scratch.word(8, address(a));
        scratch.word(16, address(b));
        scratch.word(24, command.m());
        scratch.word(32, command.n());
        scratch.word(40, command.k());
        steps(scratch, 48, c, false);
        steps(scratch, 64, a, command.transposeA());
        steps(scratch, 80, b, command.transposeB());
        scratch.word(96, command.strideC());
        scratch.word(104, command.strideA());
        scratch.word(112, command.strideB());
        scratch.integer(120, Float.floatToRawIntBits(command.alpha()));
        scratch.integer(124, Float.floatToRawIntBits(command.beta()));
        scratch.integer(128, KernelNumbers.of(a.type()));
        scratch.integer(132, KernelNumbers.of(c.type()));
        scratch.word(POINTER, scratch.address());
        module.launch(
                KernelModule.Entry.GEMM,
                Math.toIntExact(Math.ceilDiv(command.n(), TILE)),
                Math.toIntExact(Math.ceilDiv(command.m(), TILE)),
                command.batch(),
                TILE,
                TILE,
                stream,
                scratch.address() + POINTER);
    }

    /** Elements from row to row and from column to column of op(view). */
    private static void steps(Scratch scratch, long at, BufferView view, boolean transposed) {
        boolean rowMajor = view.layout() == MatrixLayout.ROW_MAJOR;
        long row = rowMajor ? view.pitch() : 1;
        long column = rowMajor ? 1 : view.pitch();
        scratch.word(at, transposed ? column : row);
        scratch.word(at + 8, transposed ? row : column);
    }
}

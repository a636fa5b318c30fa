// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ErrorCode;
import io.weft.api.MatrixLayout;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.cuda.ffi.CudaDriverApi;
import io.weft.cuda.ffi.Scratch;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Our own kernels on one device: reductions, copies by compute units, and products which the vendor's library refuses. The text is PTX, made from weft_kernels.cu; the driver compiles it for the
 * device when a platform is opened. Offsets of arguments are those of the structures in that file.
 */
final class Kernels {
    static final int MAX_INPUTS = 64;

    private static final int THREADS = 256;
    /** Blocks for each compute unit: enough to keep memory busy. */
    private static final int BLOCKS_PER_UNIT = 8;

    private static final int TILE = 16;
    /** Where the pointer to a kernel's one argument stands in the scratch memory, behind the largest argument. */
    private static final long POINTER = 1536;

    private final CudaDriverApi driver;
    private final int maxBlocks;
    private final long module;
    private final long reduce;
    private final long sumWide;
    private final long copyWide;
    private final long copyBytes;
    private final long gemm;

    /** Loads the kernels. The device is current. */
    Kernels(CudaDriverApi driver, int computeUnits) {
        this.driver = driver;
        this.maxBlocks = Math.max(1, computeUnits) * BLOCKS_PER_UNIT;
        try (Arena arena = Arena.ofConfined()) {
            module = driver.load(text(arena));
            reduce = driver.function(module, arena.allocateFrom("weft_reduce"));
            sumWide = driver.function(module, arena.allocateFrom("weft_sum_wide"));
            copyWide = driver.function(module, arena.allocateFrom("weft_copy_wide"));
            copyBytes = driver.function(module, arena.allocateFrom("weft_copy_bytes"));
            gemm = driver.function(module, arena.allocateFrom("weft_gemm"));
        }
    }

    private static MemorySegment text(Arena arena) {
        try (InputStream in = Kernels.class.getResourceAsStream("/io/weft/cuda/weft_kernels.ptx")) {
            if (in == null) {
                throw new AcceleratorException(
                        ErrorCode.INTERNAL, "load kernels", "weft_kernels.ptx is not in the module");
            }
            byte[] bytes = in.readAllBytes();
            MemorySegment text = arena.allocate(bytes.length + 1L);
            MemorySegment.copy(bytes, 0, text, ValueLayout.JAVA_BYTE, 0, bytes.length);
            return text;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    void close() {
        driver.unload(module);
    }

    private int blocks(long items) {
        return Math.clamp(Math.ceilDiv(items, THREADS), 1, maxBlocks);
    }

    private void launch(long function, int blocks, long stream, Scratch scratch) {
        scratch.word(POINTER, scratch.address());
        driver.launch(function, blocks, 1, 1, THREADS, 1, stream, scratch.address() + POINTER);
    }

    static long address(BufferView view) {
        return ((Buffer) view.memory()).address() + view.offset();
    }

    void reduce(Command.Reduce command, long stream) {
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
        int inputType = Types.kernel(command.inputs().getFirst().type());
        int outputType = Types.kernel(out.type());
        if (whole) {
            columns *= rows;
            rows = 1;
        }
        scratch.word(0, address(out));
        scratch.word(8, out.pitch());
        scratch.word(16, rows);
        scratch.word(24, columns);
        scratch.integer(32, inputs);
        scratch.integer(36, Types.kernel(op));
        float factor = op.kind() == ReduceOp.Kind.AVG ? 1f / inputs : op.scale();
        scratch.integer(40, Float.floatToRawIntBits(factor));
        scratch.integer(44, inputType);
        scratch.integer(48, outputType);
        scratch.integer(52, whole ? 1 : 0);
        boolean half = inputType == 1 || inputType == 2;
        if (whole && half && inputType == outputType && op.kind() == ReduceOp.Kind.SUM && (bits & 15) == 0) {
            launch(sumWide, blocks(Math.ceilDiv(columns, 8)), stream, scratch);
        } else {
            launch(reduce, blocks(rows * columns), stream, scratch);
        }
    }

    /** Copies a rectangle of bytes by compute units. */
    void copy(
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
            launch(copyWide, blocks(width / 16 * rows), stream, scratch);
        } else {
            launch(copyBytes, blocks(width * rows), stream, scratch);
        }
    }

    /** A product, slowly but of any types, layouts and alignment. */
    void gemm(Command.Gemm command, long stream) {
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
        scratch.integer(128, Types.kernel(a.type()));
        scratch.integer(132, Types.kernel(c.type()));
        scratch.word(POINTER, scratch.address());
        driver.launch(
                gemm,
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

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import io.weft.api.ElementType;
import io.weft.api.numeric.Elements;
import io.weft.api.numeric.HostMatrix;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * {@code C = alpha * A * B + beta * C} on host memory, for any strides, in parallel.
 *
 * <p><b>The numbers are a contract.</b> Every element of C is
 *
 * <ol>
 *   <li>{@code acc = 0}, then {@code acc = fma(A[i][k], B[k][j], acc)} in fp32 for k = 0 to K-1, in this order. For int8 inputs:
 *       {@code acc = acc + A[i][k] * B[k][j]} in wrapping int32.
 *   <li>{@code alpha * acc} if beta is 0 (C is then not read, so a NaN in it has no effect), else {@code fma(beta, C[i][j], alpha *
 *       acc)}, in fp32 (an int32 acc is converted to fp32 first). For int32 output both factors are whole numbers and the arithmetic
 *       wraps in int32.
 *   <li>ONE rounding to C's type; a NaN becomes {@code type.encode(Float.NaN)} whatever its payload.
 * </ol>
 *
 * There is no special case for alpha 0. Tiles, threads, vector width and the split of M, N or the batch into several calls do not show in
 * the result: a product computed in row or column chunks is bit for bit the one computed at once. Splitting K is not: each part
 * rounds to C's type.
 *
 * <p>Inputs: any two floating types, which may differ, or int8 with int8. Output: any floating type, or int32 for int8 inputs. C
 * must not overlap A or B. Thread-safe; scratch memory (at most about 24 MiB for a call) is kept for the next call.
 */
public final class Gemm {
    /** Elements of packed A, of packed B and of accumulators that one pass holds at most: 8 MiB each stay near the last cache. */
    private static final int PASS_ELEMENTS = 2 << 20;

    private static final int PASS_ROWS = 1536;

    /**
     * Depth of one run of the register tile. A panel of B (16 x 256 x 4 B = 16 KiB) stays in L1 with a panel of A (5 KiB). For int8 it
     * must not exceed 1024: a sum of 1024 products of at most 2^14 is at most 2^24, which fp32 holds exactly.
     */
    private static final int DEPTH = 256;

    /** Rows and columns of the block that one task computes; its part of A and B for one DEPTH stays in L2. */
    private static final int BLOCK_ROWS = 120;

    private static final int BLOCK_COLUMNS = 256;

    /** Below this many multiplications a call does not wake other threads; about 20 microseconds of work. */
    private static final long SERIAL_WORK = 1 << 20;

    /** Elements that one packing task converts. */
    private static final int PACK_ELEMENTS = 16 << 10;

    private final ComputePool pool;
    private final Lanes lanes;
    private final PanelPacker packer;
    private final int tileRows;
    private final int tileColumns;
    private final ConcurrentLinkedDeque<Workspace> idle = new ConcurrentLinkedDeque<>();

    /** Multiplies on a pool, with the fastest inner loops that this JVM has. */
    public Gemm(ComputePool pool) {
        this(pool, Lanes.fastest());
    }

    Gemm(ComputePool pool, Lanes lanes) {
        this.pool = pool;
        this.lanes = lanes;
        this.packer = new PanelPacker(lanes);
        this.tileRows = lanes.tileRows();
        this.tileColumns = lanes.tileColumns();
    }

    /**
     * Multiplies and returns when C is written.
     *
     * @param a {@code [M, K]}; transpose with {@link HostMatrix#transposed()}
     * @param b {@code [K, N]}
     * @param c {@code [M, N]}; its batch is that of the call, and A and B have the same
     * @throws IllegalArgumentException if shapes or element types do not fit each other
     */
    public void multiply(float alpha, HostMatrix a, HostMatrix b, float beta, HostMatrix c) {
        check(alpha, a, b, beta, c);
        long work = (long) c.rows() * c.columns() * Math.max(1, a.columns());
        if (c.rows() == 0 || c.columns() == 0) {
            return;
        }
        if (c.batch() > 1 && work < SERIAL_WORK * pool.lanes()) {
            // Small products: one task each. Several per task where they are tiny, so that a task is worth its
            // hand-over.
            int group = Math.clamp(SERIAL_WORK / 8 / work, 1, c.batch());
            pool.run((c.batch() + group - 1) / group, (task, lane) -> {
                Workspace space = take();
                for (int entry = task * group; entry < Math.min(c.batch(), (task + 1) * group); entry++) {
                    product(alpha, a, b, beta, c, entry, space, false);
                }
                idle.push(space);
            });
            return;
        }
        Workspace space = take();
        for (int entry = 0; entry < c.batch(); entry++) {
            product(alpha, a, b, beta, c, entry, space, work >= SERIAL_WORK);
        }
        idle.push(space);
    }

    private static void check(float alpha, HostMatrix a, HostMatrix b, float beta, HostMatrix c) {
        if (a.columns() != b.rows() || a.rows() != c.rows() || b.columns() != c.columns()) {
            throw new IllegalArgumentException("gemm of [" + a.rows() + ", " + a.columns() + "] by [" + b.rows() + ", "
                    + b.columns() + "] into [" + c.rows() + ", " + c.columns() + "]: these do not fit");
        }
        if (a.batch() != c.batch() || b.batch() != c.batch()) {
            throw new IllegalArgumentException(
                    "gemm batches differ: A has " + a.batch() + ", B " + b.batch() + ", C " + c.batch());
        }
        boolean integer = a.type() == ElementType.INT8 && b.type() == ElementType.INT8;
        if (!integer && !(a.type().isFloating() && b.type().isFloating())) {
            throw new IllegalArgumentException(
                    "gemm inputs are floating types, or int8 both, not " + a.type() + " and " + b.type());
        }
        if (!c.type().isFloating() && !(integer && c.type() == ElementType.INT32)) {
            throw new IllegalArgumentException("gemm of " + a.type() + " inputs cannot write " + c.type()
                    + "; it writes a floating type, or int32 from int8");
        }
        if (c.type() == ElementType.INT32 && (alpha != (int) alpha || beta != (int) beta)) {
            throw new IllegalArgumentException(
                    "alpha " + alpha + " and beta " + beta + " must be whole numbers for an int32 result");
        }
    }

    private Workspace take() {
        Workspace space = idle.poll();
        return space != null ? space : new Workspace(pool.lanes(), lanes);
    }

    /** One matrix product: passes over (columns, rows, depth), each packs its operands and then computes its blocks. */
    private void product(
            float alpha,
            HostMatrix a,
            HostMatrix b,
            float beta,
            HostMatrix c,
            int entry,
            Workspace space,
            boolean parallel) {
        int m = c.rows();
        int n = c.columns();
        int k = a.columns();
        // The register tile is much wider than high. The transposed problem, C' = B' A', gives the same bits (a product
        // does not
        // depend on the order of its factors), so take the way round that wastes less of the tile, or else writes C
        // along its rows.
        long straight = (long) roundUp(m, tileRows) * roundUp(n, tileColumns);
        long turned = (long) roundUp(n, tileRows) * roundUp(m, tileColumns);
        boolean alongRows = c.columnStride() == 1 || c.rowStride() != 1;
        boolean turn = alongRows ? turned * 5 < straight * 4 : turned * 4 <= straight * 5;
        Operands x = turn
                ? new Operands(alpha, b.transposed(), a, beta, c.transposed(), entry)
                : new Operands(alpha, a, b.transposed(), beta, c, entry);
        int rows = turn ? n : m;
        int columns = turn ? m : n;

        int passRows = Math.min(roundUp(rows, tileRows), roundUp(PASS_ROWS, tileRows));
        int passColumns = Math.min(roundUp(columns, tileColumns), roundUp(PASS_ROWS, tileColumns));
        // A pass that is narrow in rows or columns may be long in depth.
        int deepest = PASS_ELEMENTS / Math.max(passRows, passColumns);
        int passDepth = Math.max(DEPTH, roundUp(Math.min(k, deepest - DEPTH), DEPTH));
        for (int column = 0; column < columns; column += passColumns) {
            for (int row = 0; row < rows; row += passRows) {
                int depth = 0;
                do {
                    Pass pass = new Pass(
                            x,
                            row,
                            Math.min(passRows, rows - row),
                            column,
                            Math.min(passColumns, columns - column),
                            depth,
                            Math.min(passDepth, k - depth),
                            k,
                            space);
                    boolean packB = row == 0 || passDepth < k;
                    boolean packA = column == 0 || passDepth < k || passRows < rows;
                    pass.run(packA, packB, parallel);
                    depth += passDepth;
                } while (depth < k);
            }
        }
    }

    private static int roundUp(int value, int unit) {
        return (value + unit - 1) / unit * unit;
    }

    /** One product {@code C = alpha * A * right' + beta * C}; both operands have the depth along their rows. */
    private record Operands(float alpha, HostMatrix a, HostMatrix right, float beta, HostMatrix c, int entry) {}

    /** Scratch memory of one call. Grows and is then reused. */
    private static final class Workspace {
        private float[] packedA = new float[0];
        private float[] packedB = new float[0];
        private float[] sums = new float[0];
        private int[] integers = new int[0];
        private final Scratch[] lanes;

        Workspace(int count, Lanes inner) {
            lanes = new Scratch[count];
            for (int i = 0; i < count; i++) {
                lanes[i] = new Scratch(inner);
            }
        }

        void reserve(int a, int b, int c, boolean integer) {
            if (packedA.length < a) {
                packedA = new float[a];
            }
            if (packedB.length < b) {
                packedB = new float[b];
            }
            if (sums.length < c) {
                sums = new float[c];
            }
            if (integer && integers.length < c) {
                integers = new int[c];
            }
        }
    }

    private static final class Scratch {
        private final PanelPacker.Scratch packing;
        private final float[] run = new float[BLOCK_COLUMNS];
        private final float[] old = new float[BLOCK_COLUMNS];
        private final int[] whole = new int[BLOCK_COLUMNS];
        private float[] panels = new float[0];

        Scratch(Lanes lanes) {
            packing = new PanelPacker.Scratch(lanes);
        }

        float[] panels(int size) {
            if (panels.length < size) {
                panels = new float[size];
            }
            return panels;
        }
    }

    private final class Pass {
        private final Operands x;
        private final int row;
        private final int rows;
        private final int column;
        private final int columns;
        private final int depthAt;
        private final int depth;
        private final boolean first;
        private final boolean last;
        private final boolean integer;
        private final Workspace space;
        private final int rowPanels;
        private final int columnPanels;

        Pass(Operands x, int row, int rows, int column, int columns, int depthAt, int depth, int k, Workspace space) {
            this.x = x;
            this.row = row;
            this.rows = rows;
            this.column = column;
            this.columns = columns;
            this.depthAt = depthAt;
            this.depth = depth;
            this.first = depthAt == 0;
            this.last = depthAt + depth >= k;
            this.integer = x.a.type() == ElementType.INT8;
            this.space = space;
            this.rowPanels = (rows + tileRows - 1) / tileRows;
            this.columnPanels = (columns + tileColumns - 1) / tileColumns;
        }

        void run(boolean packA, boolean packB, boolean parallel) {
            int blockRows = Math.max(1, BLOCK_ROWS / tileRows);
            int blockColumns = Math.max(1, BLOCK_COLUMNS / tileColumns);
            // Smaller blocks where the whole gives too few to share evenly.
            int wanted = parallel ? 4 * pool.lanes() : 1;
            while (tasks(blockRows, blockColumns) < wanted && blockRows * blockColumns > 4) {
                boolean flat = blockRows * tileRows < blockColumns * tileColumns;
                if (blockColumns == 1 || (blockRows > 1 && !flat)) {
                    blockRows = (blockRows + 1) / 2;
                } else {
                    blockColumns = (blockColumns + 1) / 2;
                }
            }
            int high = blockRows;
            int wide = blockColumns;
            // With one block from top to bottom each part of B is used by one task only, which can pack it as it goes.
            boolean lazy = high >= rowPanels;
            space.reserve(
                    rowPanels * tileRows * depth,
                    lazy ? 0 : columnPanels * tileColumns * depth,
                    rowPanels * tileRows * columnPanels * tileColumns,
                    integer);
            packShared(packA, packB && !lazy, parallel);
            int across = (columnPanels + wide - 1) / wide;
            forEach(tasks(high, wide), parallel, (task, lane) -> {
                int rowPanel = task / across * high;
                int columnPanel = task % across * wide;
                compute(
                        rowPanel,
                        Math.min(rowPanels, rowPanel + high),
                        columnPanel,
                        Math.min(columnPanels, columnPanel + wide),
                        lazy,
                        space.lanes[lane]);
            });
        }

        private void packShared(boolean packA, boolean packB, boolean parallel) {
            if (depth == 0) {
                return;
            }
            // A task packs some tens of KiB, and of B at least eight panels: they lie side by side in memory.
            int groupA = Math.clamp(PACK_ELEMENTS / (tileRows * depth), 1, rowPanels);
            int groupB = Math.clamp(PACK_ELEMENTS / (tileColumns * depth), Math.min(8, columnPanels), columnPanels);
            int tasksA = packA ? (rowPanels + groupA - 1) / groupA : 0;
            int tasksB = packB ? (columnPanels + groupB - 1) / groupB : 0;
            forEach(tasksA + tasksB, parallel, (task, lane) -> {
                PanelPacker.Scratch scratch = space.lanes[lane].packing;
                if (task < tasksA) {
                    int panel = task * groupA;
                    int pitch = tileRows * depth;
                    packer.pack(
                            x.a,
                            x.entry,
                            row,
                            rows,
                            tileRows,
                            panel,
                            Math.min(rowPanels, panel + groupA),
                            depthAt,
                            depth,
                            space.packedA,
                            panel * pitch,
                            pitch,
                            scratch);
                } else {
                    int panel = (task - tasksA) * groupB;
                    int pitch = tileColumns * depth;
                    packB(
                            panel,
                            Math.min(columnPanels, panel + groupB),
                            0,
                            depth,
                            space.packedB,
                            panel * pitch,
                            pitch,
                            scratch);
                }
            });
        }

        private void packB(
                int panel, int end, int from, int size, float[] to, int at, int pitch, PanelPacker.Scratch scratch) {
            packer.pack(
                    x.right,
                    x.entry,
                    column,
                    columns,
                    tileColumns,
                    panel,
                    end,
                    depthAt + from,
                    size,
                    to,
                    at,
                    pitch,
                    scratch);
        }

        private int tasks(int blockRows, int blockColumns) {
            return ((rowPanels + blockRows - 1) / blockRows) * ((columnPanels + blockColumns - 1) / blockColumns);
        }

        private void forEach(int count, boolean parallel, ComputePool.Task task) {
            if (parallel) {
                pool.run(count, task);
            } else {
                for (int i = 0; i < count; i++) {
                    task.run(i, 0);
                }
            }
        }

        private void compute(int rowPanel, int rowEnd, int columnPanel, int columnEnd, boolean lazy, Scratch scratch) {
            float[] sums = space.sums;
            int tile = tileRows * tileColumns;
            float[] packedB = lazy ? scratch.panels(DEPTH * tileColumns * (columnEnd - columnPanel)) : space.packedB;
            for (int p = 0; p < depth; p += DEPTH) {
                int size = Math.min(DEPTH, depth - p);
                boolean fresh = integer || (first && p == 0);
                if (lazy) {
                    packB(columnPanel, columnEnd, p, size, packedB, 0, size * tileColumns, scratch.packing);
                }
                for (int j = columnPanel; j < columnEnd; j++) {
                    int b = lazy ? (j - columnPanel) * size * tileColumns : (j * depth + p) * tileColumns;
                    for (int i = rowPanel; i < rowEnd; i++) {
                        int c = (i * columnPanels + j) * tile;
                        if (fresh) {
                            Arrays.fill(sums, c, c + tile, 0f);
                        }
                        lanes.tile(space.packedA, (i * depth + p) * tileRows, packedB, b, size, sums, c);
                        if (integer) {
                            addExact(sums, space.integers, c, tile, first && p == 0);
                        }
                    }
                }
            }
            if (depth == 0) {
                for (int i = rowPanel; i < rowEnd; i++) {
                    int c = (i * columnPanels + columnPanel) * tile;
                    int end = (i * columnPanels + columnEnd) * tile;
                    Arrays.fill(sums, c, end, 0f);
                    if (integer) {
                        Arrays.fill(space.integers, c, end, 0);
                    }
                }
            }
            if (last) {
                write(rowPanel, rowEnd, columnPanel, columnEnd, scratch);
            }
        }

        private void write(int rowPanel, int rowEnd, int columnPanel, int columnEnd, Scratch scratch) {
            int firstColumn = columnPanel * tileColumns;
            int count = Math.min(columns, columnEnd * tileColumns) - firstColumn;
            int lastRow = Math.min(rows, rowEnd * tileRows);
            for (int i = rowPanel * tileRows; i < lastRow; i++) {
                int at = (i / tileRows * columnPanels + columnPanel) * tileRows * tileColumns
                        + i % tileRows * tileColumns;
                long offset = x.c.address(x.entry, row + i, column + firstColumn);
                if (x.c.type() == ElementType.INT32) {
                    writeIntegers(at, count, offset, scratch.whole);
                } else {
                    writeFloats(at, count, offset, scratch);
                }
            }
        }

        private void writeFloats(int at, int count, long offset, Scratch scratch) {
            float[] run = scratch.run;
            int tile = tileRows * tileColumns;
            for (int j = 0; j < count; j += tileColumns, at += tile) {
                int size = Math.min(tileColumns, count - j);
                if (integer) {
                    for (int i = 0; i < size; i++) {
                        run[j + i] = space.integers[at + i];
                    }
                } else {
                    System.arraycopy(space.sums, at, run, j, size);
                }
            }
            HostMatrix c = x.c;
            long stride = c.columnStride() * c.type().bytes();
            if (x.beta != 0f) {
                if (c.columnStride() == 1) {
                    lanes.decode(c.type(), c.memory(), offset, scratch.old, 0, count);
                } else {
                    PanelPacker.gather(c.type(), c.memory(), offset, stride, scratch.old, count);
                }
                lanes.scaleAdd(x.alpha, run, x.beta, scratch.old, count);
            } else if (x.alpha != 1f) {
                Lanes.scale(x.alpha, run, count);
            }
            if (c.columnStride() == 1) {
                lanes.encode(c.type(), run, 0, c.memory(), offset, count);
            } else {
                for (int j = 0; j < count; j++) {
                    float value = Float.isNaN(run[j]) ? Float.NaN : run[j];
                    Elements.put(
                            c.memory(), offset + j * stride, c.type(), c.type().encode(value));
                }
            }
        }

        private void writeIntegers(int at, int count, long offset, int[] run) {
            int alpha = (int) x.alpha;
            int beta = (int) x.beta;
            int tile = tileRows * tileColumns;
            for (int j = 0; j < count; j += tileColumns, at += tile) {
                System.arraycopy(space.integers, at, run, j, Math.min(tileColumns, count - j));
            }
            long stride = x.c.columnStride() * 4;
            MemorySegment memory = x.c.memory();
            for (int j = 0; j < count; j++) {
                int old = beta == 0 ? 0 : Elements.bits(memory, offset + j * stride, ElementType.INT32);
                Elements.put(memory, offset + j * stride, ElementType.INT32, alpha * run[j] + beta * old);
            }
        }
    }

    private static void addExact(float[] sums, int[] to, int at, int count, boolean first) {
        if (first) {
            for (int i = 0; i < count; i++) {
                to[at + i] = (int) sums[at + i];
            }
        } else {
            for (int i = 0; i < count; i++) {
                to[at + i] += (int) sums[at + i];
            }
        }
    }
}

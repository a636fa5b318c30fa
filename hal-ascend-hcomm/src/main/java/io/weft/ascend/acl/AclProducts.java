// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.GemmLibrary;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.nativehal.driver.GemmShape;
import io.weft.nativehal.driver.IssuePlace;
import io.weft.nativehal.ffi.Scratch;
import io.weft.spi.GemmTuningDriver;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Products by {@code aclnnMatmul}: one type, alpha 1 and beta 0; layouts and transposes are strides. An executor serves one launch, so every product asks for its own. */
final class AclProducts implements GemmLibrary {
    /** Types of operands, which are also those of the result. */
    static final Set<ElementType> TYPES = Set.of(ElementType.FP32, ElementType.FP16, ElementType.BF16);

    private static final int FORMAT_ND = 2;
    /** Keep the operands' own type. */
    private static final int KEEP_TYPE = 0;

    private final AclRuntime runtime;
    private final AclCalls calls;

    AclProducts(AclRuntime runtime) {
        this.runtime = runtime;
        this.calls = runtime.calls();
    }

    /** Whether all functions are there. */
    boolean isComplete() {
        return List.of(
                        AclFunction.CREATE_TENSOR,
                        AclFunction.DESTROY_TENSOR,
                        AclFunction.MATMUL_WORKSPACE,
                        AclFunction.MATMUL)
                .stream()
                .allMatch(function -> calls.libraries().find(function).isPresent());
    }

    @Override
    public long open() {
        return 1; // The library has no handle.
    }

    @Override
    public void close(long handle) {
        // Nor anything to release.
    }

    @Override
    public GemmPlan plan(long handle, GemmShape shape, long workspaceLimit) {
        boolean known = TYPES.contains(shape.operandType())
                && shape.resultType() == shape.operandType()
                && shape.alpha() == 1
                && shape.beta() == 0;
        return new Plan(known);
    }

    private void issue(Command.Gemm gemm, IssuePlace place) {
        runtime.join(place.handle());
        calls.on(() -> {
            for (int i = 0; i < gemm.batch(); i++) {
                product(gemm, i, place);
            }
            return null;
        });
    }

    private void product(Command.Gemm gemm, int index, IssuePlace place) {
        long a = tensor(gemm.a(), gemm.transposeA(), index * gemm.strideA());
        long b = tensor(gemm.b(), gemm.transposeB(), index * gemm.strideB());
        long c = tensor(gemm.c(), false, index * gemm.strideC());
        try {
            Scratch out = Scratch.mine();
            out.word(0, 0);
            out.word(8, 0);
            check(calls.direct(AclFunction.MATMUL_WORKSPACE, a, b, c, KEEP_TYPE, out.address(), out.address() + 8));
            long bytes = out.word(0);
            long executor = out.word(8);
            check(calls.direct(
                    AclFunction.MATMUL, bytes == 0 ? 0 : place.workspace(bytes), bytes, executor, place.handle()));
        } finally {
            calls.direct(AclFunction.DESTROY_TENSOR, a);
            calls.direct(AclFunction.DESTROY_TENSOR, b);
            calls.direct(AclFunction.DESTROY_TENSOR, c);
        }
    }

    private void check(int code) {
        if (code != 0) {
            throw calls.failure("gemm", code);
        }
    }

    /** A matrix as the product sees it; a transpose exchanges dimensions and strides. */
    private long tensor(BufferView view, boolean transpose, long offset) {
        boolean rowMajor = view.layout() == MatrixLayout.ROW_MAJOR;
        long rowStride = rowMajor ? view.pitch() : 1;
        long columnStride = rowMajor ? 1 : view.pitch();
        long lines = rowMajor ? view.rows() : view.columns();
        Scratch dims = Scratch.mine();
        // Above the results of the question that follows.
        long at = 64;
        dims.word(at, transpose ? view.columns() : view.rows());
        dims.word(at + 8, transpose ? view.rows() : view.columns());
        dims.word(at + 16, transpose ? columnStride : rowStride);
        dims.word(at + 24, transpose ? rowStride : columnStride);
        dims.word(at + 32, lines);
        dims.word(at + 40, view.pitch());
        long address = ((Buffer) view.memory()).address()
                + view.offset()
                + offset * view.type().bytes();
        return calls.createTensor(
                dims.address() + at,
                dims.address() + at + 16,
                dims.address() + at + 32,
                AclTypes.tensor(view.type()).orElseThrow(),
                FORMAT_ND,
                address);
    }

    /** How a shape is carried out: in one way, or not at all. */
    private final class Plan implements GemmPlan {
        private final boolean known;

        Plan(boolean known) {
            this.known = known;
        }

        @Override
        public boolean isNative() {
            return known;
        }

        @Override
        public List<GemmTuningDriver.Kernel> kernels() {
            return List.of();
        }

        @Override
        public Optional<String> chosen() {
            return Optional.empty();
        }

        @Override
        public boolean choose(String id) {
            return false;
        }

        @Override
        public void chooseDefault() {
            // There is one.
        }

        @Override
        public long workspaceBytes() {
            return 0;
        }

        @Override
        public void issue(Command.Gemm gemm, IssuePlace place) {
            AclProducts.this.issue(gemm, place);
        }

        @Override
        public void close() {
            // Nothing is kept.
        }
    }
}

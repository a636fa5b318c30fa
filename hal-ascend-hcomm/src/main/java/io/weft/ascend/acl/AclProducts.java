// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.ElementType;
import io.weft.api.graph.Command;
import io.weft.nativehal.driver.GemmLibrary;
import io.weft.nativehal.driver.GemmPlan;
import io.weft.nativehal.driver.GemmShape;
import io.weft.nativehal.driver.IssuePlace;
import io.weft.spi.GemmTuningDriver;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Products by {@code aclnnMatmul}: one type, alpha 1 and beta 0; layouts and transposes are strides. An executor serves one launch, so every product asks for its own. */
final class AclProducts implements GemmLibrary {
    /** Types of operands, which are also those of the result. */
    static final Set<ElementType> TYPES = Set.of(ElementType.FP32, ElementType.FP16, ElementType.BF16);

    private final AclRuntime runtime;
    private final AclOperators operators;

    AclProducts(AclRuntime runtime, AclOperators operators) {
        this.runtime = runtime;
        this.operators = operators;
    }

    /** Whether all functions are there. */
    boolean isComplete() {
        return List.of(
                        AclFunction.CREATE_TENSOR,
                        AclFunction.DESTROY_TENSOR,
                        AclFunction.MATMUL_WORKSPACE,
                        AclFunction.MATMUL)
                .stream()
                .allMatch(function -> runtime.calls().libraries().find(function).isPresent());
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
        for (int i = 0; i < gemm.batch(); i++) {
            operators.multiply(
                    AclMatrix.of(gemm.a(), gemm.transposeA(), i * gemm.strideA()),
                    AclMatrix.of(gemm.b(), gemm.transposeB(), i * gemm.strideB()),
                    AclMatrix.of(gemm.c(), false, i * gemm.strideC()),
                    place.handle());
        }
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

// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import java.util.List;
import org.junit.jupiter.api.Test;

class LayerProblemsTest {
    private static final TransformerModel LLAMA_3_70B =
            TransformerModel.dense("llama-3-70b", 80, 8192, 64, 8, 128, 28672);
    private static final TransformerModel MIXTRAL = TransformerModel.dense("mixtral-8x7b", 32, 4096, 32, 8, 128, 14336)
            .withExperts(new TransformerModel.Experts(8, 2, 14336, 0, 0));
    private static final TransformerModel DEEPSEEK_V3 = TransformerModel.dense(
                    "deepseek-v3", 61, 7168, 128, 128, 128, 18432)
            .withExperts(new TransformerModel.Experts(256, 8, 2048, 2048, 3))
            .withLatentAttention(new TransformerModel.LatentAttention(1536, 512, 128, 64, 128));

    private static List<String> shapes(TransformerModel model, Deployment deployment) {
        return LayerProblems.of(model, deployment).problems().stream()
                .map(p -> p.name() + " " + p.problem() + " x" + p.perLayer() + " in " + p.layers())
                .toList();
    }

    @Test
    void llama70bAtTensorParallel8HasTheSizesThatAReaderWorksOutByHand() {
        assertEquals(
                List.of(
                        "qkv all-gather-gemm m=8192 n=1280 k=8192 bf16 ranks=8 x1 in 80",
                        "attention-output gemm-reduce-scatter m=8192 n=8192 k=1024 bf16 ranks=8 x1 in 80",
                        "gate-up all-gather-gemm m=8192 n=7168 k=8192 bf16 ranks=8 x1 in 80",
                        "down gemm-reduce-scatter m=8192 n=8192 k=3584 bf16 ranks=8 x1 in 80"),
                shapes(LLAMA_3_70B, Deployment.tensorParallel(8192, 8, ElementType.BF16)));
    }

    @Test
    void withoutSequenceParallelismOnlyTheTwoOutputsCommunicate() {
        assertEquals(
                List.of(
                        "attention-output gemm-all-reduce m=512 n=8192 k=1024 bf16 ranks=8 x1 in 80",
                        "down gemm-all-reduce m=512 n=8192 k=3584 bf16 ranks=8 x1 in 80"),
                shapes(LLAMA_3_70B, new Deployment(512, 8, 1, false, ElementType.BF16, 0)));
    }

    @Test
    void keyAndValueHeadsFewerThanDevicesAreReplicated() {
        LayerProblem qkv = LayerProblems.of(LLAMA_3_70B, Deployment.tensorParallel(64, 16, ElementType.BF16))
                .problems()
                .getFirst();
        assertEquals((4 + 2) * 128, qkv.problem().n());
        assertEquals("each of the 8 key and value heads is held by 2 devices", qkv.note());
    }

    @Test
    void expertsOverDevicesExchangeTokensTimesTopK() {
        assertEquals(
                List.of(
                        "expert-dispatch all-to-all-gemm m=8192 n=28672 k=4096 bf16 ranks=4 groups=2 x1 in 32",
                        "expert-combine gemm-all-to-all m=8192 n=4096 k=14336 bf16 ranks=4 groups=2 x1 in 32"),
                shapes(MIXTRAL, new Deployment(4096, 1, 4, true, ElementType.BF16, 0)));
    }

    @Test
    void expertsWithoutExpertParallelismAreSplitLikeDenseBlocks() {
        List<String> shapes = shapes(MIXTRAL, Deployment.tensorParallel(4096, 8, ElementType.BF16));
        assertTrue(
                shapes.contains("expert-gate-up all-gather-gemm m=4096 n=7168 k=4096 bf16 ranks=8 x1 in 32"),
                shapes::toString);
        assertTrue(
                shapes.contains("expert-down gemm-reduce-scatter m=4096 n=4096 k=3584 bf16 ranks=8 x1 in 32"),
                shapes::toString);
        assertEquals(4, shapes.size());
    }

    @Test
    void deepSeekHasLatentAttentionDenseLayersSharedAndRoutedExperts() {
        assertEquals(
                List.of(
                        "qkv all-gather-gemm m=4096 n=2112 k=7168 bf16 ranks=8 x1 in 61",
                        "attention-output gemm-reduce-scatter m=4096 n=7168 k=2048 bf16 ranks=8 x1 in 61",
                        "gate-up all-gather-gemm m=4096 n=4608 k=7168 bf16 ranks=8 x1 in 3",
                        "down gemm-reduce-scatter m=4096 n=7168 k=2304 bf16 ranks=8 x1 in 3",
                        "expert-dispatch all-to-all-gemm m=32768 n=4096 k=7168 bf16 ranks=8 groups=32 x1 in 58",
                        "expert-combine gemm-all-to-all m=32768 n=7168 k=2048 bf16 ranks=8 groups=32 x1 in 58",
                        "shared-gate-up all-gather-gemm m=4096 n=512 k=7168 bf16 ranks=8 x1 in 58",
                        "shared-down gemm-reduce-scatter m=4096 n=7168 k=256 bf16 ranks=8 x1 in 58"),
                shapes(DEEPSEEK_V3, new Deployment(4096, 8, 8, true, ElementType.BF16, 0)));
    }

    @Test
    void aDegreeThatDoesNotDivideIsRefusedWithTheDegreesThatDo() {
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class,
                () -> LayerProblems.of(LLAMA_3_70B, Deployment.tensorParallel(64, 3, ElementType.BF16)));
        assertTrue(refusal.getMessage().endsWith("degrees that do: 1, 2, 4, 8, 16, 32, 64"), refusal::getMessage);
        assertThrows(
                AcceleratorException.class,
                () -> LayerProblems.of(MIXTRAL, new Deployment(64, 1, 3, true, ElementType.BF16, 0)));
        assertThrows(
                AcceleratorException.class,
                () -> LayerProblems.of(LLAMA_3_70B, new Deployment(64, 1, 2, true, ElementType.BF16, 0)));
    }

    @Test
    void oneDeviceHasNothingToOverlap() {
        assertEquals(List.of(), shapes(MIXTRAL, Deployment.tensorParallel(64, 1, ElementType.BF16)));
    }
}

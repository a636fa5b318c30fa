// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.sketch.SketchPlatform;
import io.weft.scheduler.TransformerModel;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScalingBenchTest {
    private static final TransformerModel MODEL = TransformerModel.dense("tiny", 4, 64, 2, 2, 32, 128);
    private static final Platform FOUR = SketchPlatform.ring(4, 50, "sketch");

    private static ScalingBench.Request request(Integer... devices) {
        return new ScalingBench.Request(MODEL, 1024, List.of(devices), 2, ElementType.BF16);
    }

    @Test
    void aLayersTimeIsItsProductsAndTheSumsThatAreNotHidden() {
        ScalingBench.Report report = new ScalingBench().run(FOUR, request(1, 2, 4), Progress.NONE);
        // 40960 weights: two products of 2 x 1024 x 40960 FLOP at 1 PFLOP/s, and 81920 bytes at 50 GB/s.
        double compute = 4.0 * 1024 * 40960 / 1e6;
        double sum = 81920 / 50.0;
        assertEquals(81920, report.gradientBytes());
        ScalingBench.Row alone = report.rows().getFirst();
        assertEquals(compute / 1e3, alone.us(), 1e-9);
        assertEquals(0, alone.exposed());
        ScalingBench.Row two = report.rows().get(1);
        assertEquals(
                (compute + 2 * sum) / 2 / 1e3, two.us(), 1e-9, "the first layer's sum outlasts the second's products");
        assertEquals(sum / 1e3, two.reduceUs(), 1e-9);
        assertEquals(1 - 2 * compute / (compute + 2 * sum), two.exposed(), 1e-9);
        assertEquals(alone.us() / two.us(), two.linearity(), 1e-9);
    }

    @Test
    void whatCannotBePredictedIsRefused() {
        assertThrows(AcceleratorException.class, () -> request(4, 2));
        assertThrows(AcceleratorException.class, () -> request());
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class, () -> new ScalingBench().run(FOUR, request(2, 8), Progress.NONE));
        assertTrue(refusal.detail().contains("8 devices are asked for"), refusal.detail());
    }
}

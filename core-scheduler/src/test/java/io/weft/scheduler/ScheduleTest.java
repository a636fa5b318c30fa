// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "serial",
                "serial/engine=copy-engine",
                "shard-p2p",
                "uniform-fused-1d/chunks=2",
                "hetero-fused-1d/chunks=8,streams=2",
                "hetero-unfused-1d/chunks=8,streams=4,engine=kernel,reduction=accumulate",
                "uniform-fused-2d/chunks=3",
                "cover-merge/cover=0.25",
                "cover-merge/streams=2,cover=0.75"
            })
    void theTextFormIsReadBack(String text) {
        Schedule schedule = Schedule.parse(text);
        assertEquals(text, schedule.toString());
        assertEquals(schedule, Schedule.parse(schedule.toString()));
    }

    @ParameterizedTest
    @EnumSource(Schedule.Kind.class)
    void everyKindHasDefaultsThatItsLabelGives(Schedule.Kind kind) {
        assertEquals(Schedule.of(kind), Schedule.parse(kind.label()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "fancy",
                "serial/",
                "hetero-fused-1d/chunks",
                "hetero-fused-1d/chunks=0",
                "hetero-fused-1d/chunks=many",
                "hetero-fused-1d/streams=-1",
                "hetero-fused-1d/engine=collective",
                "hetero-fused-1d/engine=warp",
                "cover-merge/cover=0",
                "cover-merge/cover=NaN",
                "cover-merge/cover=1.5",
                "shard-p2p/color=red"
            })
    void nonsenseIsRefusedInOneLine(String text) {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> Schedule.parse(text));
        assertFalse(refusal.getMessage().contains("\n"));
    }

    @Test
    void parametersWithoutMeaningDoNotMakeSchedulesDiffer() {
        assertEquals(Schedule.serial(), Schedule.serial().withChunks(7).withStreams(3));
        assertEquals(Schedule.of(Schedule.Kind.SHARD_P2P), Schedule.parse("shard-p2p/chunks=9,cover=0.1"));
    }

    @Test
    void onlyASplitInnerSumOrAnAccumulatedReductionChangesBits() {
        Schedule twoD = Schedule.of(Schedule.Kind.UNIFORM_FUSED_2D);
        assertFalse(twoD.keepsBits(Pattern.ALL_GATHER_GEMM));
        assertTrue(twoD.keepsBits(Pattern.GEMM_REDUCE_SCATTER));
        Schedule hetero = Schedule.of(Schedule.Kind.HETERO_FUSED_1D);
        assertTrue(hetero.keepsBits(Pattern.GEMM_REDUCE_SCATTER));
        assertFalse(hetero.withReduction(Reduction.ACCUMULATE).keepsBits(Pattern.GEMM_ALL_REDUCE));
        assertTrue(hetero.withReduction(Reduction.ACCUMULATE).keepsBits(Pattern.ALL_GATHER_GEMM));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Accelerators;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the FiCCO paper shows of overlap on eight devices, at three of its GEMMs with N over the ranks: g2, g5 and g14. */
class FiccoPictureTest {
    @ParameterizedTest
    @CsvSource({"131072, 16384, 16384", "8192, 8192, 262144", "147456, 28672, 4096"})
    void wholeShardsFromOnePeerLoseOnAMeshAndNotAtASwitchAndNothingBeatsTheIdeal(long m, long n, long k) {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, m, n / 8, k, ElementType.BF16, 8);
        for (String uri : new String[] {"sim:mesh-8", "sim:switch-8"}) {
            try (Platform platform = Accelerators.discover().open(uri + "?mode=timing")) {
                Selection selection = new ModelSelector(platform).select(problem);
                OverlapMetrics best = selection.metrics().orElseThrow();
                double shards = 0;
                for (Selection.Candidate candidate : selection.candidates()) {
                    assertTrue(candidate.speedup() <= best.idealSpeedup(), () -> uri + ": " + candidate);
                    if (candidate.schedule().kind() == Schedule.Kind.SHARD_P2P) {
                        shards = Math.max(shards, candidate.speedup());
                    }
                }
                boolean mesh = uri.equals("sim:mesh-8");
                assertTrue(mesh ? shards < 0.5 : shards > 1.2, uri + ": shard-p2p " + shards);
                assertTrue(best.speedup() > 1.4 && best.speedup() < 2, uri + ": best " + best.speedup());
            }
        }
    }
}

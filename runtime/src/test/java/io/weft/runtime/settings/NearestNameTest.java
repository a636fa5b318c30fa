// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class NearestNameTest {
    @Test
    void aSwapOfNeighboursIsOneEdit() {
        assertEquals(1, NearestName.edits("sede", "seed"));
        assertEquals(0, NearestName.edits("seed", "seed"));
        assertEquals(4, NearestName.edits("", "seed"));
        assertEquals(3, NearestName.edits("kitten", "sitting"));
    }

    @Test
    void theNearestOfSeveralIsNamed() {
        assertEquals(Optional.of("plan.select"), NearestName.of("plan.selct", List.of("plan.threads", "plan.select")));
    }

    @Test
    void aNameFarFromAllIsNotGuessed() {
        assertEquals(Optional.empty(), NearestName.of("weather", List.of("plan.select", "progress")));
    }
}

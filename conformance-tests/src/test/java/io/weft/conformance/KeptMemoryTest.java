// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.weft.conformance.mutants.KeptMemory;
import io.weft.conformance.mutants.Mutant;
import io.weft.conformance.mutants.MutantProvider;
import io.weft.sim.provider.SimProvider;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Memory that a backend keeps once is allowed; {@link MutantsTest} shows that memory taken each time is not. */
class KeptMemoryTest {
    /** Rules that look at free memory. LIF-003 and the rules about memory open no streams. */
    private static final List<String> RULES =
            List.of("LIF-001", "LIF-003", "LIF-004", "LIF-005", "LIF-006", "LIF-007", "LIF-008", "LIF-016", "STR-001");

    @Test
    void aBackendMayKeepMemoryOfItsFirstStreams() {
        RunOptions options =
                RunOptions.defaults().withSeed(1).withFigures(false).withRules(RULES);
        Report report = Conformance.run(
                Subject.of(new MutantProvider(new SimProvider(), new KeptMemory()), Mutant.MESH, List.of()), options);
        Set<String> bad = report.verdicts().stream()
                .filter(verdict -> verdict.outcome() != Outcome.PASSED)
                .map(Verdict::text)
                .collect(Collectors.toSet());
        assertEquals(Set.of(), bad);
    }
}

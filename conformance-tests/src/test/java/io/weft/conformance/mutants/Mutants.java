// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import java.util.List;
import java.util.stream.Stream;

/** All mutants, by area. */
public final class Mutants {
    private static final List<Mutant> ALL = Stream.of(
                    DeviceMutants.ALL,
                    MemoryMutants.ALL,
                    StreamMutants.ALL,
                    EventMutants.ALL,
                    CopyMutants.ALL,
                    GemmMutants.ALL,
                    GraphMutants.ALL,
                    CollectiveMutants.ALL,
                    SymmetricMemoryMutants.ALL,
                    TopologyMutants.ALL,
                    ErrorMutants.ALL,
                    LifetimeMutants.ALL,
                    ProviderMutants.ALL)
            .flatMap(List::stream)
            .toList();

    private Mutants() {}

    /** All of them. */
    public static List<Mutant> all() {
        return ALL;
    }

    /** Ends what mutants left running. */
    public static void end() {
        LifetimeMutants.end();
    }
}

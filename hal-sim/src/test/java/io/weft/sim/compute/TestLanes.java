// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.util.stream.Stream;

/** Both sets of inner loops; the build starts the tests with the Vector API, and its absence is an error here. */
final class TestLanes {
    private TestLanes() {}

    static Stream<Lanes> all() {
        return Stream.of(assertInstanceOf(VectorLanes.class, Lanes.fastest()), new ScalarLanes());
    }
}

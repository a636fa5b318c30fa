// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.Event;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;

/** Proofs of the rules about events. */
final class EventProofs {
    @Proves("EVT-001")
    void aFreshEventIsComplete(Bench bench) {
        Event event = bench.event(bench.device());
        bench.that(event.driver().query(), "a fresh event to be complete", "query says that it is not");
        event.driver().synchronize();
    }
}

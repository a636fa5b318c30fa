// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;

/** Proofs of the rules about topology. */
final class TopologyProofs {
    @Proves("TOP-001")
    void theTopologyHasEveryDevice(Bench bench) {
        bench.equal(
                "the number of devices in the topology",
                bench.driver().devices().size(),
                bench.driver().topology().devices());
    }
}

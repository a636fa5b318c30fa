// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.proofs;

import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.conformance.Proves;
import io.weft.conformance.bench.Bench;
import java.util.Map;

/** Proofs of the rules about providers and discovery. */
final class ProviderProofs {
    @Proves("PRV-001")
    void anUnknownTargetIsNotFound(Bench bench) {
        PlatformUri unknown = new PlatformUri(bench.subject().uri().provider(), "no-such-target", Map.of());
        bench.refuses(
                "opening " + unknown,
                () -> bench.subject().provider().open(unknown).close(),
                ErrorCode.NOT_FOUND);
    }
}

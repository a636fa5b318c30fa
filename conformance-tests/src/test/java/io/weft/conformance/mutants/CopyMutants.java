// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import java.util.List;

/** Mutants that break a rule of their area. */
final class CopyMutants {
    static final List<Mutant> ALL = List.of();

    private CopyMutants() {}
}

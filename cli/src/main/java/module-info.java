// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code weft} command: planning, running, reports and plots.
 *
 * <p>Nobody depends on it, so it exports nothing.
 *
 * <ul>
 *   <li>Requires the runtime, which brings the whole library.
 *   <li>Requires the conformance suite for {@code weft conform}.
 *   <li>Requires picocli for commands and Jackson for {@code --json}.
 *   <li>Opens {@code io.weft.cli} to picocli, which fills annotated fields by reflection.
 * </ul>
 */
module io.weft.cli {
    requires info.picocli;
    requires io.weft.conformance;
    requires io.weft.runtime;
    requires tools.jackson.databind;

    opens io.weft.cli to
            info.picocli;
}

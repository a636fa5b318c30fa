// SPDX-License-Identifier: Apache-2.0
/**
 * The conformance suite: numbered rules for backends, their proofs, and the runner that says which rule is broken.
 *
 * <p>Black box: it sees a backend through the API and the SPI alone and knows none by name.
 *
 * <ul>
 *   <li>Requires {@code io.weft.api} transitively: a plugin author hands a provider in.
 *   <li>Requires JUnit statically: {@link io.weft.conformance.ConformanceSuite} is found by it in a plugin's build; the command runs
 *       the suite without it.
 *   <li>Requires {@code java.logging} to see what a backend warns of.
 *   <li>Requires Jackson with its YAML format for the catalogue, waivers and the report.
 *   <li>Exports the suite's entry points; proofs and their bench are nobody else's business.
 * </ul>
 */
module io.weft.conformance {
    requires transitive io.weft.api;
    requires static org.junit.jupiter.api;
    requires java.logging;
    requires tools.jackson.databind;
    requires tools.jackson.dataformat.yaml;

    // Rules, waivers, one class to extend, one call to run.
    exports io.weft.conformance;
    // The graph fuzzer, and what its printed tests call.
    exports io.weft.conformance.graph;
    // What a run found, as files.
    exports io.weft.conformance.report;
}

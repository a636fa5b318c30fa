// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import io.weft.api.Platform;
import io.weft.conformance.graph.GraphFuzzer;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.settings.Catalogue;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** {@code weft conform --fuzz}: random command graphs on a backend and on the reference interpreter. */
final class GraphFuzz {
    private final ConformCommand command;
    private final int cases;

    GraphFuzz(ConformCommand command, int cases) {
        this.command = command;
        this.cases = cases;
    }

    /** Runs the graphs and prints what was found. */
    int run() {
        if (cases < 1) {
            throw AcceleratorException.invalid("conform", "--fuzz is " + cases + "; it must be at least 1 graph");
        }
        if (command.report != null
                || command.waivers != null
                || command.strict
                || !command.rules.isEmpty()
                || !command.profiles.isEmpty()) {
            throw AcceleratorException.invalid(
                    "conform",
                    "--fuzz goes with --on, --seed and --json alone; rules and their report are another run");
        }
        try (WeftRuntime runtime = WeftRuntime.start(command.weft.settings());
                Platform platform = runtime.accelerators().open(command.uri)) {
            PrintWriter out = command.spec.commandLine().getOut();
            ProgressBar progress = ProgressBar.on(
                    command.spec.commandLine().getErr(), runtime.settings().value(Catalogue.PROGRESS));
            progress.begin("graphs", cases);
            Optional<GraphFuzzer.Finding> found;
            try {
                found = GraphFuzzer.run(platform, command.uri, cases, command.seed, done -> progress.step(""));
            } finally {
                progress.end();
            }
            if (command.json) {
                Json.print(out, json(found));
            } else {
                print(found, out);
            }
            return found.isEmpty() ? ExitCode.GOOD : ExitCode.BAD_ANSWER;
        }
    }

    private void print(Optional<GraphFuzzer.Finding> found, PrintWriter out) {
        if (found.isEmpty()) {
            out.println(cases + " random graphs from seed " + command.seed + " on " + command.uri
                    + ": the backend gives what the reference gives, bit for bit.");
            return;
        }
        GraphFuzzer.Finding finding = found.get();
        out.println("Graph " + finding.number() + " of seed " + command.seed + " differs from the reference, run as "
                + finding.way() + "; " + finding.smallest().size() + " of its " + finding.nodesDrawn()
                + " nodes are enough.");
        out.println("  difference: " + finding.difference());
        out.println("  again:      weft conform --on " + command.uri + " --fuzz 1 --seed " + finding.seed());
        out.println("  as a test:");
        out.println();
        out.print(finding.test());
    }

    private Map<String, Object> json(Optional<GraphFuzzer.Finding> found) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("on", command.uri);
        map.put("graphs", cases);
        map.put("seed", command.seed);
        map.put("good", found.isEmpty());
        found.ifPresent(finding -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("graph", finding.number());
            one.put("seed", finding.seed());
            one.put("way", finding.way().name());
            one.put("nodes_drawn", finding.nodesDrawn());
            one.put("nodes_left", finding.smallest().size());
            one.put("difference", finding.difference());
            one.put("test", finding.test());
            map.put("finding", one);
        });
        return map;
    }
}

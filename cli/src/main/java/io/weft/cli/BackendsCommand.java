// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.ProviderVerdict;
import io.weft.runtime.WeftRuntime;
import io.weft.spi.Target;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft backends}: which backends there are, what each is worth here, and what it can open. */
@Command(
        name = "backends",
        mixinStandardHelpOptions = true,
        description = "Lists every backend with its verdict, and what it can open.")
final class BackendsCommand implements Callable<Integer> {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Override
    public Integer call() {
        try (WeftRuntime runtime = WeftRuntime.start(weft.settings())) {
            List<ProviderVerdict> verdicts = runtime.accelerators().verdicts();
            if (json) {
                Json.print(
                        spec.commandLine().getOut(),
                        Map.of(
                                "backends",
                                verdicts.stream().map(BackendsCommand::json).toList()));
            } else {
                print(verdicts, spec.commandLine().getOut());
            }
            if (Weft.isDebug(spec.commandLine())) {
                verdicts.stream()
                        .filter(verdict -> verdict.cause() != null)
                        .forEach(verdict -> verdict.cause()
                                .printStackTrace(spec.commandLine().getErr()));
            }
        }
        return ExitCode.GOOD;
    }

    private static void print(List<ProviderVerdict> verdicts, PrintWriter out) {
        TextTable table = new TextTable("backend", "verdict", "vendor", "version", "found in", "detail");
        for (ProviderVerdict verdict : verdicts) {
            boolean known = verdict.descriptor() != null;
            table.row(
                    verdict.id(),
                    verdict.state().name(),
                    known ? verdict.descriptor().vendor() : "-",
                    known ? verdict.descriptor().version() : "-",
                    verdict.origin(),
                    verdict.detail());
        }
        table.print(out);
        for (ProviderVerdict verdict : verdicts) {
            for (Target target : verdict.targets()) {
                out.println("  " + verdict.id() + ":" + target.name() + "  " + target.description());
            }
        }
        if (verdicts.isEmpty()) {
            out.println("no backend was found");
        }
    }

    private static Map<String, Object> json(ProviderVerdict verdict) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", verdict.id());
        row.put("verdict", verdict.state().name());
        row.put("detail", verdict.detail());
        row.put("origin", verdict.origin());
        if (verdict.descriptor() != null) {
            row.put("vendor", verdict.descriptor().vendor());
            row.put("description", verdict.descriptor().description());
            row.put("version", verdict.descriptor().version());
            row.put("spiVersion", verdict.descriptor().spiVersion().toString());
        }
        List<Map<String, Object>> targets = new ArrayList<>();
        for (Target target : verdict.targets()) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("uri", verdict.id() + ":" + target.name());
            entry.put("description", target.description());
            targets.add(entry);
        }
        row.put("targets", targets);
        return row;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.spi.EnvironmentCheck;
import io.weft.spi.HostFiles;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code weft doctor}: what is wrong with a machine's set-up. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Checks a machine's set-up: what was seen, why it matters and where that is written, and what to"
                + " do. It only reads, and works on the captured files of another machine.")
final class DoctorCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Option(
            names = "--root",
            paramLabel = "DIR",
            description = "Check the captured files in this folder, laid out as below /, instead of this machine.")
    Path root;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    /** By provider id; the plugins' own. */
    final Map<String, EnvironmentCheck> checks = new LinkedHashMap<>();

    @Override
    public Integer call() {
        List<String> chosen = checks.keySet().stream()
                .filter(provider -> PluginOptions.isSet(spec, "--" + provider))
                .toList();
        if (chosen.isEmpty()) {
            List<String> flags =
                    checks.keySet().stream().map(provider -> "--" + provider).toList();
            throw AcceleratorException.invalid(
                    "doctor",
                    flags.isEmpty()
                            ? "no plugin that was found checks anything; 'weft backends' lists them"
                            : "say what to check: " + String.join(", ", flags));
        }
        HostFiles host = root == null ? HostFiles.live() : HostFiles.captured(root);
        Map<String, List<Finding>> found = new LinkedHashMap<>();
        for (String provider : chosen) {
            found.put(provider, checks.get(provider).check(host));
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Json.print(out, json(host, found));
        } else {
            found.forEach((provider, findings) -> {
                out.println(provider + " on " + (host.isLive() ? "this machine" : host.root() + " (captured)") + ": "
                        + FindingPrinter.summary(findings));
                out.println();
                FindingPrinter.print(findings, out);
            });
        }
        return found.values().stream().anyMatch(FindingPrinter::isBad) ? ExitCode.BAD_ANSWER : ExitCode.GOOD;
    }

    private static Map<String, Object> json(HostFiles host, Map<String, List<Finding>> found) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("root", host.root().toString());
        report.put("live", host.isLive());
        List<Map<String, Object>> rows = new ArrayList<>();
        found.forEach((provider, findings) -> {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("provider", provider);
            row.put("findings", findings.stream().map(FindingPrinter::json).toList());
            rows.add(row);
        });
        report.put("checks", rows);
        return report;
    }
}

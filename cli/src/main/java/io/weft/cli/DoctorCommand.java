// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.spi.EnvironmentCheck;
import io.weft.spi.HostFiles;
import io.weft.spi.ToolInput;
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

    @Option(
            names = "--explain",
            paramLabel = "CODE",
            description = "Say what an error code means, what causes it and what to do next, and check nothing.")
    String code;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    /** A plugin's check with those of its inputs that are options here. */
    record Check(EnvironmentCheck check, List<ToolInput> inputs) {}

    /** By provider id; the plugins' own. */
    final Map<String, Check> checks = new LinkedHashMap<>();

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
        checkInputs(chosen);
        if (code != null) {
            return explain(chosen);
        }
        HostFiles host = root == null ? HostFiles.live() : HostFiles.captured(root);
        Map<String, List<Finding>> found = new LinkedHashMap<>();
        for (String provider : chosen) {
            Check check = checks.get(provider);
            found.put(provider, check.check().check(host, files(check)));
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

    /** Nothing that was given may go unread. */
    private void checkInputs(List<String> chosen) {
        checks.forEach((provider, check) -> {
            if (!chosen.contains(provider) && !files(check).isEmpty()) {
                throw AcceleratorException.invalid(
                        "doctor",
                        files(check).keySet().iterator().next() + " is read by --" + provider
                                + ", which was not asked for");
            }
        });
    }

    private Map<String, List<Path>> files(Check check) {
        Map<String, List<Path>> files = new LinkedHashMap<>();
        for (ToolInput input : check.inputs()) {
            List<Path> paths = PluginOptions.paths(spec, input.option());
            if (!paths.isEmpty()) {
                files.put(input.option(), paths);
            }
        }
        return files;
    }

    private int explain(List<String> chosen) {
        Map<String, List<Finding>> found = new LinkedHashMap<>();
        for (String provider : chosen) {
            List<Finding> meaning = checks.get(provider).check().explain(code);
            if (!meaning.isEmpty()) {
                found.put(provider, meaning);
            }
        }
        if (found.isEmpty()) {
            throw AcceleratorException.invalid(
                    "doctor",
                    "'" + code + "' is no error code that " + String.join(" or ", chosen)
                            + " knows; accepted is a code as a log shows it");
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Json.print(out, rows(new LinkedHashMap<>(), found));
        } else {
            found.values().forEach(findings -> FindingPrinter.print(findings, out));
        }
        return ExitCode.GOOD;
    }

    private static Map<String, Object> json(HostFiles host, Map<String, List<Finding>> found) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("root", host.root().toString());
        report.put("live", host.isLive());
        return rows(report, found);
    }

    private static Map<String, Object> rows(Map<String, Object> report, Map<String, List<Finding>> found) {
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

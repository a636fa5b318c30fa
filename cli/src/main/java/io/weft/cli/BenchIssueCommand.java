// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.bench.IssueBench;
import io.weft.runtime.report.OutputFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft bench issue}: host time per command. */
@Command(
        name = "issue",
        mixinStandardHelpOptions = true,
        description = {
            "Measures what the host spends on issuing small commands: fills, copies, products, events, and whole"
                    + " schedules by graph and command by command.",
            "These are times of this machine's clock on every platform, models as well."
        },
        footer = {"", "Example:", "  weft bench issue --on sim:switch-8"})
final class BenchIssueCommand implements Callable<Integer> {
    @ParentCommand
    BenchCommand bench;

    @Spec
    CommandSpec spec;

    @Option(names = "--on", required = true, paramLabel = "URI", description = "Platform, such as sim:switch-8.")
    String uri;

    @Option(
            names = "--batches",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Counted batches of 32 calls, and counted launches; ${DEFAULT-VALUE} when left out.")
    int batches;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write the report to a file as JSON.")
    Path json;

    @Override
    public Integer call() {
        if (batches < 1) {
            throw AcceleratorException.invalid("bench issue", "--batches is " + batches + "; accepted is 1 or more");
        }
        PrintWriter out = spec.commandLine().getOut();
        try (WeftRuntime runtime = WeftRuntime.start(bench.weft.settings())) {
            IssueBench.Report report = new IssueBench().run(runtime.open(uri), batches);
            if (json != null) {
                OutputFile.write(json, report.json());
            }
            out.println(report.uri() + ": host time of each call, measured, after warm-up.");
            TextTable table = new TextTable("issued", ">median", ">p90");
            for (IssueBench.Row row : report.rows()) {
                table.row(row.what(), nanos(row.nanos()), nanos(row.most()));
            }
            table.print(out);
        }
        return ExitCode.GOOD;
    }

    private static String nanos(double nanos) {
        return String.format(Locale.ROOT, "%.0f ns", nanos);
    }
}

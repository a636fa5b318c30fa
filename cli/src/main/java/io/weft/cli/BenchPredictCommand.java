// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.runtime.WeftRuntime;
import io.weft.runtime.overlap.PredictionReport;
import io.weft.runtime.overlap.Predictions;
import io.weft.runtime.overlap.ShapesFile;
import io.weft.runtime.report.OutputFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft bench predict}: a model's predictions against what was measured. */
@Command(
        name = "predict",
        mixinStandardHelpOptions = true,
        description =
                "Holds a model's predictions against the times that 'weft bench overlap --json FILE' wrote: errors of"
                        + " every schedule, and what following the model's choice costs.")
final class BenchPredictCommand implements Callable<Integer> {
    @ParentCommand
    BenchCommand bench;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--results",
            required = true,
            paramLabel = "FILE",
            description = "What 'weft bench overlap --json FILE' wrote.")
    Path results;

    @Option(
            names = "--on",
            required = true,
            paramLabel = "URI",
            description = "The model, such as sim:file=machine.yaml.")
    String uri;

    @Option(
            names = "--except",
            paramLabel = "M,N,K",
            description = "A shape that does not count, as the model was fitted to it; may be given several times.")
    List<String> except = List.of();

    @Option(names = "--markdown", paramLabel = "FILE", description = "Also write every time as Markdown tables.")
    Path markdown;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (WeftRuntime runtime = WeftRuntime.start(bench.weft.settings())) {
            PredictionReport report =
                    Predictions.compare(results, runtime.open(uri), ShapesFile.parse("--except", except));
            if (markdown != null) {
                OutputFile.write(markdown, report.markdown());
            }
            if (json) {
                out.print(report.json());
            } else {
                print(report, out);
            }
        }
        return ExitCode.GOOD;
    }

    private static void print(PredictionReport report, PrintWriter out) {
        out.println(report.model() + " against " + report.measured() + " (" + report.figures() + ")");
        if (!report.leftOut().isEmpty()) {
            out.println("left out: " + String.join("; ", report.leftOut()));
        }
        out.println();
        TextTable problems =
                new TextTable("problem", "model's choice", "best", ">regret", ">median error", ">worst error");
        for (PredictionReport.Problem problem : report.problems()) {
            PredictionReport.Errors errors = PredictionReport.errors(problem);
            problems.row(
                    problem.problem().toString(),
                    problem.choice().toString(),
                    problem.best().toString(),
                    Figure.percent(problem.regret()),
                    Figure.percent(errors.median()),
                    Figure.percent(errors.worst()));
        }
        problems.print(out);
        out.println();
        TextTable kinds = new TextTable("what", ">times", ">median error", ">worst error");
        report.errorsByKind()
                .forEach((kind, errors) -> kinds.row(
                        kind,
                        Integer.toString(errors.count()),
                        Figure.percent(errors.median()),
                        Figure.percent(errors.worst())));
        kinds.print(out);
        out.println();
        PredictionReport.Errors all = report.errors();
        out.println(String.format(
                Locale.ROOT,
                "%d schedules of %d problems: median error %.1f %%, worst %.1f %%; the choice is the best in %.0f %%, regret"
                        + " %.2f %% in the mean and %.2f %% at worst",
                all.count(),
                report.problems().size(),
                100 * all.median(),
                100 * all.worst(),
                100 * report.hitRate(),
                100 * report.meanRegret(),
                100 * report.worstRegret()));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.sweep.SweepReport;
import io.weft.runtime.sweep.SweepRequest;
import io.weft.runtime.sweep.SweepRow;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft sweep}: the plans of a whole design space. */
@Command(
        name = "sweep",
        mixinStandardHelpOptions = true,
        description = {
            "Plans every combination of platforms, models, token counts and degrees, on all cores. With --out, rows are"
                    + " written as they come, and an interrupted sweep goes on where it stopped when it is typed again."
        },
        footer = {
            "",
            "Example:",
            "  weft sweep --on sim:mesh-8,sim:switch-8 --model llama-3-8b,llama-3-70b --tokens 1024,8192 --tp 2,4,8"
                    + " --out sweep.csv",
            "A point that cannot be planned keeps a row that says why. Exit code 2 when no point can be."
        })
final class SweepCommand implements Callable<Integer> {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Option(names = "--on", required = true, paramLabel = "URI", split = ",", description = "Platforms.")
    List<String> uris;

    @Option(
            names = "--model",
            required = true,
            paramLabel = "NAME|FILE",
            split = ",",
            description = "Models, as 'weft plan' takes them.")
    List<String> models;

    @Option(names = "--tokens", required = true, paramLabel = "N", split = ",", description = "Tokens of one pass.")
    List<Long> tokens;

    @Option(names = "--tp", required = true, paramLabel = "P", split = ",", description = "Tensor-parallel degrees.")
    List<Integer> tensorParallel;

    @Option(names = "--ep", paramLabel = "P", split = ",", description = "Expert-parallel degrees; 1 when left out.")
    List<Integer> expertParallel = List.of(1);

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            split = ",",
            description = "Element types; the setting plan.element-type when left out.")
    List<String> elementTypes;

    @Option(
            names = "--no-sequence-parallel",
            description = "Keep activations whole on every device between GEMMs, as in 'weft plan'.")
    boolean noSequenceParallel;

    @Option(
            names = "--select",
            paramLabel = "HOW",
            description = "heuristic or model; the setting plan.select when left out.")
    String select;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Write rows to a .csv or .json file, and go on with what is in it.")
    Path out;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Override
    public Integer call() {
        EffectiveSettings settings = weft.settings();
        PrintWriter printer = spec.commandLine().getOut();
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            SweepRequest request = new SweepRequest(
                    whole(uris, Function.identity()),
                    whole(models, Function.identity()),
                    tokens,
                    tensorParallel,
                    expertParallel,
                    elementTypes == null
                            ? List.of(settings.value(Catalogue.PLAN_ELEMENT_TYPE))
                            : whole(elementTypes, ElementType::parse),
                    !noSequenceParallel,
                    select == null ? settings.value(Catalogue.PLAN_SELECT) : select);
            ProgressBar progress = ProgressBar.on(spec.commandLine().getErr(), settings.value(Catalogue.PROGRESS));
            Function<String, Platform> opener = runtime::open;
            SweepReport report = runtime.sweeps().sweep(request, opener, Optional.ofNullable(out), progress);
            if (json) {
                printer.print(report.json());
            } else {
                print(report, printer);
            }
        }
        return ExitCode.GOOD;
    }

    /** A list without the blanks that a stray comma makes. */
    private static <T> List<T> whole(List<String> texts, Function<String, T> reader) {
        List<T> values = new ArrayList<>();
        for (String text : texts) {
            if (!text.isBlank()) {
                values.add(reader.apply(text.strip()));
            }
        }
        return values;
    }

    private void print(SweepReport report, PrintWriter printer) {
        SweepRow first =
                report.rows().stream().filter(SweepRow::isPlanned).findFirst().orElseThrow();
        printer.println("All times are " + first.cell("figures")
                + (first.cell("figures").equals("model") ? ": predicted, not measured." : "."));
        printer.println();
        TextTable table = new TextTable(
                "platform",
                "model",
                ">tokens",
                ">tp",
                ">ep",
                "dtype",
                ">serial",
                ">overlapped",
                ">speedup",
                ">ideal",
                ">exposed",
                "note");
        for (SweepRow row : report.rows()) {
            boolean planned = row.isPlanned();
            table.row(
                    row.cell("platform"),
                    row.cell("model"),
                    row.cell("tokens"),
                    row.cell("tp"),
                    row.cell("ep"),
                    row.cell("dtype"),
                    planned ? Figure.time(number(row, "serial_us")) : "-",
                    planned ? Figure.time(number(row, "us")) : "-",
                    planned ? Figure.ratio(number(row, "speedup")) : "-",
                    planned ? Figure.ratio(number(row, "ideal_speedup")) : "-",
                    planned ? Figure.percent(number(row, "exposed_share")) : "-",
                    row.cell("note"));
        }
        table.print(printer);
        if (out != null) {
            printer.println();
            printer.println(report.rows().size() + " rows in " + out
                    + (report.resumed() > 0 ? ", " + report.resumed() + " of them from before" : ""));
        }
    }

    private static double number(SweepRow row, String column) {
        return Double.parseDouble(row.cell(column));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.bench.ScalingBench;
import io.weft.runtime.model.ModelConfigReader;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft bench scaling}: how far data-parallel training scales on a modelled cluster. */
@Command(
        name = "scaling",
        mixinStandardHelpOptions = true,
        description =
                "Predicts how far data-parallel training of a model's layers scales: gradients are summed over all"
                        + " devices while earlier layers are still being differentiated.")
final class BenchScalingCommand implements Callable<Integer> {
    @ParentCommand
    BenchCommand bench;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--on",
            required = true,
            paramLabel = "URI",
            description = "A modelled cluster with as many devices as are asked for.")
    String uri;

    @Option(
            names = "--model",
            required = true,
            paramLabel = "NAME|FILE",
            description = "A known dense model, or a Hugging Face config.json.")
    String model;

    @Option(
            names = "--tokens",
            paramLabel = "N",
            defaultValue = "4096",
            description = "Tokens of each device; ${DEFAULT-VALUE} when left out.")
    long tokens;

    @Option(
            names = "--devices",
            split = ",",
            required = true,
            paramLabel = "N",
            description = "Numbers of devices, ascending, such as 8,16,32; all are held against the first.")
    List<Integer> devices;

    @Option(
            names = "--layers",
            paramLabel = "N",
            defaultValue = "4",
            description = "Layers that are differentiated one after the other; ${DEFAULT-VALUE} when left out.")
    int layers;

    @Option(names = "--dtype", paramLabel = "TYPE", description = "Element type: bf16 (default), fp16, fp32, ...")
    String elementType;

    @Option(
            names = "--claimed",
            paramLabel = "R",
            description = "A linearity that someone claims, such as 0.92, to show beside the prediction.")
    Double claimed;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Override
    public Integer call() {
        EffectiveSettings settings = bench.weft.settings();
        ScalingBench.Report report;
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            Platform platform = runtime.open(uri);
            ProgressBar progress = ProgressBar.on(spec.commandLine().getErr(), settings.value(Catalogue.PROGRESS));
            report = new ScalingBench()
                    .run(
                            platform,
                            new ScalingBench.Request(
                                    ModelConfigReader.read(model).model(),
                                    tokens,
                                    devices,
                                    layers,
                                    elementType == null
                                            ? settings.value(Catalogue.PLAN_ELEMENT_TYPE)
                                            : ElementType.parse(elementType)),
                            progress);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Json.print(out, json(report));
        } else {
            print(report, out);
        }
        return ExitCode.GOOD;
    }

    private void print(ScalingBench.Report report, PrintWriter out) {
        out.println(String.format(
                Locale.ROOT,
                "%s, %d layers backward, %d tokens a device, %s of gradients a layer, on %s",
                report.model(),
                report.layers(),
                report.tokens(),
                Figure.bytes((double) report.gradientBytes()),
                report.platform()));
        out.println("All times are " + report.figures() + ": predicted, not measured.");
        out.println();
        List<String> header = new ArrayList<>(
                List.of(">devices", ">a layer", ">without sums", ">one sum alone", ">exposed", ">linearity"));
        if (claimed != null) {
            header.add(">claimed");
        }
        TextTable table = new TextTable(header.toArray(String[]::new));
        for (ScalingBench.Row row : report.rows()) {
            List<String> cells = new ArrayList<>(List.of(
                    Integer.toString(row.devices()),
                    Figure.time(row.us()),
                    Figure.time(row.computeUs()),
                    Figure.time(row.reduceUs()),
                    Figure.percent(row.exposed()),
                    String.format(Locale.ROOT, "%.3f", row.linearity())));
            if (claimed != null) {
                cells.add(String.format(Locale.ROOT, "%.2f", claimed));
            }
            table.row(cells.toArray(String[]::new));
        }
        table.print(out);
    }

    private Map<String, Object> json(ScalingBench.Report report) {
        Map<String, Object> root = new LinkedHashMap<>();
        root.put("figures", report.figures());
        root.put("platform", report.platform());
        root.put("model", report.model());
        root.put("tokens", report.tokens());
        root.put("layers", report.layers());
        root.put("gradientBytes", report.gradientBytes());
        if (claimed != null) {
            root.put("claimed", claimed);
        }
        root.put(
                "rows",
                report.rows().stream()
                        .map(row -> {
                            Map<String, Object> cells = new LinkedHashMap<>();
                            cells.put("devices", row.devices());
                            cells.put("us", row.us());
                            cells.put("computeUs", row.computeUs());
                            cells.put("sumAloneUs", row.reduceUs());
                            cells.put("exposed", row.exposed());
                            cells.put("linearity", row.linearity());
                            return cells;
                        })
                        .toList());
        return root;
    }
}

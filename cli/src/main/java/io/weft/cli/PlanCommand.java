// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.Platform;
import io.weft.api.graph.Timeline;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.model.ModelConfig;
import io.weft.runtime.model.ModelConfigReader;
import io.weft.runtime.plan.Plan;
import io.weft.runtime.plan.PlanMemory;
import io.weft.runtime.plan.PlanReport;
import io.weft.runtime.plan.PlanRequest;
import io.weft.runtime.report.HtmlReport;
import io.weft.runtime.report.OutputFile;
import io.weft.runtime.report.TraceSection;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.scheduler.Deployment;
import io.weft.scheduler.OverlapMetrics;
import io.weft.scheduler.OverlapProblem;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft plan}: where a model's time goes on a machine, and what overlap gains. */
@Command(
        name = "plan",
        mixinStandardHelpOptions = true,
        description =
                "Shows, for every GEMM of a model that waits on communication, what it costs on a machine, which overlap"
                        + " schedule wins, and what it gains.")
final class PlanCommand implements Callable<Integer> {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Mixin
    ProblemOptions options;

    @Option(
            names = "--model",
            required = true,
            paramLabel = "NAME|FILE",
            description =
                    "A known model (llama-2-7b, llama-2-70b, llama-3-8b, llama-3-70b, llama-3.1-405b, mixtral-8x7b,"
                            + " mixtral-8x22b, deepseek-v3, qwen2.5-72b) or a Hugging Face config.json.")
    String model;

    @Option(
            names = "--tokens",
            required = true,
            paramLabel = "N",
            description = "Tokens of one pass over all devices of a group.")
    long tokens;

    @Option(
            names = "--tp",
            paramLabel = "P",
            description = "Tensor-parallel degree; all devices of the platform when left out.")
    Integer tensorParallel;

    @Option(
            names = "--ep",
            paramLabel = "P",
            defaultValue = "1",
            description = "Expert-parallel degree; ${DEFAULT-VALUE} when left out.")
    int expertParallel;

    @Option(
            names = "--no-sequence-parallel",
            description =
                    "Keep activations whole on every device between GEMMs: all-reduce instead of all-gather and reduce-scatter.")
    boolean noSequenceParallel;

    @Option(
            names = "--skew",
            paramLabel = "S",
            defaultValue = "0",
            description =
                    "Load of the most loaded expert device over the mean, minus 1; ${DEFAULT-VALUE} when left out.")
    double skew;

    @Option(
            names = "--select",
            paramLabel = "HOW",
            description =
                    "heuristic (rules on sizes), model (estimates every candidate; default), or all (as model, and reports every candidate).")
    String select;

    @Option(names = "--html", paramLabel = "FILE", description = "Also write one self-contained page.")
    Path html;

    @Override
    public Integer call() {
        EffectiveSettings settings = weft.settings();
        PrintWriter out = spec.commandLine().getOut();
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            Platform platform = runtime.open(options.uri);
            ModelConfig config = ModelConfigReader.read(model);
            Deployment deployment = new Deployment(
                    tokens,
                    tensorParallel == null ? platform.devices().size() : tensorParallel,
                    expertParallel,
                    !noSequenceParallel,
                    options.elementType(settings),
                    skew);
            PlanRequest request = new PlanRequest(
                    config,
                    deployment,
                    select == null ? settings.value(Catalogue.PLAN_SELECT) : select,
                    html != null || options.trace != null || options.record != null);
            ProgressBar progress = ProgressBar.on(spec.commandLine().getErr(), settings.value(Catalogue.PROGRESS));
            Plan plan = runtime.plans().plan(platform, request, progress);
            if (html != null) {
                OutputFile.write(html, HtmlReport.of(plan, platform));
            }
            ByteArrayOutputStream recorded = new ByteArrayOutputStream();
            options.recording(recorded).ifPresent(recording -> {
                try (recording) {
                    PlanMemory.write(plan, recording);
                }
            });
            options.writeRecording(recorded);
            options.writeTrace(plan.report().toString(), platform, sections(plan));
            if (options.json) {
                out.print(plan.report().json());
            } else {
                print(plan.report(), out);
            }
        }
        return ExitCode.GOOD;
    }

    private static List<TraceSection> sections(Plan plan) {
        List<TraceSection> sections = new ArrayList<>();
        List<Timeline> timelines = plan.timelines();
        for (int i = 0; i < timelines.size(); i++) {
            PlanReport.ProblemReport problem = plan.report().problems().get(i);
            sections.add(new TraceSection(problem.name() + ": " + problem.choice(), timelines.get(i)));
        }
        return sections;
    }

    private static void print(PlanReport report, PrintWriter out) {
        out.println(String.format(
                Locale.ROOT,
                "%s, %d tokens, %s, tensor parallel %d%s, on %s (%s, %d devices)",
                report.model().name(),
                report.model().tokens(),
                report.model().elementType(),
                report.model().tp(),
                report.model().ep() > 1 ? ", expert parallel " + report.model().ep() : "",
                report.platform().uri(),
                report.platform().machine(),
                report.platform().devices()));
        out.println("All times are " + report.figures()
                + (report.figures().equals("model") ? ": predicted, not measured." : "."));
        out.println();
        TextTable table = new TextTable(
                "part",
                "pattern",
                ">M",
                ">N",
                ">K",
                ">per layer",
                ">serial",
                "schedule",
                ">time",
                ">speedup",
                ">ideal",
                ">of ideal",
                ">exposed",
                ">DIL",
                ">CIL");
        for (PlanReport.ProblemReport part : report.problems()) {
            OverlapProblem problem = part.problem();
            OverlapMetrics metrics = part.metrics();
            table.row(
                    part.name(),
                    problem.pattern().label(),
                    Long.toString(problem.m()),
                    Long.toString(problem.n()),
                    Long.toString(problem.k()),
                    times(part.meanPerLayer()),
                    Figure.time(metrics.serialUs()),
                    part.choice().toString(),
                    Figure.time(metrics.us()),
                    Figure.ratio(metrics.speedup()),
                    Figure.ratio(metrics.idealSpeedup()),
                    Figure.percent(metrics.shareOfIdeal()),
                    Figure.percent(metrics.exposedCommShare()),
                    Figure.percent(metrics.dilGemm()),
                    Figure.percent(metrics.cilGemm()));
        }
        table.print(out);
        out.println();
        for (PlanReport.ProblemReport part : report.problems()) {
            out.println(part.name() + ": " + part.reason() + (part.note().isEmpty() ? "" : " (" + part.note() + ")"));
        }
        out.println();
        out.println("per layer  " + times(report.layer()));
        out.println(String.format(Locale.ROOT, "%-9s  %s", report.model().layers() + " layers", times(report.total())));
        report.memory().ifPresent(use -> MemoryTable.print("Memory of one pass on the first device:", use, out));
        report.notes().forEach(note -> out.println("note: " + note));
    }

    private static String times(double perLayer) {
        return perLayer == Math.rint(perLayer)
                ? Long.toString((long) perLayer)
                : String.format(Locale.ROOT, "%.2f", perLayer);
    }

    private static String times(PlanReport.Times times) {
        return Figure.time(times.serialUs()) + " serial, " + Figure.time(times.us()) + " overlapped: "
                + Figure.ratio(times.speedup());
    }
}

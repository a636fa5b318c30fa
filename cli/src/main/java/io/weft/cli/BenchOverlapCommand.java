// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.ElementType;
import io.weft.api.Figures;
import io.weft.api.Platform;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.overlap.OverlapBenchReport;
import io.weft.runtime.overlap.OverlapBenchRequest;
import io.weft.runtime.overlap.PeerProgram;
import io.weft.runtime.overlap.PeerTimes;
import io.weft.runtime.overlap.ShapesFile;
import io.weft.runtime.report.OutputFile;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.SampledReference;
import io.weft.scheduler.Schedule;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft bench overlap}: schedules side by side, in turn, checked. */
@Command(
        name = "overlap",
        mixinStandardHelpOptions = true,
        description = {
            "Times every kind of overlap schedule, the selector's choice, the serial schedule, the GEMM alone and the"
                    + " communication alone in turn, round after round, on random data, and checks what each computes.",
            "On a model add mode=timing to the URI for shapes that are too large to compute here."
        })
final class BenchOverlapCommand implements Callable<Integer> {
    @ParentCommand
    BenchCommand bench;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--on",
            required = true,
            paramLabel = "URI",
            description = "Platform, such as sim:switch-8?mode=timing; see 'weft backends'.")
    String uri;

    @Option(
            names = "--shapes",
            paramLabel = "FILE",
            description =
                    "Shapes M,N,K, one a line; M over all ranks, N and K of one device. Those of Weft's own published"
                            + " figures when left out.")
    Path shapes;

    @Option(
            names = "--shape",
            paramLabel = "M,N,K",
            split = ";",
            description = "A shape in place of a file's; may be repeated.")
    List<String> single = List.of();

    @Option(
            names = "--pattern",
            paramLabel = "P",
            split = ",",
            description = "Patterns, parted by commas; all-gather-gemm,gemm-reduce-scatter when left out.")
    List<String> patterns = List.of(Pattern.ALL_GATHER_GEMM.label(), Pattern.GEMM_REDUCE_SCATTER.label());

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            description = "Element type: bf16 (default), fp16, fp32, fp8, fp8-e5m2, int8, ...")
    String elementType;

    @Option(names = "--ranks", paramLabel = "R", description = "Ranks; all devices of the platform when left out.")
    Integer ranks;

    @Option(
            names = "--schedule",
            paramLabel = "NAME",
            description =
                    "A schedule with parameters, such as cover-merge/cover=0.5; may be repeated. Typical ones of every"
                            + " kind when left out.")
    List<String> schedules = List.of();

    @Option(
            names = "--select",
            paramLabel = "HOW",
            defaultValue = "auto",
            description =
                    "What makes the choice: heuristic, model, measured (times the best few before and keeps the winner), or"
                            + " auto (default: the model where there is one, measured on hardware without).")
    String select;

    @Option(
            names = "--repetitions",
            paramLabel = "N",
            defaultValue = "20",
            description = "Counted rounds; ${DEFAULT-VALUE} when left out.")
    int repetitions;

    @Option(
            names = "--warm-up",
            paramLabel = "N",
            defaultValue = "3",
            description = "Rounds before anything counts; ${DEFAULT-VALUE} when left out.")
    int warmUp;

    @Option(
            names = "--in-place",
            description = "Gather A where its shards lie, as an in-place collective does; all-gather-gemm only.")
    boolean inPlace;

    @Option(names = "--no-check", description = "Do not check what the schedules compute.")
    boolean noCheck;

    @Option(names = "--seed", paramLabel = "X", description = "Seed of the random data.")
    Long seed;

    @Option(
            names = "--peer",
            paramLabel = "FILE",
            description = "Times of another program on the same machine as JSON, to be put beside.")
    Path peer;

    @Option(
            names = "--peer-program",
            paramLabel = "COMMAND",
            description = "Another program that is started, told each problem, and runs its variants once in every"
                    + " round, such as 'python3 benchmarks/torch/overlap.py --serve'.")
    String peerProgram;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            arity = "0..1",
            fallbackValue = "-",
            description =
                    "Print JSON; with a file's name, write it there as results come, and print the tables all the same.")
    String json;

    @Override
    public Integer call() {
        EffectiveSettings settings = bench.weft.settings();
        PrintWriter out = spec.commandLine().getOut();
        require("--repetitions", repetitions, 1);
        require("--warm-up", warmUp, 0);
        PeerTimes others = peer == null ? PeerTimes.none() : PeerTimes.read(peer);
        List<ShapesFile.Shape> wanted = wantedShapes();
        List<Schedule> named = schedules.stream().map(Schedule::parse).toList();
        boolean print = json == null || !json.equals("-");
        try (WeftRuntime runtime = WeftRuntime.start(settings);
                PeerProgram program = peerProgram == null ? null : PeerProgram.start(peerProgram)) {
            Platform platform = runtime.open(uri);
            ElementType type =
                    elementType == null ? settings.value(Catalogue.PLAN_ELEMENT_TYPE) : ElementType.parse(elementType);
            OverlapBenchRequest request = new OverlapBenchRequest(
                    cases(wanted, type, ranks == null ? platform.devices().size() : ranks),
                    named,
                    select,
                    warmUp,
                    repetitions,
                    !noCheck,
                    seed == null ? settings.value(Catalogue.RUN_SEED) : seed);
            ProgressBar progress = ProgressBar.on(spec.commandLine().getErr(), settings.value(Catalogue.PROGRESS));
            Consumer<OverlapBenchReport> written = soFar -> {
                if (json != null && !json.equals("-")) {
                    OutputFile.write(Path.of(json), soFar.json(others));
                }
                if (print) {
                    if (soFar.results().size() == 1) {
                        // Not before: what is refused as a whole prints nothing.
                        out.println(platform.uri() + ": "
                                + (platform.figures() == Figures.MODEL
                                        ? "all times are model: predicted, not measured."
                                        : "all times are measured."));
                    }
                    print(soFar.results().getLast(), others, out);
                    out.flush();
                }
            };
            OverlapBenchReport report =
                    runtime.overlapBench().run(platform, request, progress, written, Optional.ofNullable(program));
            if (print) {
                summary(report, others, out);
            } else {
                out.print(report.json(others));
            }
            return report.isGood() ? ExitCode.GOOD : ExitCode.BAD_ANSWER;
        }
    }

    private void require(String option, int value, int least) {
        if (value < least) {
            throw io.weft.api.AcceleratorException.invalid(
                    "bench overlap", option + " is " + value + "; accepted is " + least + " or more");
        }
    }

    private List<ShapesFile.Shape> wantedShapes() {
        if (!single.isEmpty()) {
            return ShapesFile.parse("--shape", single);
        }
        return shapes == null ? ShapesFile.shipped() : ShapesFile.read(shapes);
    }

    private List<OverlapBenchRequest.Case> cases(List<ShapesFile.Shape> wanted, ElementType type, int size) {
        List<Pattern> all = patterns.stream().map(Pattern::parse).toList();
        List<OverlapBenchRequest.Case> cases = new ArrayList<>();
        for (ShapesFile.Shape shape : wanted) {
            for (Pattern pattern : all) {
                if (shape.pattern().isEmpty() || shape.pattern().get() == pattern) {
                    OverlapProblem problem = OverlapProblem.of(pattern, shape.m(), shape.n(), shape.k(), type, size);
                    boolean here = inPlace && pattern == Pattern.ALL_GATHER_GEMM;
                    cases.add(new OverlapBenchRequest.Case(problem.withInPlace(here), shape.name()));
                }
            }
        }
        if (cases.isEmpty()) {
            throw io.weft.api.AcceleratorException.invalid(
                    "bench overlap", "no shape is meant for the pattern " + String.join(", ", patterns));
        }
        return cases;
    }

    private static void print(OverlapBenchReport.Result result, PeerTimes peer, PrintWriter out) {
        out.println();
        out.println(result.problem() + (result.name().isEmpty() ? "" : ", " + result.name()));
        if (result.refusal().isPresent()) {
            out.println("not timed: " + result.refusal().get());
            return;
        }
        out.println(String.format(
                Locale.ROOT,
                "GEMM alone %s, collective alone %s, copies alone %s; ideal %s",
                time(result.gemm().map(times -> times.median())),
                time(result.collective().map(times -> times.median())),
                time(result.copies().map(times -> times.median())),
                Figure.ratio(result.idealSpeedup())));
        TextTable table = new TextTable(
                "schedule", ">median", ">spread", ">speedup", ">of ideal", ">launch", ">commands", "right", "");
        Schedule best = result.best().map(OverlapBenchReport.Timed::schedule).orElse(result.choice());
        for (OverlapBenchReport.Timed timed : result.schedules()) {
            String mark = (timed.schedule().equals(result.choice()) ? "choice of " + result.selector() : "")
                    + (timed.schedule().equals(best)
                            ? (timed.schedule().equals(result.choice()) ? ", " : "") + "best"
                            : "");
            if (timed.times().isEmpty()) {
                table.row(timed.schedule().toString(), "-", "-", "-", "-", "-", "-", "refused", mark);
                continue;
            }
            double us = timed.times().get().median();
            double share = result.shareOfIdeal(us);
            table.row(
                    timed.schedule().toString(),
                    Figure.time(us),
                    Figure.percent(timed.times().get().spread()),
                    Figure.ratio(result.serialUs() / us),
                    Double.isNaN(share) ? "-" : Figure.percent(share),
                    Figure.time(timed.times().get().issueMedian()),
                    Integer.toString(timed.commands()),
                    timed.check().map(BenchOverlapCommand::right).orElse("not checked"),
                    mark);
        }
        table.print(out);
        result.eager()
                .ifPresent(eager -> out.println(String.format(
                        Locale.ROOT,
                        "issued command by command, the choice takes %s, of which the host needs %.2f us for each of %d"
                                + " commands",
                        Figure.time(eager.times().median()),
                        eager.issueNanosPerCommand() / 1e3,
                        eager.commands())));
        for (OverlapBenchReport.Timed timed : result.schedules()) {
            timed.check()
                    .flatMap(SampledReference.Outcome::difference)
                    .ifPresent(wrong -> out.println(timed.schedule() + " is WRONG: " + wrong));
            timed.refusal().ifPresent(why -> out.println(timed.schedule() + " was refused: " + why));
        }
        Map<String, Double> others = result.others(peer);
        others.forEach((variant, us) -> out.println(String.format(
                Locale.ROOT,
                "%s of the peer takes %s: the choice is %s as fast, the best %s",
                variant,
                Figure.time(us),
                Figure.ratio(us / result.choiceUs()),
                Figure.ratio(us / result.us(best)))));
    }

    private static String time(Optional<Double> us) {
        return us.map(Figure::time).orElse("-");
    }

    private static String right(SampledReference.Outcome check) {
        return (check.verified() ? "yes" : "NO") + (check.complete() ? ", all" : ", sampled");
    }

    private static void summary(OverlapBenchReport report, PeerTimes peer, PrintWriter out) {
        out.println();
        TextTable table = new TextTable("pattern", "geometric mean of", ">choice", ">best schedule");
        for (Pattern pattern : Pattern.values()) {
            row(table, report, pattern, "serial / it", OverlapBenchReport.Result::serialUs);
            for (String variant : report.variants(peer)) {
                row(
                        table,
                        report,
                        pattern,
                        variant + " of the peer / it",
                        result -> result.others(peer).getOrDefault(variant, Double.NaN));
            }
        }
        table.print(out);
    }

    private static void row(
            TextTable table,
            OverlapBenchReport report,
            Pattern pattern,
            String what,
            java.util.function.ToDoubleFunction<OverlapBenchReport.Result> reference) {
        double choice = report.geometricMean(pattern, result -> reference.applyAsDouble(result) / result.choiceUs());
        double best = report.geometricMean(
                pattern,
                result -> reference.applyAsDouble(result)
                        / result.best().map(b -> b.times().get().median()).orElse(Double.NaN));
        if (!Double.isNaN(choice)) {
            table.row(pattern.label(), what, Figure.ratio(choice), Figure.ratio(best));
        }
    }
}

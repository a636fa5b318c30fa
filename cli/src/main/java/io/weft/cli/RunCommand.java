// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.Platform;
import io.weft.api.graph.Timeline;
import io.weft.memory.PoolRecording;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.report.TraceSection;
import io.weft.runtime.run.Run;
import io.weft.runtime.run.RunReport;
import io.weft.runtime.run.RunRequest;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import io.weft.scheduler.verify.VerificationResult;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft run}: executes one overlap problem with real data and checks every number. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        description =
                "Executes one overlap problem on random data; with --verify every number is compared with an independent"
                        + " fp64 reference, and with the serial schedule bit by bit.")
final class RunCommand implements Callable<Integer> {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Mixin
    ProblemOptions options;

    @Option(
            names = "--pattern",
            required = true,
            paramLabel = "P",
            description = "all-gather-gemm, gemm-reduce-scatter, gemm-all-reduce, all-to-all-gemm or gemm-all-to-all.")
    String pattern;

    @Option(names = "--m", required = true, description = "Rows over all ranks.")
    long m;

    @Option(names = "--n", required = true, description = "Columns that one device multiplies.")
    long n;

    @Option(names = "--k", required = true, description = "Length of the inner sum on one device.")
    long k;

    @Option(names = "--ranks", paramLabel = "R", description = "Ranks; all devices of the platform when left out.")
    Integer ranks;

    @Option(
            names = "--schedule",
            paramLabel = "NAME",
            defaultValue = "auto",
            description =
                    "serial, shard-p2p, uniform-fused-1d, hetero-fused-1d, hetero-unfused-1d, uniform-fused-2d, cover-merge,"
                            + " each with parameters if wished (hetero-fused-1d/chunks=8,streams=2); all; or auto (default).")
    String schedule;

    @Option(names = "--chunks", paramLabel = "C", description = "Chunks of a shard.")
    Integer chunks;

    @Option(
            names = "--select",
            paramLabel = "HOW",
            defaultValue = "auto",
            description =
                    "What chooses when the schedule is auto: heuristic, model, measured (times the best few here and keeps"
                            + " the winner), or auto (default: the model where there is one).")
    String select;

    @Option(
            names = "--skew",
            paramLabel = "S",
            defaultValue = "0",
            description = "Load of the most loaded rank over the mean, minus 1; all-to-all patterns only.")
    double skew;

    @Option(names = "--verify", description = "Check every number.")
    boolean verify;

    @Option(names = "--seed", paramLabel = "X", description = "Seed of the random data.")
    Long seed;

    @Override
    public Integer call() {
        EffectiveSettings settings = weft.settings();
        PrintWriter out = spec.commandLine().getOut();
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            Platform platform = runtime.open(options.uri);
            OverlapProblem problem = new OverlapProblem(
                    Pattern.parse(pattern),
                    m,
                    n,
                    k,
                    options.elementType(settings),
                    ranks == null ? platform.devices().size() : ranks,
                    skew,
                    1);
            RunRequest request = new RunRequest(
                    problem,
                    schedule,
                    chunks == null ? OptionalInt.empty() : OptionalInt.of(chunks),
                    verify,
                    seed == null ? settings.value(Catalogue.RUN_SEED) : seed,
                    select);
            ProgressBar progress = ProgressBar.on(spec.commandLine().getErr(), settings.value(Catalogue.PROGRESS));
            ByteArrayOutputStream recorded = new ByteArrayOutputStream();
            Optional<PoolRecording> recording = options.recording(recorded);
            Run run = runtime.runs().run(platform, request, progress, recording);
            recording.ifPresent(PoolRecording::close);
            options.writeRecording(recorded);
            options.writeTrace(problem.toString(), platform, sections(run));
            if (options.json) {
                out.print(run.report().json());
            } else {
                print(run.report(), out);
            }
            return run.report().isGood() ? ExitCode.GOOD : ExitCode.BAD_ANSWER;
        }
    }

    private static List<TraceSection> sections(Run run) {
        List<TraceSection> sections = new ArrayList<>();
        List<Timeline> timelines = run.timelines();
        for (int i = 0; i < timelines.size(); i++) {
            sections.add(new TraceSection(run.report().runs().get(i).schedule().toString(), timelines.get(i)));
        }
        return sections;
    }

    private static void print(RunReport report, PrintWriter out) {
        out.println(report.problem() + " on " + report.platform() + ", seed " + report.seed());
        out.println("All times are " + report.figures()
                + (report.figures().equals("model") ? ": predicted, not measured." : "."));
        out.println();
        TextTable table = new TextTable("schedule", ">time", ">speedup", "verified", ">max ULP", "bits equal serial's");
        for (RunReport.Run run : report.runs()) {
            table.row(
                    run.schedule().toString(),
                    Figure.time(run.us()),
                    Figure.ratio(run.speedup()),
                    run.check().map(check -> check.verified() ? "yes" : "NO").orElse("not checked"),
                    run.check().map(check -> Long.toString(check.maxUlp())).orElse("-"),
                    run.check()
                            .map(check -> check.bitIdentical() ? "yes" : "no")
                            .orElse("-"));
        }
        table.print(out);
        if (!report.reason().isEmpty()) {
            out.println(report.reason());
        }
        MemoryTable.print("Memory of rank 0:", report.memory().getFirst(), out);
        for (RunReport.Run run : report.runs()) {
            run.check().filter(check -> !check.verified()).ifPresent(check -> {
                out.println(run.schedule() + " is WRONG"
                        + check.difference().map(RunCommand::place).orElse(""));
            });
        }
    }

    private static String place(VerificationResult.Difference wrong) {
        return String.format(
                Locale.ROOT,
                ": rank %d, row %d, column %d: expected %s, actual %s",
                wrong.rank(),
                wrong.row(),
                wrong.column(),
                wrong.expected(),
                wrong.actual());
    }
}

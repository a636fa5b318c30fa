// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.bench.BandwidthThresholds;
import io.weft.runtime.bench.BenchReduction;
import io.weft.runtime.bench.CollectiveOperation;
import io.weft.runtime.bench.CollectiveReport;
import io.weft.runtime.bench.CollectiveRequest;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.spi.ChoiceTables;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft bench collectives}: the table of rccl-tests for any platform. */
@Command(
        name = "collectives",
        mixinStandardHelpOptions = true,
        description = {
            "Times collectives by message size and prints the table of rccl-tests: size, count, type, redop, root, and"
                    + " time, algorithm and bus bandwidth and wrong elements, out of place and in place, all by that"
                    + " tool's definitions."
        },
        footer = {
            "",
            "Example:",
            "  weft bench collectives --on sim:mesh-8 --op all_reduce -b 8 -e 64M -f 2",
            "Exit code 1 when an element is wrong."
        })
final class BenchCollectivesCommand implements Callable<Integer> {
    private static final int DEFAULT_FACTOR = 2;

    @ParentCommand
    BenchCommand bench;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--on",
            required = true,
            paramLabel = "URI",
            description = "Platform, such as sim:mesh-8; see 'weft backends'.")
    String uri;

    @Option(
            names = "--op",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Operations: all_reduce (default), all_gather, reduce_scatter, broadcast, reduce, gather, scatter,"
                            + " alltoall, alltoallv, sendrecv, or all.")
    List<String> operations = List.of("all_reduce");

    @Option(
            names = "--ranks",
            paramLabel = "N",
            split = ",",
            description = "Ranks, on the first devices; several make several tables; all devices when left out.")
    List<Integer> ranks;

    @Option(
            names = {"-b", "--min-bytes"},
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = "8",
            description = "Smallest message; K, M and G are powers of 1024; ${DEFAULT-VALUE} when left out.")
    Long first;

    @Option(
            names = {"-e", "--max-bytes"},
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = "1G",
            description = "Largest message; ${DEFAULT-VALUE} when left out.")
    Long last;

    @Option(
            names = {"-f", "--step-factor"},
            paramLabel = "N",
            description = "Multiply each size by this; " + DEFAULT_FACTOR + " when left out.")
    Integer factor;

    @Option(
            names = {"-i", "--step-bytes"},
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "Add this to each size instead.")
    Long step;

    @Option(
            names = {"-d", "--dtype"},
            paramLabel = "TYPE",
            split = ",",
            description = "Element types: float (default), half, bfloat16, fp8, fp8-e5m2, int8, int32, ...")
    List<String> types = List.of("float");

    @Option(
            names = {"-o", "--redop"},
            paramLabel = "OP",
            split = ",",
            description = "Reductions: sum (default), prod, max, min, avg, mulsum, or all.")
    List<String> reductions = List.of("sum");

    @Option(
            names = {"-r", "--root"},
            paramLabel = "RANK",
            defaultValue = "0",
            description = "Root of broadcast, reduce, gather and scatter; ${DEFAULT-VALUE} when left out.")
    int root;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            defaultValue = "20",
            description = "Calls that are timed together; ${DEFAULT-VALUE} when left out.")
    int iterations;

    @Option(
            names = {"-w", "--warmup-iters"},
            paramLabel = "N",
            defaultValue = "5",
            description = "Calls before those, where times are measured; ${DEFAULT-VALUE} when left out.")
    int warmup;

    @Option(
            names = {"-c", "--check"},
            paramLabel = "0|1",
            defaultValue = "1",
            description = "Whether data are checked; ${DEFAULT-VALUE} when left out.")
    int check;

    @Option(
            names = "--check-limit",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            defaultValue = "128M",
            description = "Check data where all ranks' buffers together take so much at most; wrong is N/A above;"
                    + " ${DEFAULT-VALUE} when left out.")
    Long checkLimit;

    @Option(names = "--seed", paramLabel = "X", description = "Seed of the data.")
    Long seed;

    @Option(names = "--explain", description = "Say which algorithm and protocol the platform takes.")
    boolean explain;

    @Option(
            names = "--thresholds",
            paramLabel = "FILE",
            description =
                    "Hold bus bandwidths against those of a JSON file in the form of ROCm/cvs; exit code 1 when one"
                            + " is missed.")
    Path thresholds;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Override
    public Integer call() {
        if (check != 0 && check != 1) {
            throw new ParameterException(spec.commandLine(), "-c " + check + " is neither 0 nor 1");
        }
        if (step != null && factor != null) {
            throw new ParameterException(spec.commandLine(), "-i and -f exclude each other; give one of them");
        }
        if (step != null && step == 0) {
            throw new ParameterException(spec.commandLine(), "-i 0 leads nowhere; accepted is 1 or more");
        }
        BandwidthThresholds demanded = thresholds == null ? null : BandwidthThresholds.read(thresholds);
        EffectiveSettings settings = bench.weft.settings();
        PrintWriter out = spec.commandLine().getOut();
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            Platform platform = runtime.open(uri);
            CollectiveRequest request = new CollectiveRequest(
                    operations.equals(List.of("all"))
                            ? Arrays.asList(CollectiveOperation.values())
                            : operations.stream()
                                    .map(CollectiveOperation::parse)
                                    .toList(),
                    ranks == null ? List.of(platform.devices().size()) : ranks,
                    types.stream().map(ElementType::parse).toList(),
                    reductions.equals(List.of("all"))
                            ? Arrays.asList(BenchReduction.values())
                            : reductions.stream().map(BenchReduction::parse).toList(),
                    root,
                    new CollectiveRequest.Sizes(
                            first, last, step == null ? 0 : step, factor == null ? DEFAULT_FACTOR : factor),
                    iterations,
                    warmup,
                    check == 0 ? 0 : checkLimit,
                    seed == null ? settings.value(Catalogue.RUN_SEED) : seed,
                    explain);
            ProgressBar progress = ProgressBar.on(spec.commandLine().getErr(), settings.value(Catalogue.PROGRESS));
            TablePrinter tables = new TablePrinter(platform, request, out);
            CollectiveReport report = runtime.collectives().run(platform, request, progress, (operation, size, row) -> {
                if (!json) {
                    progress.wipe();
                    tables.print(operation, size, row);
                }
            });
            if (json) {
                out.print(report.json());
            } else {
                printEnd(report, out);
                if (explain) {
                    choices(platform, report, out);
                }
            }
            boolean reached = demanded == null
                    || judge(demanded, report, json ? spec.commandLine().getErr() : out);
            return report.wrong() == 0 && reached ? ExitCode.GOOD : ExitCode.BAD_ANSWER;
        }
    }

    private static boolean judge(BandwidthThresholds demanded, CollectiveReport report, PrintWriter out) {
        List<String> missed = demanded.missed(report);
        missed.forEach(line -> out.println("# missed: " + line));
        out.println("# thresholds: " + demanded.judged(report) + " sizes were held against the file, " + missed.size()
                + " missed it");
        out.flush();
        return missed.isEmpty();
    }

    private static void choices(Platform platform, CollectiveReport report, PrintWriter out) {
        platform.extension(ChoiceTables.class).ifPresent(choices -> {
            for (CollectiveReport.Table table : report.tables()) {
                out.println();
                ChoiceTablePrinter.print(choices.collectives(table.operation().kind(), table.ranks()), "# ", out);
            }
        });
    }

    /** Prints rows as they come, and before the first of each table its head. */
    private static final class TablePrinter {
        private final Platform platform;
        private final CollectiveRequest request;
        private final PrintWriter out;
        private CollectiveOperation operation;
        private int ranks;

        TablePrinter(Platform platform, CollectiveRequest request, PrintWriter out) {
            this.platform = platform;
            this.request = request;
            this.out = out;
        }

        void print(CollectiveOperation of, int over, CollectiveReport.Row row) {
            if (of != operation || over != ranks) {
                if (operation != null) {
                    out.println();
                }
                operation = of;
                ranks = over;
                printHead();
            }
            out.println(line(row));
            out.flush();
        }

        private void printHead() {
            CollectiveRequest.Sizes sizes = request.sizes();
            String figures = platform.figures().label();
            out.println("# " + operation.label() + " over " + ranks + " ranks on " + platform.uri() + " ("
                    + platform.properties().machine() + "); all times are " + figures
                    + (figures.equals("model") ? ": predicted, not measured" : ""));
            out.println("# minBytes " + sizes.first() + " maxBytes " + sizes.last() + " step: "
                    + (sizes.step() > 0 ? sizes.step() + "(bytes)" : sizes.factor() + "(factor)") + " warmup iters: "
                    + request.warmup() + " iters: " + request.iterations() + " validation: "
                    + (request.checkBytes() > 0 ? 1 : 0) + " seed: " + request.seed());
            out.println("#");
            out.println(line("#           ", "", "", "", "", "out-of-place", "", "", "", "in-place", "", "", "", ""));
            out.println(line(
                    "#       size",
                    "count",
                    "type",
                    "redop",
                    "root",
                    "time",
                    "algbw",
                    "busbw",
                    "#wrong",
                    "time",
                    "algbw",
                    "busbw",
                    "#wrong",
                    request.explain() ? "algorithm" : ""));
            out.println(line(
                    "#        (B)",
                    "(elements)",
                    "",
                    "",
                    "",
                    "(us)",
                    "(GB/s)",
                    "(GB/s)",
                    "",
                    "(us)",
                    "(GB/s)",
                    "(GB/s)",
                    "",
                    ""));
        }
    }

    private static void printEnd(CollectiveReport report, PrintWriter out) {
        out.println();
        out.println("# Out of bounds values : " + report.wrong()
                + (report.wrong() > 0 ? " FAILED" : report.checked() > 0 ? " OK" : " (nothing was checked)"));
        out.println(String.format(Locale.ROOT, "# Avg bus bandwidth    : %.4f GB/s", report.averageBusBandwidth()));
        report.notes().forEach(note -> out.println("# note: " + note));
    }

    private static String line(CollectiveReport.Row row) {
        CollectiveReport.Timing apart = row.outOfPlace();
        CollectiveReport.Timing together = row.inPlace().orElse(null);
        return line(
                Long.toString(row.bytes()),
                Long.toString(row.count()),
                row.typeLabel(),
                row.reductionLabel(),
                Integer.toString(row.root()),
                time(apart),
                bandwidth(apart.algorithmGbps()),
                bandwidth(apart.busGbps()),
                wrong(apart),
                together == null ? "N/A" : time(together),
                together == null ? "N/A" : bandwidth(together.algorithmGbps()),
                together == null ? "N/A" : bandwidth(together.busGbps()),
                together == null ? "N/A" : wrong(together),
                row.algorithm());
    }

    /** The columns of rccl-tests, so that what reads its output reads this. */
    private static String line(String... cells) {
        return String.format(
                        Locale.ROOT, "%12s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s  %7s  %6s  %6s  %6s  %s", (Object[])
                                cells)
                .stripTrailing();
    }

    private static String time(CollectiveReport.Timing timing) {
        double us = timing.us();
        return String.format(Locale.ROOT, us >= 10_000 ? "%.0f" : us >= 100 ? "%.1f" : "%.2f", us);
    }

    private static String bandwidth(double gbps) {
        return String.format(Locale.ROOT, "%.2f", gbps);
    }

    private static String wrong(CollectiveReport.Timing timing) {
        return timing.wrong().isPresent() ? Long.toString(timing.wrong().getAsLong()) : "N/A";
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.Platform;
import io.weft.memory.replay.RecountedReplay;
import io.weft.memory.replay.ReplayReport;
import io.weft.memory.replay.Trace;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.replay.ReplayOutcome;
import io.weft.runtime.replay.ReplayRequest;
import io.weft.runtime.report.OutputFile;
import io.weft.runtime.report.ReplayPage;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft pool replay}: recorded allocations through Weft's pool and through models of others. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = {
            "Replays recorded allocations through Weft's pool, beside a model of the caching allocator that PyTorch has"
                    + " or of best fit over one growing range.",
            "Read are PyTorch memory snapshots (pickle or JSON), Chrome traces of torch.profiler with memory events, raw"
                    + " memory timelines, minimalloc problems, RMM logs, and what --record of 'weft plan' and 'weft run'"
                    + " writes, each also as gzip. What a file is, is told by its content."
        },
        footer = {
            "",
            "Examples:",
            "  weft pool replay snapshot.pickle",
            "  weft pool replay step.csv.gz --limit 60G --html step.html",
            "Exit code 1 when the first pool cannot serve every allocation."
        })
final class PoolReplayCommand implements Callable<Integer> {
    @ParentCommand
    PoolCommand pool;

    @Spec
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "The trace.")
    Path file;

    @Option(
            names = "--pool",
            paramLabel = "NAME",
            split = ",",
            description =
                    "weft, caching or bestfit, several with commas; weft,caching when left out. With --on: weft or"
                            + " device (its allocator without a pool); both when left out.")
    List<String> pools;

    @Option(
            names = "--on",
            paramLabel = "URI",
            description = "Replay in the memory of a platform's first device, such as cuda:native; in mere numbers when"
                    + " left out.")
    String on;

    @Option(
            names = "--limit",
            paramLabel = "BYTES",
            converter = ByteSize.class,
            description = "Memory of the device; K, M and G are powers of 1024; no limit when left out.")
    Long limit;

    @Option(
            names = "--device",
            paramLabel = "NAME",
            description =
                    "Of a trace with several devices, the one to take, such as 1, cuda:1 or cpu; the first that is not cpu when"
                            + " left out.")
    String device;

    @Option(
            names = "--passes",
            paramLabel = "N",
            defaultValue = "31",
            description = "How often the trace is replayed, everything freed between; ${DEFAULT-VALUE} when left out.")
    int passes;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Option(names = "--html", paramLabel = "FILE", description = "Also write one self-contained page.")
    Path html;

    @Override
    public Integer call() {
        EffectiveSettings settings = pool.weft.settings();
        PrintWriter out = spec.commandLine().getOut();
        try (WeftRuntime runtime = WeftRuntime.start(settings)) {
            Optional<Platform> platform = Optional.ofNullable(on).map(runtime::open);
            ReplayRequest request = new ReplayRequest(
                    file,
                    Optional.ofNullable(device),
                    pools != null ? pools : List.of("weft", platform.isPresent() ? "device" : "caching"),
                    limit == null ? ReplayRequest.NO_LIMIT : limit,
                    passes,
                    platform,
                    html != null);
            ProgressBar progress = ProgressBar.on(spec.commandLine().getErr(), settings.value(Catalogue.PROGRESS));
            ReplayOutcome outcome = runtime.replays().replay(request, progress);
            if (html != null) {
                OutputFile.write(html, ReplayPage.of(outcome));
            }
            if (json) {
                out.print(outcome.json());
            } else {
                print(outcome, out);
            }
            return outcome.isGood() ? ExitCode.GOOD : ExitCode.BAD_ANSWER;
        }
    }

    private static void print(ReplayOutcome outcome, PrintWriter out) {
        Trace trace = outcome.trace();
        out.println(String.format(
                Locale.ROOT,
                "%s: %s%s, %d %s%s; %d events, %d allocations, %d frees; at most %s out at one time",
                trace.name(),
                trace.format(),
                trace.device().isEmpty() ? "" : ", device " + trace.device(),
                trace.streamCount(),
                trace.streamCount() == 1 ? "stream" : "streams",
                trace.liveBeforeBytes() == 0
                        ? ""
                        : ", starts in the middle with " + Figure.bytes((double) trace.liveBeforeBytes())
                                + " live before",
                trace.count() - trace.eventsBefore(),
                trace.allocations(),
                trace.frees(),
                Figure.bytes((double) trace.peakLiveBytes())));
        if (trace.recordedReservedPeak() > 0) {
            out.println("The recorded allocator held " + Figure.bytes((double) trace.recordedReservedPeak()) + ": "
                    + share(outcome.reports().getFirst().recordedFragmentation()) + " fragmentation.");
        }
        out.println(outcome.on()
                .map(platform -> "Times are measured on " + platform.uri()
                        + ", with what its device's allocator takes; bytes and calls are counted. What device rounds"
                        + " sizes to is not told.")
                .orElse(
                        "Times are measured on this machine's host; bytes and calls are counted. caching and bestfit are"
                                + " models."));
        out.println();
        TextTable table = new TextTable(
                "pool",
                ">cold",
                ">median",
                ">p99",
                ">peak allocated",
                ">peak reserved",
                ">fragmentation",
                ">first pass's",
                ">device calls",
                ">later",
                ">OOM retries",
                ">refused");
        for (ReplayReport report : outcome.reports()) {
            table.row(
                    report.target(),
                    nanos(report.coldNanos()),
                    nanos(report.medianNanos()),
                    nanos(report.p99Nanos()),
                    Figure.bytes((double) report.peakAllocatedBytes()),
                    Figure.bytes((double) report.peakReservedBytes()),
                    share(report.fragmentation()),
                    share(report.fragmentationFirstPass()),
                    Long.toString(report.deviceCalls()),
                    Long.toString(report.deviceCallsWarm()),
                    Long.toString(report.retries()),
                    Long.toString(report.refusals()));
        }
        table.print(out);
        out.println();
        out.println(
                "Of " + outcome.reports().getFirst().passes() + " passes: cold (the first) and median are ns per event,"
                        + " p99 is of single events; device calls are those of the first pass, and later those of all others.");
        outcome.recount().ifPresent(count -> recount(count, out));
        trace.notes().forEach(note -> out.println("note: " + note));
    }

    private static void recount(RecountedReplay count, PrintWriter out) {
        out.println(String.format(
                Locale.ROOT,
                "weft's event log counted anew, %d events: %s at most out, %s held, %s fragmentation; %s",
                count.recount().events(),
                Figure.bytes((double) count.recount().peakAllocatedBytes()),
                Figure.bytes((double) count.recount().peakReservedBytes()),
                share(count.recount().fragmentation()),
                count.isEqual() ? "the pool's own figures are the same." : "THE POOL'S OWN FIGURES DIFFER."));
    }

    private static String nanos(double nanos) {
        return String.format(Locale.ROOT, "%.0f ns", nanos);
    }

    private static String share(double share) {
        return String.format(Locale.ROOT, "%.2f %%", 100 * share);
    }
}

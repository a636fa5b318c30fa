// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.conformance.Catalogue;
import io.weft.conformance.Conformance;
import io.weft.conformance.Level;
import io.weft.conformance.Order;
import io.weft.conformance.Outcome;
import io.weft.conformance.Profile;
import io.weft.conformance.Report;
import io.weft.conformance.Rule;
import io.weft.conformance.RunOptions;
import io.weft.conformance.Subject;
import io.weft.conformance.UnusableInput;
import io.weft.conformance.Verdict;
import io.weft.conformance.Waivers;
import io.weft.conformance.report.ReportFiles;
import io.weft.runtime.WeftRuntime;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code weft conform}: which rule a backend breaks. */
@Command(
        name = "conform",
        mixinStandardHelpOptions = true,
        description = "Judges a backend by the conformance rules, and says in words which one it breaks.")
final class ConformCommand implements Callable<Integer> {
    @ParentCommand
    Weft weft;

    @Spec
    CommandSpec spec;

    @Option(names = "--on", required = true, paramLabel = "URI", description = "Platform, such as sim:mesh-8.")
    String uri;

    @Option(
            names = "--level",
            paramLabel = "LEVEL",
            defaultValue = "core",
            description = "core (what any program needs) or full (everything); ${DEFAULT-VALUE} unless given.")
    Level level;

    @Option(
            names = "--profile",
            paramLabel = "PROFILE",
            split = ",",
            description = "Only a feature's rules, and its capability is demanded: collectives, symmetric-memory,"
                    + " graphs, virtual-memory.")
    List<String> profiles = new ArrayList<>();

    @Option(
            names = "--rule",
            paramLabel = "ID",
            split = ",",
            description = "Only this rule, such as STR-003, whatever its level; may be given again.")
    List<String> rules = new ArrayList<>();

    @Option(names = "--waivers", paramLabel = "FILE", description = "The plugin's waivers, a YAML file.")
    Path waivers;

    @Option(
            names = "--strict",
            description = "Absent hardware, and capabilities that the waivers do not speak of, fail the run.")
    boolean strict;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of all data and of a random order.")
    long seed;

    @Option(
            names = "--order",
            paramLabel = "ORDER",
            defaultValue = "catalogue",
            description = "catalogue or random (by the seed).")
    Order order;

    @Option(
            names = "--patience",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "How long a proof may take before it counts as hanging; ${DEFAULT-VALUE} unless given.")
    int patience;

    @Option(
            names = "--verbose",
            description = "Say on the error stream which rule is put to the proof, before it is, and how it fared; what"
                    + " crashes or hangs the whole process is then named by the last line.")
    boolean verbose;

    @Option(names = "--report", paramLabel = "DIR", description = "Also write report.json, TEST-*.xml and index.html.")
    Path report;

    @Option(names = "--json", description = "Print the report as JSON.")
    boolean json;

    @Option(
            names = "--fuzz",
            paramLabel = "N",
            description = "Instead of the rules, run N random command graphs against the reference interpreter; the"
                    + " smallest one that differs is printed as a Java test.")
    Integer fuzz;

    @Override
    public Integer call() {
        try {
            return fuzz == null ? judge() : new GraphFuzz(this, fuzz).run();
        } catch (UnusableInput unusable) {
            throw new AcceleratorException(ErrorCode.INVALID_ARGUMENT, "conform", unusable.getMessage(), unusable);
        }
    }

    private int judge() {
        if (patience < 1) {
            throw AcceleratorException.invalid(
                    "conform", "--patience is " + patience + "; it must be at least 1 second");
        }
        Catalogue catalogue = Catalogue.standard();
        RunOptions options = RunOptions.defaults()
                .withLevel(level)
                .withProfiles(profiles())
                .withRules(rules)
                .withStrict(strict)
                .withSeed(seed)
                .withOrder(order)
                .withPatience(Duration.ofSeconds(patience));
        if (waivers != null) {
            options = options.withWaivers(Waivers.read(waivers, catalogue));
        }
        try (WeftRuntime runtime = WeftRuntime.start(weft.settings())) {
            List<String> decorators = runtime.settings().value(io.weft.runtime.settings.Catalogue.DECORATORS);
            ProgressBar progress = ProgressBar.on(
                    spec.commandLine().getErr(), runtime.settings().value(io.weft.runtime.settings.Catalogue.PROGRESS));
            progress.begin("rules", Conformance.rules(options).size());
            Report found;
            try {
                found = Conformance.run(
                        Subject.of(runtime.accelerators(), uri, decorators),
                        options.withBeginning(this::begins).withProgress(verdict -> {
                            progress.step(verdict.rule().id());
                            ends(verdict);
                        }));
            } finally {
                progress.end();
            }
            if (report != null) {
                ReportFiles.write(found, report);
            }
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(ReportFiles.json(found));
            } else {
                print(found, out);
            }
            return found.isGood() ? ExitCode.GOOD : ExitCode.BAD_ANSWER;
        }
    }

    private void begins(Rule rule) {
        if (verbose) {
            PrintWriter err = spec.commandLine().getErr();
            err.println(rule.id() + " ...");
            err.flush();
        }
    }

    private void ends(Verdict verdict) {
        if (verbose) {
            PrintWriter err = spec.commandLine().getErr();
            err.printf(
                    Locale.ROOT,
                    "%s %s, %.3f s%n",
                    verdict.rule().id(),
                    verdict.outcome().label(),
                    verdict.nanos() / 1e9);
            err.flush();
        }
    }

    private Set<Profile> profiles() {
        Set<Profile> wanted = EnumSet.noneOf(Profile.class);
        for (String name : profiles) {
            wanted.add(java.util.Arrays.stream(Profile.values())
                    .filter(profile -> profile.label().equals(name.toLowerCase(Locale.ROOT)))
                    .findFirst()
                    .orElseThrow(() -> AcceleratorException.invalid(
                            "conform",
                            "--profile is '" + name + "'; known are "
                                    + java.util.Arrays.stream(Profile.values())
                                            .map(Profile::label)
                                            .collect(Collectors.joining(", ")))));
        }
        return wanted;
    }

    private void print(Report found, PrintWriter out) {
        out.println(found.environment().plugin().id() + " "
                + found.environment().plugin().version() + " on " + uri
                + (found.environment().machine().isEmpty()
                        ? ""
                        : " (" + found.environment().machine() + ", "
                                + found.environment().devices().size() + " devices)")
                + ", suite " + found.environment().suiteVersion() + ", seed " + seed);
        if (!found.absent().isEmpty()) {
            out.println("Nothing was judged: the hardware is absent: " + found.absent());
        }
        for (Verdict verdict : found.verdicts()) {
            if (verdict.outcome().isBad() || verdict.outcome() == Outcome.NOT_FOLLOWED) {
                out.println();
                out.println(verdict.outcome().label().toUpperCase(Locale.ROOT) + " " + verdict.text());
                out.println("  again:       " + found.rerun(verdict));
            }
        }
        if (!found.problems().isEmpty()) {
            out.println();
            found.problems().forEach(problem -> out.println("PROBLEM " + problem));
        }
        out.println();
        Map<Outcome, Integer> counts = found.counts();
        out.println(found.verdicts().size() + " rules: "
                + counts.entrySet().stream()
                        .map(entry -> entry.getValue() + " " + entry.getKey().label())
                        .collect(Collectors.joining(", ")));
        if (found.absent().isEmpty()) {
            out.println(
                    found.isGood()
                            ? "The backend conforms, as far as this run asked."
                            : "The backend does not conform.");
        }
    }
}

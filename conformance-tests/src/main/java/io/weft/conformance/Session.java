// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.api.Platform;
import io.weft.conformance.bench.Bench;
import io.weft.conformance.bench.Leftovers;
import io.weft.conformance.bench.NotApplicable;
import io.weft.conformance.bench.RuleBroken;
import io.weft.conformance.bench.Watch;
import io.weft.spi.PlatformDriver;
import io.weft.spi.decorator.ObservedPlatform;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * One run on one open platform. Rules are judged one after the other, each after those that it requires; what every proof leaves behind is kept for the standing
 * rules. A proof that hangs costs its platform, and the run goes on with a new one. For one thread.
 */
final class Session implements AutoCloseable {
    /** Begins a detail that names the rule whose proof left something behind. */
    static final String LEFT_BY = "left by: ";

    private static final int FRAMES = 6;
    /** How often a proof is run again that left less memory free, at most: drivers keep memory for a dozen streams or so. */
    private static final int REPEATS = 12;

    private final Subject subject;
    private final RunOptions options;
    private final Catalogue catalogue;
    private final ProofBook proofs;
    private final Watch watch = new Watch();
    private final Warnings warnings = Warnings.begin();
    private final Map<String, Verdict> verdicts = new LinkedHashMap<>();
    private final Map<String, Verdict> left = new LinkedHashMap<>();
    private final Set<Rule> selected;
    private Platform platform;
    private Environment environment;
    private ProofThread thread;
    private String given = "";
    private String ending = "";

    Session(Subject subject, RunOptions options, Catalogue catalogue, ProofBook proofs) {
        this.subject = subject;
        this.options = options;
        this.catalogue = catalogue;
        this.proofs = proofs;
        this.selected = select(options, catalogue);
        this.thread = new ProofThread(options.patience());
    }

    /** The rules that options ask for, in catalogue order. */
    static Set<Rule> select(RunOptions options, Catalogue catalogue) {
        Set<Rule> rules = new LinkedHashSet<>();
        if (!options.rules().isEmpty()) {
            List<String> ids = options.rules();
            ids.forEach(catalogue::rule);
            catalogue.rules().stream().filter(rule -> ids.contains(rule.id())).forEach(rules::add);
            return rules;
        }
        for (Rule rule : catalogue.rules()) {
            boolean inProfile = options.profiles().isEmpty()
                    || rule.profile().filter(options.profiles()::contains).isPresent();
            if (options.level().includes(rule.level()) && inProfile) {
                rules.add(rule);
            }
        }
        return rules;
    }

    /**
     * Opens the platform.
     *
     * @throws AcceleratorException when it cannot be opened
     */
    void open() {
        platform = thread.call("open " + subject.uri(), opening(), this::openPlatform);
        environment = Environment.of(subject, platform, proofs);
    }

    /** What a proof needs no longer than that may well take longer to open: the first time loads libraries and machines. */
    private Duration opening() {
        return options.patience().compareTo(RunOptions.DEFAULT_PATIENCE) > 0
                ? options.patience()
                : RunOptions.DEFAULT_PATIENCE;
    }

    private Platform openPlatform() {
        PlatformDriver driver = subject.open(subject.uri());
        return new Platform(subject.uri(), options.watched() ? new ObservedPlatform(driver, watch) : driver);
    }

    Environment environment() {
        return environment;
    }

    /** The rules asked for, apart from the standing ones, in the order asked for. */
    List<Rule> rules() {
        List<Rule> rules = new ArrayList<>(selected);
        rules.removeIf(Rule::standing);
        if (options.order() == Order.RANDOM) {
            Collections.shuffle(rules, new Random(options.seed()));
        }
        return catalogue.inOrderOfDependence(rules);
    }

    /** The standing rules asked for. */
    List<Rule> standingRules() {
        return selected.stream().filter(Rule::standing).toList();
    }

    /** Gives the verdict on a rule; judges it, and what it requires, when that was not done before. */
    Verdict judge(Rule rule) {
        Verdict known = verdicts.get(rule.id());
        if (known == null) {
            if (!rule.standing()) {
                options.beginning().accept(rule);
            }
            known = waive(rule.standing() ? standing(rule) : decide(rule));
            verdicts.put(rule.id(), known);
            options.progress().accept(known);
        }
        return known;
    }

    private Verdict decide(Rule rule) {
        Optional<Verdict> aside = beforehand(rule);
        if (aside.isPresent()) {
            return aside.get();
        }
        long nanos = 0;
        String last = "";
        String inapplicable = "";
        boolean ran = false;
        for (Proof proof : proofs.of(rule)) {
            Verdict verdict = prove(rule, proof);
            nanos += verdict.nanos();
            last = proof.name();
            switch (verdict.outcome()) {
                case PASSED -> ran = true;
                case NOT_APPLICABLE -> inapplicable = verdict.reason();
                default -> {
                    return verdict;
                }
            }
        }
        return ran
                ? new Verdict(rule, Outcome.PASSED, last, "", "", "", List.of(), nanos)
                : Verdict.without(rule, Outcome.NOT_APPLICABLE, inapplicable);
    }

    /** The verdict on a rule that is not put to the proof, if so. */
    private Optional<Verdict> beforehand(Rule rule) {
        if (rule.isUnproven()) {
            return Optional.of(Verdict.without(rule, Outcome.UNPROVEN, rule.unproven()));
        }
        Set<Capability> missing = EnumSet.noneOf(Capability.class);
        missing.addAll(rule.capabilities());
        if (platform != null) {
            missing.removeAll(platform.capabilities());
        } else {
            return Optional.of(Verdict.without(rule, Outcome.NOT_JUDGED, given));
        }
        if (!missing.isEmpty()) {
            for (Waivers.Unsupported waiver : options.waivers().unsupported()) {
                if (missing.contains(waiver.capability())) {
                    return Optional.of(Verdict.without(rule, Outcome.UNSUPPORTED, waiver.reason()));
                }
            }
            return Optional.of(
                    Verdict.without(rule, Outcome.NOT_APPLICABLE, "the platform does not declare " + missing));
        }
        for (String id : rule.requires()) {
            Rule required = catalogue.rule(id);
            if (!selected.contains(required)) {
                continue;
            }
            Outcome outcome = judge(required).outcome();
            boolean holds = switch (outcome) {
                case PASSED, UNEXPECTED_PASS, UNPROVEN, UNSUPPORTED, NOT_APPLICABLE -> true;
                case BROKEN, NOT_FOLLOWED, HUNG, NOT_JUDGED, WAIVED -> false;
            };
            if (!holds) {
                return Optional.of(Verdict.without(
                        rule, Outcome.NOT_JUDGED, "it requires " + id + ", which is " + outcome.label()));
            }
        }
        return Optional.empty();
    }

    private Verdict prove(Rule rule, Proof proof) {
        warnings.take();
        long begin = System.nanoTime();
        Attempt attempt = attempt(proof);
        // A backend may keep memory for handles to come. What it takes again and again is lost.
        long limit = options.patience().toNanos();
        for (int i = 0; i < REPEATS && attempt.tookMemory() && System.nanoTime() - begin < limit; i++) {
            attempt = attempt(proof);
        }
        long nanos = System.nanoTime() - begin;
        return switch (attempt.result()) {
            case ProofThread.Hung hung -> hung(rule, proof, attempt.bench(), hung, nanos);
            case ProofThread.Ended ended -> ended(rule, proof, attempt.bench(), ended, nanos);
        };
    }

    /** A proof that was run once. */
    private record Attempt(Bench bench, ProofThread.Result result) {
        /** Whether it went well but left less memory free. */
        boolean tookMemory() {
            return result instanceof ProofThread.Ended ended
                    && ended.failure() == null
                    && !ended.leftovers().memory().isEmpty();
        }
    }

    private Attempt attempt(Proof proof) {
        Bench bench = new Bench(subject, platform, mix(options.seed(), proof.name()));
        watch.forget();
        return new Attempt(bench, thread.run(() -> {
            long[] free = Leftovers.freeBytes(platform);
            Throwable failure = null;
            try {
                proof.body().run(bench);
            } catch (Throwable thrown) {
                failure = thrown;
            }
            Leftovers leftovers = bench.close(free);
            if (failure != null) {
                settle(platform);
            }
            return new ProofThread.Ended(failure, leftovers);
        }));
    }

    /** Lets a platform tell of what a broken proof began and did not see to its end, so that the next proof is not told. */
    private static void settle(Platform platform) {
        for (Device device : platform.devices()) {
            try {
                device.synchronize();
            } catch (RuntimeException told) {
                // The proof is broken already.
            }
        }
    }

    private Verdict ended(Rule rule, Proof proof, Bench bench, ProofThread.Ended ended, long nanos) {
        return switch (ended.failure()) {
            case null -> {
                keep(Standing.NOTHING_OUTSIDE, rule, proof, ended.leftovers().outside());
                keep(Standing.CLOSING_WORKS, rule, proof, ended.leftovers().closing());
                keep(Standing.MEMORY_RETURNS, rule, proof, ended.leftovers().memory());
                keep(Standing.NO_WARNINGS, rule, proof, warnings.take());
                assert watch.openHandles().isEmpty() : proof.name() + " leaves open: " + watch.openHandles();
                yield new Verdict(rule, Outcome.PASSED, proof.name(), "", "", "", List.of(), nanos);
            }
            case NotApplicable inapplicable -> Verdict.without(rule, Outcome.NOT_APPLICABLE, inapplicable.getMessage());
            case RuleBroken broken -> broken(rule, proof, broken.expected(), broken.actual(), List.of(), nanos);
            case AcceleratorException refusal ->
                broken(
                        rule,
                        proof,
                        "no failure" + during(bench),
                        "the backend answered " + refusal.code() + ": " + refusal.getMessage(),
                        frames(refusal),
                        nanos);
            case Throwable thrown ->
                broken(rule, proof, "no failure" + during(bench), "it threw " + thrown, frames(thrown), nanos);
        };
    }

    private static Verdict broken(
            Rule rule, Proof proof, String expected, String actual, List<String> details, long nanos) {
        Outcome outcome = rule.obligation() == Obligation.MUST ? Outcome.BROKEN : Outcome.NOT_FOLLOWED;
        return new Verdict(rule, outcome, proof.name(), expected, actual, "", details, nanos);
    }

    private static String during(Bench bench) {
        return bench.step().isEmpty() ? "" : " while: " + bench.step();
    }

    private static List<String> frames(Throwable thrown) {
        return Arrays.stream(thrown.getStackTrace())
                .limit(FRAMES)
                .map(frame -> "at " + frame)
                .toList();
    }

    private Verdict hung(Rule rule, Proof proof, Bench bench, ProofThread.Hung hung, long nanos) {
        List<String> details = new ArrayList<>(watch.lastCalls());
        details.addAll(hung.stack());
        for (Thread rank : bench.threads()) {
            if (rank.isAlive()) {
                details.add(rank.getName() + " is at:");
                Arrays.stream(rank.getStackTrace()).limit(FRAMES).forEach(frame -> details.add("  at " + frame));
                rank.interrupt();
            }
        }
        Verdict verdict = new Verdict(
                rule,
                Outcome.HUNG,
                proof.name(),
                "the proof to end within " + options.patience().toSeconds() + " s" + during(bench),
                "it hangs",
                "",
                details,
                nanos);
        reopen(rule);
        return verdict;
    }

    /** Gives up the platform on which a proof hangs and goes on with a new one. */
    private void reopen(Rule hanging) {
        Platform old = platform;
        platform = null;
        thread.abandon();
        thread = new ProofThread(options.patience());
        try {
            thread.call("close the platform on which " + hanging.id() + " hung", () -> {
                old.close();
                return old;
            });
        } catch (RuntimeException ignored) {
            // It hung, so that it cannot be closed is no news.
            thread.abandon();
            thread = new ProofThread(options.patience());
        }
        try {
            platform = thread.call("open " + subject.uri() + " again", opening(), this::openPlatform);
        } catch (RuntimeException failure) {
            given = "the platform could not be opened again after " + hanging.id() + " hung: " + failure.getMessage();
        }
    }

    // Standing rules.

    private void keep(String id, Rule rule, Proof proof, List<String> lines) {
        if (lines.isEmpty() || left.containsKey(id)) {
            return;
        }
        Rule standing = catalogue.find(id).orElse(null);
        if (standing == null) {
            return;
        }
        left.put(
                id,
                new Verdict(
                        standing,
                        standing.obligation() == Obligation.MUST ? Outcome.BROKEN : Outcome.NOT_FOLLOWED,
                        proof.name(),
                        "nothing of the kind after a proof",
                        lines.getFirst() + (lines.size() == 1 ? "" : " (and " + (lines.size() - 1) + " more)"),
                        "",
                        List.of(LEFT_BY + rule.id() + " " + rule.sentence()),
                        0));
    }

    private Verdict standing(Rule rule) {
        Optional<Verdict> aside = beforehand(rule);
        if (aside.isPresent()) {
            return aside.get();
        }
        Verdict found = left.get(rule.id());
        if (found != null) {
            return found;
        }
        boolean any = verdicts.values().stream().anyMatch(verdict -> verdict.outcome() == Outcome.PASSED);
        return any
                ? new Verdict(rule, Outcome.PASSED, "every proof", "", "", "", List.of(), 0)
                : Verdict.without(rule, Outcome.NOT_JUDGED, "no proof of another rule has passed in this run");
    }

    /** The verdicts on the standing rules asked for; to be asked for last. */
    List<Verdict> judgeStanding() {
        return standingRules().stream().map(this::judge).toList();
    }

    // Waivers and problems.

    private Verdict waive(Verdict verdict) {
        if (!verdict.outcome().isExecuted() || environment == null) {
            return verdict;
        }
        for (Waivers.KnownFailure waiver : options.waivers().knownFailures()) {
            if (waiver.rule().equals(verdict.rule().id())
                    && !waiver.isExpired(options.today())
                    && waiver.matches(environment)) {
                String why = waiver.reason() + " (" + waiver.issue() + ", until " + waiver.expires() + ")";
                return verdict.outcome() == Outcome.PASSED
                        ? verdict.as(Outcome.UNEXPECTED_PASS, "waived and holds; remove the waiver: " + why)
                        : verdict.as(Outcome.WAIVED, why);
            }
        }
        return verdict;
    }

    /** What is wrong beside broken rules. To be asked for last. */
    List<String> problems() {
        List<String> problems = new ArrayList<>();
        Set<Capability> declared = EnumSet.noneOf(Capability.class);
        environment.capabilities().forEach(name -> declared.add(Capability.valueOf(name)));
        Set<Capability> spoken = EnumSet.noneOf(Capability.class);
        for (Waivers.Unsupported waiver : options.waivers().unsupported()) {
            spoken.add(waiver.capability());
            if (declared.contains(waiver.capability())) {
                problems.add("the waivers say that " + waiver.capability()
                        + " is unsupported, and the platform declares it: remove the waiver");
            }
        }
        for (Waivers.KnownFailure waiver : options.waivers().knownFailures()) {
            if (waiver.isExpired(options.today())) {
                problems.add(
                        "the waiver of " + waiver.rule() + " expired on " + waiver.expires() + ": " + waiver.issue());
            }
        }
        for (Profile profile : options.profiles()) {
            if (!declared.contains(profile.capability())) {
                problems.add("the profile " + profile.label() + " demands " + profile.capability()
                        + ", which the platform does not declare");
            }
        }
        if (options.strict()) {
            Map<Capability, Integer> silent = new TreeMap<>();
            for (Rule rule : selected) {
                for (Capability capability : rule.capabilities()) {
                    if (!declared.contains(capability) && !spoken.contains(capability)) {
                        silent.merge(capability, 1, Integer::sum);
                    }
                }
            }
            silent.forEach((capability, count) -> problems.add("the platform does not declare " + capability + ", so "
                    + count + " rules were not judged; if that is meant, list it under 'unsupported' in the waivers"));
        }
        if (!ending.isEmpty()) {
            problems.add(ending);
        }
        if (verdicts.values().stream().noneMatch(verdict -> verdict.outcome().isExecuted())) {
            problems.add("no proof was executed");
        }
        return problems;
    }

    /** Nothing for a backend that breaks a rule: its figures would be of something else. */
    Map<String, Double> figures() {
        boolean broken =
                verdicts.values().stream().anyMatch(verdict -> verdict.outcome().isBad());
        return platform == null || broken ? Map.of() : thread.call("take figures", () -> FigureTaker.take(platform));
    }

    private static long mix(long seed, String name) {
        long z = seed * 0x9E3779B97F4A7C15L + name.hashCode();
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        return z ^ (z >>> 27);
    }

    /** Closes the platform; that it cannot be closed is a problem of the run. */
    void end() {
        if (platform == null) {
            return;
        }
        Platform open = platform;
        platform = null;
        try {
            thread.call("close " + subject.uri(), () -> {
                open.close();
                return open;
            });
        } catch (RuntimeException failure) {
            ending = "the platform could not be closed at the end: " + failure.getMessage();
        }
    }

    @Override
    public void close() {
        end();
        thread.abandon();
        warnings.close();
    }
}

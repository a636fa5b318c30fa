// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What a run asks for. Immutable; made by changing {@link #defaults()}.
 *
 * @param level from which level rules are taken
 * @param profiles only these features' rules, and their capabilities are demanded; empty for all rules
 * @param rules only these rules, by id; empty for all of the level
 * @param waivers what the plugin's owner says
 * @param strict whether absent hardware and capabilities that nobody spoke of fail the run
 * @param seed of all data and of the random order
 * @param order in which rules are judged
 * @param patience how long a proof may take before it counts as hanging
 * @param watched whether calls to the backend are recorded, so that a hang can be explained
 * @param figures whether performance figures are taken
 * @param today the day on which waivers expire or not
 * @param beginning told of each rule before it is put to the proof
 * @param progress told of each verdict as it is given
 */
public record RunOptions(
        Level level,
        Set<Profile> profiles,
        List<String> rules,
        Waivers waivers,
        boolean strict,
        long seed,
        Order order,
        Duration patience,
        boolean watched,
        boolean figures,
        LocalDate today,
        Consumer<Rule> beginning,
        Consumer<Verdict> progress) {
    /** What a proof may take unless said otherwise: long for a device, short for a person. */
    public static final Duration DEFAULT_PATIENCE = Duration.ofSeconds(60);

    public RunOptions {
        Objects.requireNonNull(level);
        Objects.requireNonNull(waivers);
        Objects.requireNonNull(order);
        Objects.requireNonNull(patience);
        Objects.requireNonNull(today);
        Objects.requireNonNull(beginning);
        Objects.requireNonNull(progress);
        profiles = Set.copyOf(profiles);
        rules = List.copyOf(rules);
    }

    /** Every rule of level FULL, in catalogue order, seed 1, nothing waived. */
    public static RunOptions defaults() {
        return new RunOptions(
                Level.FULL,
                Set.of(),
                List.of(),
                Waivers.NONE,
                false,
                1,
                Order.CATALOGUE,
                DEFAULT_PATIENCE,
                true,
                true,
                LocalDate.now(ZoneId.systemDefault()),
                rule -> {},
                verdict -> {});
    }

    public RunOptions withLevel(Level wanted) {
        return new RunOptions(
                wanted, profiles, rules, waivers, strict, seed, order, patience, watched, figures, today, beginning,
                progress);
    }

    public RunOptions withProfiles(Set<Profile> wanted) {
        return new RunOptions(
                level, wanted, rules, waivers, strict, seed, order, patience, watched, figures, today, beginning,
                progress);
    }

    public RunOptions withRules(List<String> wanted) {
        return new RunOptions(
                level, profiles, wanted, waivers, strict, seed, order, patience, watched, figures, today, beginning,
                progress);
    }

    public RunOptions withWaivers(Waivers wanted) {
        return new RunOptions(
                level, profiles, rules, wanted, strict, seed, order, patience, watched, figures, today, beginning,
                progress);
    }

    public RunOptions withStrict(boolean wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, wanted, seed, order, patience, watched, figures, today, beginning,
                progress);
    }

    public RunOptions withSeed(long wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, strict, wanted, order, patience, watched, figures, today, beginning,
                progress);
    }

    public RunOptions withOrder(Order wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, strict, seed, wanted, patience, watched, figures, today, beginning,
                progress);
    }

    public RunOptions withPatience(Duration wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, strict, seed, order, wanted, watched, figures, today, beginning,
                progress);
    }

    public RunOptions withWatched(boolean wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, strict, seed, order, patience, wanted, figures, today, beginning,
                progress);
    }

    public RunOptions withFigures(boolean wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, strict, seed, order, patience, watched, wanted, today, beginning,
                progress);
    }

    public RunOptions withToday(LocalDate wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, strict, seed, order, patience, watched, figures, wanted, beginning,
                progress);
    }

    public RunOptions withProgress(Consumer<Verdict> wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, strict, seed, order, patience, watched, figures, today, beginning,
                wanted);
    }

    public RunOptions withBeginning(Consumer<Rule> wanted) {
        return new RunOptions(
                level, profiles, rules, waivers, strict, seed, order, patience, watched, figures, today, wanted,
                progress);
    }
}

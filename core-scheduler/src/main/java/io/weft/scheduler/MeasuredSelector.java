// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.Communicator;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.spi.PerformanceModel;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Times the best few schedules that another selector names on the device itself, in turn, and keeps the fastest in a {@link TuningFile}. Products get their algorithms first, where the platform offers a choice.
 *
 * <p><b>Nothing stale.</b> What the file says holds for the same devices, driver and libraries only. The first time that a process uses an entry it runs the choice and the next best again: when the choice takes longer than it did, or than the other does now, by more than
 * {@link Options#regression()}, everything is measured again. Later on {@link #observe} does the same with times from real use.
 *
 * <p><b>No flapping.</b> After a new measurement the old choice stays unless another is faster by more than {@link Options#hysteresis()}; its new time is kept, so that a machine which has become slower for every schedule is measured once.
 *
 * <p>Takes the memory of the problem for a moment, and the devices: select before the application's own work, or between. Safe for any thread; one problem is measured at a time.
 */
public final class MeasuredSelector implements Selector {
    /**
     * How much is measured, and when again.
     *
     * @param candidates schedules timed, beside serial
     * @param rounds counted rounds of a measurement, 1 or more
     * @param hysteresis share by which another must be faster than the choice in use to replace it
     * @param regression share by which the choice must have become slower to be measured again
     * @param observations observed times whose median counts, 1 or more
     */
    public record Options(int candidates, int rounds, double hysteresis, double regression, int observations) {
        /** The best eight of the guide, eleven rounds; 2 % to switch, as a large product varies by some percent from run to run; 10 % to measure again. */
        public static Options defaults() {
            return new Options(8, 11, 0.02, 0.10, 5);
        }

        public Options {
            if (candidates < 1 || rounds < 1 || observations < 1 || !(hysteresis >= 0) || !(regression > 0)) {
                throw new IllegalArgumentException(
                        "candidates, rounds and observations are at least 1, hysteresis 0 or more, regression above 0");
            }
        }
    }

    private static final int CHECK_ROUNDS = 3;
    private static final long SEED = 1;
    private static final double MICROS_TO_TELL = 1e-3;

    private final Communicator communicator;
    private final Selector guide;
    private final TuningFile file;
    private final Options options;
    private final String platform;
    private final GemmTuner gemms;
    private final Map<OverlapProblem, Selection> known = new HashMap<>();
    private final Map<OverlapProblem, Deque<Double>> observed = new HashMap<>();
    private long measurements;

    /**
     * A selector for the ranks of a communicator, which outlives it.
     *
     * @param guide names what is worth timing
     * @param file where results are kept
     */
    public MeasuredSelector(Communicator communicator, Selector guide, TuningFile file, Options options) {
        this.communicator = communicator;
        this.guide = guide;
        this.file = file;
        this.options = options;
        this.platform = TuningFile.platform(communicator.platform());
        this.gemms = new GemmTuner(communicator, file);
    }

    /** The usual guide: the platform's model, or rules where it has none. */
    public static Selector guide(Platform platform) {
        return platform.has(Capability.PERFORMANCE_MODEL)
                        && platform.extension(PerformanceModel.class).isPresent()
                ? new ModelSelector(platform)
                : new HeuristicSelector(platform);
    }

    @Override
    public String name() {
        return "measured";
    }

    /** Full measurements so far. */
    public synchronized long measurements() {
        return measurements;
    }

    @Override
    public synchronized Selection select(OverlapProblem problem) {
        Selection selection = known.get(problem);
        if (selection == null) {
            selection = first(problem);
            known.put(problem, selection);
        }
        return selection;
    }

    private Selection first(OverlapProblem problem) {
        Optional<TuningFile.Entry> kept = file.problem(platform, problem);
        if (kept.isEmpty()) {
            return measure(problem, Optional.empty(), "no entry in the tuning file");
        }
        TuningFile.Entry entry = kept.get();
        Optional<String> stale = stale(problem, entry);
        return stale.isPresent()
                ? measure(problem, kept, stale.get())
                : selection(problem, entry, "kept from " + entry.date() + " and seen again");
    }

    /** Runs the choice and its closest rival once more. */
    private Optional<String> stale(OverlapProblem problem, TuningFile.Entry entry) {
        List<Schedule> two = new ArrayList<>();
        two.add(entry.choice());
        entry.us().keySet().stream()
                .filter(schedule -> !schedule.equals(entry.choice()))
                .findFirst()
                .ifPresent(two::add);
        Map<Schedule, Double> now = time(problem, two, CHECK_ROUNDS);
        if (!now.containsKey(entry.choice())) {
            return Optional.of(entry.choice() + " is refused now");
        }
        double choice = now.get(entry.choice());
        double before = entry.us().get(entry.choice());
        if (choice > before * (1 + options.regression())) {
            return Optional.of(
                    String.format(Locale.ROOT, "%s takes %.1f us and took %.1f us", entry.choice(), choice, before));
        }
        for (Map.Entry<Schedule, Double> other : now.entrySet()) {
            if (other.getValue() < choice * (1 - options.regression())) {
                return Optional.of(String.format(
                        Locale.ROOT,
                        "%s takes %.1f us now and the choice %.1f us",
                        other.getKey(),
                        other.getValue(),
                        choice));
            }
        }
        return Optional.empty();
    }

    /**
     * Hears how long the choice took in real use. When the median of the last few is above what was measured by more than the options allow, everything is measured again.
     *
     * @param us from the start to the end of one operation, alone on its devices, microseconds
     * @return whether it was measured again; {@link #select} then has the new choice
     */
    public synchronized boolean observe(OverlapProblem problem, double us) {
        Selection selection = known.get(problem);
        if (selection == null) {
            return false;
        }
        Deque<Double> times = observed.computeIfAbsent(problem, p -> new ArrayDeque<>());
        times.addLast(us);
        if (times.size() < options.observations()) {
            return false;
        }
        double median = times.stream().sorted().toList().get(times.size() / 2);
        times.removeFirst();
        double expected = us(selection, selection.choice());
        if (median <= expected * (1 + options.regression())) {
            return false;
        }
        times.clear();
        known.put(
                problem,
                measure(
                        problem,
                        file.problem(platform, problem),
                        String.format(
                                Locale.ROOT,
                                "%s took %.1f us in use and %.1f us when measured",
                                selection.choice(),
                                median,
                                expected)));
        return true;
    }

    /** Measures a problem again, whatever is known. */
    public synchronized Selection refresh(OverlapProblem problem) {
        Selection selection = measure(problem, file.problem(platform, problem), "asked for");
        known.put(problem, selection);
        return selection;
    }

    private static double us(Selection selection, Schedule schedule) {
        return selection.candidates().stream()
                .filter(candidate -> candidate.schedule().equals(schedule))
                .mapToDouble(Selection.Candidate::us)
                .findFirst()
                .orElseThrow();
    }

    // Measuring.

    private Selection measure(OverlapProblem problem, Optional<TuningFile.Entry> before, String why) {
        measurements++;
        Set<Schedule> schedules = new LinkedHashSet<>();
        schedules.add(Schedule.serial());
        before.ifPresent(entry -> schedules.add(entry.choice()));
        schedules.addAll(shortlist(problem));
        Map<Schedule, Double> us = sorted(time(problem, List.copyOf(schedules), options.rounds()));
        Schedule fastest = us.keySet().iterator().next();
        Schedule choice = fastest;
        double gain = us.get(Schedule.serial()) / us.get(fastest) - 1;
        if (gain < ModelSelector.NOISE) {
            choice = Schedule.serial();
        }
        if (before.isPresent()
                && us.containsKey(before.get().choice())
                && us.get(choice) > us.get(before.get().choice()) * (1 - options.hysteresis())) {
            choice = before.get().choice();
        }
        TuningFile.Entry entry = new TuningFile.Entry(
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), us, choice);
        file.put(platform, problem, entry);
        return selection(problem, entry, "measured now, as " + why);
    }

    /** What the guide ranks first, and one of every kind that people use, so that a guide which is wrong on a kind does not hide it. */
    private List<Schedule> shortlist(OverlapProblem problem) {
        Set<Schedule> chosen = new LinkedHashSet<>();
        Selection guess = guide.select(problem);
        chosen.add(guess.choice());
        guess.candidates().stream()
                .map(Selection.Candidate::schedule)
                .limit(options.candidates())
                .forEach(chosen::add);
        boolean engines = ModelSelector.copyEngines(communicator.platform());
        List<Schedule> typical = TypicalSchedules.of(problem, engines);
        if (guess.metrics().isEmpty()) {
            chosen.addAll(typical); // Rules rank no candidates: nothing is known but the typical ones.
        } else {
            Map<Schedule.Kind, Schedule> kinds = new LinkedHashMap<>();
            typical.forEach(schedule -> kinds.putIfAbsent(schedule.kind(), schedule));
            Set<Schedule.Kind> there = new LinkedHashSet<>();
            chosen.forEach(schedule -> there.add(schedule.kind()));
            kinds.forEach((kind, schedule) -> {
                if (!there.contains(kind)) {
                    chosen.add(schedule);
                }
            });
        }
        return List.copyOf(chosen);
    }

    private Map<Schedule, Double> time(OverlapProblem problem, List<Schedule> schedules, int rounds) {
        PerformanceModel.Issue issue = ModelSelector.issue(communicator.platform());
        List<LoweredSchedule> lowered = schedules.stream()
                .map(schedule -> Lowering.lower(problem, schedule))
                .toList();
        gemms.tune(lowered);
        try (OverlapTimer timer = OverlapTimer.open(communicator, problem, SEED)) {
            List<Supplier<GraphTimer.Sample>> runs = new ArrayList<>();
            List<Schedule> possible = new ArrayList<>();
            for (LoweredSchedule each : lowered) {
                try {
                    runs.add(timer.prepare(each, issue)::run);
                    possible.add(each.schedule());
                } catch (AcceleratorException refusal) {
                    // What the platform cannot run is no candidate; without the serial schedule there is nothing to
                    // say.
                    if (refusal.code() != ErrorCode.UNSUPPORTED
                            || each.schedule().equals(Schedule.serial())) {
                        throw refusal;
                    }
                }
            }
            List<Repetitions> times = Repetitions.inTurn(runs, Repetitions.WARM_UP, rounds, () -> {});
            Map<Schedule, Double> us = new LinkedHashMap<>();
            for (int i = 0; i < possible.size(); i++) {
                us.put(possible.get(i), Math.max(MICROS_TO_TELL, times.get(i).median()));
            }
            return us;
        }
    }

    private static Map<Schedule, Double> sorted(Map<Schedule, Double> us) {
        Map<Schedule, Double> sorted = new LinkedHashMap<>();
        us.entrySet().stream()
                .sorted(Map.Entry.comparingByValue()) // Stable: of equal ones the simpler stays first.
                .forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
        return sorted;
    }

    private static Selection selection(OverlapProblem problem, TuningFile.Entry entry, String why) {
        double serial = entry.us().get(Schedule.serial());
        List<Selection.Candidate> candidates = new ArrayList<>();
        entry.us().forEach((schedule, us) -> candidates.add(new Selection.Candidate(schedule, us, serial / us)));
        candidates.sort(Comparator.comparingDouble(Selection.Candidate::us));
        Schedule choice = entry.choice();
        double us = entry.us().get(choice);
        Optional<Schedule> next = candidates.stream()
                .map(Selection.Candidate::schedule)
                .filter(schedule -> schedule.kind() != choice.kind())
                .findFirst();
        String reason = String.format(
                Locale.ROOT,
                "%.2fx of serial: %.1f us of %.1f us among %d schedules timed in turn%s; %s",
                serial / us,
                us,
                serial,
                candidates.size(),
                next.map(other -> String.format(
                                Locale.ROOT,
                                ", next is %s with %.1f us",
                                other,
                                entry.us().get(other)))
                        .orElse(""),
                why);
        return new Selection(problem, choice, next, reason, candidates, Optional.empty());
    }
}

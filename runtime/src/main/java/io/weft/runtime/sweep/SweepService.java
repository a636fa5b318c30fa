// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sweep;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.runtime.model.ModelConfig;
import io.weft.runtime.model.ModelConfigReader;
import io.weft.runtime.plan.PlanRequest;
import io.weft.runtime.plan.PlanService;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.scheduler.Deployment;
import io.weft.spi.PerformanceModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Plans every point of a space, one point on each thread; neither rows nor their order depend on the number of threads. Points that cannot be planned keep a row
 * that says why. Safe for any thread.
 */
public final class SweepService {
    /** Part of the settings: rows of another form or another meaning must not be mixed. */
    private static final String FORM = "weft-sweep-1";

    private final EffectiveSettings settings;
    private final int threads;
    private final PlanService plans;

    /** Takes {@code plan.threads} and the limits on schedules from the settings. */
    public SweepService(EffectiveSettings settings) {
        this.settings = settings;
        long wanted = settings.value(Catalogue.PLAN_THREADS);
        this.threads = wanted == 0 ? Runtime.getRuntime().availableProcessors() : Math.toIntExact(wanted);
        this.plans = new PlanService(settings, 1);
    }

    /**
     * Sweeps.
     *
     * @param opener opens a platform by its URI; whoever gave it closes what it opened
     * @param out file of the rows, which an interrupted sweep of the same settings goes on with; empty for none
     * @throws AcceleratorException INVALID_ARGUMENT when no point can be planned, with the reason of the first; BAD_DOCUMENT for a file of other settings; what
     *     opening a platform or reading a model throws
     */
    public SweepReport sweep(
            SweepRequest request, Function<String, Platform> opener, Optional<Path> out, Progress progress) {
        Map<String, Platform> platforms = new LinkedHashMap<>();
        Map<String, ModelConfig> models = new LinkedHashMap<>();
        request.models().forEach(name -> models.put(name, ModelConfigReader.read(name)));
        request.platforms().forEach(uri -> platforms.put(uri, opener.apply(uri)));
        String fingerprint = fingerprint(request, platforms, models);
        List<SweepRequest.Point> points = request.points();
        Map<List<String>, SweepRequest.Point> byKey = new LinkedHashMap<>();
        points.forEach(point -> byKey.put(SweepRow.key(point), point));
        if (out.isEmpty()) {
            Map<List<String>, SweepRow> rows = new ConcurrentHashMap<>();
            work(points, request, platforms, models, fingerprint, row -> rows.put(row.key(), row), progress);
            List<SweepRow> ordered =
                    points.stream().map(point -> rows.get(SweepRow.key(point))).toList();
            return report(ordered, 0);
        }
        try (SweepFile file = SweepFile.open(out.get(), fingerprint, byKey)) {
            Map<List<String>, SweepRow> there = file.rows();
            List<SweepRequest.Point> left = points.stream()
                    .filter(point -> !there.containsKey(SweepRow.key(point)))
                    .toList();
            work(left, request, platforms, models, fingerprint, file::add, progress);
            return report(file.complete(points), there.size());
        }
    }

    private static SweepReport report(List<SweepRow> rows, int resumed) {
        if (rows.stream().noneMatch(SweepRow::isPlanned)) {
            throw AcceleratorException.invalid(
                    "sweep",
                    "none of the " + rows.size() + " points can be planned; the first: "
                            + rows.getFirst().cell("note"));
        }
        return new SweepReport(rows, resumed);
    }

    private void work(
            List<SweepRequest.Point> points,
            SweepRequest request,
            Map<String, Platform> platforms,
            Map<String, ModelConfig> models,
            String fingerprint,
            Consumer<SweepRow> sink,
            Progress progress) {
        progress.begin("planning", points.size());
        List<PerformanceModel> estimators = platforms.values().stream()
                .flatMap(platform -> platform.extension(PerformanceModel.class).stream())
                .toList();
        progress.counts(
                "events",
                () -> estimators.stream().mapToLong(PerformanceModel::events).sum());
        ExecutorService workers = Executors.newFixedThreadPool(threads);
        List<Future<?>> running = new ArrayList<>(points.size());
        try {
            for (SweepRequest.Point point : points) {
                running.add(workers.submit(() -> {
                    sink.accept(plan(point, request, platforms, models, fingerprint));
                    progress.step(point.toString());
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(failure.getCause());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new AcceleratorException(ErrorCode.ABORTED, "sweep", "interrupted", stop);
        } finally {
            running.forEach(each -> each.cancel(false));
            workers.close();
            progress.end();
        }
    }

    private SweepRow plan(
            SweepRequest.Point point,
            SweepRequest request,
            Map<String, Platform> platforms,
            Map<String, ModelConfig> models,
            String fingerprint) {
        try {
            PlanRequest plan = new PlanRequest(
                    models.get(point.model()),
                    new Deployment(
                            point.tokens(),
                            point.tensorParallel(),
                            point.expertParallel(),
                            request.sequenceParallel(),
                            point.elementType(),
                            0),
                    request.select(),
                    false,
                    false);
            return SweepRow.of(
                    point,
                    plans.plan(platforms.get(point.platform()), plan, Progress.NONE)
                            .report(),
                    fingerprint);
        } catch (AcceleratorException refusal) {
            return switch (refusal.code()) {
                // The point is at fault, not the sweep.
                case INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY ->
                    SweepRow.refused(point, refusal.getMessage(), fingerprint);
                default -> throw refusal;
            };
        }
    }

    private String fingerprint(SweepRequest request, Map<String, Platform> platforms, Map<String, ModelConfig> models) {
        Fingerprint all = new Fingerprint();
        all.add(FORM);
        all.addVersion();
        all.add(request);
        all.add(settings.value(Catalogue.SCHEDULE_CHUNKS));
        all.add(settings.value(Catalogue.SCHEDULE_STREAMS));
        models.forEach((name, model) -> all.add(name + " " + model));
        platforms.values().forEach(all::add);
        return all.word();
    }
}

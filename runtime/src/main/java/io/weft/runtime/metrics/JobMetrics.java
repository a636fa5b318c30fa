// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.weft.api.Platform;
import io.weft.spi.MetricSource;
import io.weft.spi.MetricSource.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The meters of a job: those of every open platform that has any ({@link MetricSource}), tagged with its URI, and the share of communication that the last run did not hide. Safe for any thread.
 */
public final class JobMetrics {
    private static final String PREFIX = "weft.";

    private final MeterRegistry registry;
    private volatile double exposed = Double.NaN;

    /** Meters go to this registry, which stays the caller's. */
    public JobMetrics(MeterRegistry registry) {
        this.registry = registry;
        Gauge.builder(PREFIX + "exposed.communication", this, job -> job.exposed)
                .baseUnit("ratio")
                .description("Share of the last run's communication that compute did not hide.")
                .strongReference(true)
                .register(registry);
    }

    /** Where meters go. */
    public MeterRegistry registry() {
        return registry;
    }

    /** What the last run did not hide, from 0 to 1. */
    public void exposedCommunication(double share) {
        exposed = share;
    }

    /**
     * Adds a platform's meters.
     *
     * @return takes them away again; closed before the platform
     */
    public AutoCloseable watch(Platform platform) {
        List<Meter> meters = new ArrayList<>();
        platform.extension(MetricSource.class).ifPresent(source -> {
            for (Metric metric : source.metrics()) {
                meters.add(register(metric, platform.uri().toString()));
            }
        });
        return () -> meters.forEach(registry::remove);
    }

    /** The registry holds what it measures weakly, but the measuring functions strongly: so they hold the metric, which nobody else has to keep. */
    private Meter register(Metric metric, String uri) {
        List<Tag> tags = new ArrayList<>(List.of(Tag.of("platform", uri)));
        metric.tags().forEach((key, value) -> tags.add(Tag.of(key, value)));
        String name = PREFIX + metric.name();
        return switch (metric.kind()) {
            case GAUGE ->
                Gauge.builder(name, metric.value()::getAsDouble)
                        .tags(Tags.of(tags))
                        .baseUnit(metric.unit().isEmpty() ? null : metric.unit())
                        .description(metric.description())
                        .register(registry);
            case COUNTER ->
                FunctionCounter.builder(name, metric, _ -> metric.value().getAsDouble())
                        .tags(Tags.of(tags))
                        .baseUnit(metric.unit().isEmpty() ? null : metric.unit())
                        .description(metric.description())
                        .register(registry);
            case TIMER ->
                FunctionTimer.builder(
                                name,
                                metric,
                                _ -> (long) metric.count().getAsDouble(),
                                _ -> metric.value().getAsDouble() * 1e9,
                                TimeUnit.NANOSECONDS)
                        .tags(Tags.of(tags))
                        .description(metric.description())
                        .register(registry);
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleSupplier;

/**
 * What an open platform counts while it works, for monitoring. An optional power of {@link PlatformDriver#extension}. Values are read by other threads at any time, so reading must be cheap, safe and without effect.
 */
public interface MetricSource {
    /** Every metric; the list does not change while the platform is open. */
    List<Metric> metrics();

    /** How values of a metric relate in time. */
    enum Kind {
        /** Goes up and down. */
        GAUGE,
        /** Only ever grows. */
        COUNTER,
        /** Counts how often something happened and sums how long it took. */
        TIMER
    }

    /**
     * A metric.
     *
     * @param kind how its values relate in time
     * @param name lower-case words joined by dots, without the program's name, such as {@code link.packets}
     * @param unit its unit in the plural, such as {@code bytes}; {@code ratio} for a share from 0 to 1; empty for plain numbers
     * @param description one sentence
     * @param tags what tells it from others of the same name; the same keys for all of one name
     * @param value its value; of a timer the sum in seconds
     * @param count of a timer how often it happened; not read otherwise
     */
    record Metric(
            Kind kind,
            String name,
            String unit,
            String description,
            Map<String, String> tags,
            DoubleSupplier value,
            DoubleSupplier count) {
        public Metric {
            Objects.requireNonNull(kind);
            Objects.requireNonNull(name);
            Objects.requireNonNull(unit);
            Objects.requireNonNull(description);
            tags = Map.copyOf(tags);
            Objects.requireNonNull(value);
            Objects.requireNonNull(count);
        }

        /** A value that goes up and down. */
        public static Metric gauge(
                String name, String unit, String description, Map<String, String> tags, DoubleSupplier value) {
            return new Metric(Kind.GAUGE, name, unit, description, tags, value, () -> 0);
        }

        /** A value that only grows. */
        public static Metric counter(
                String name, String unit, String description, Map<String, String> tags, DoubleSupplier value) {
            return new Metric(Kind.COUNTER, name, unit, description, tags, value, () -> 0);
        }

        /** Something that happens again and again and takes its time. */
        public static Metric timer(
                String name,
                String description,
                Map<String, String> tags,
                DoubleSupplier seconds,
                DoubleSupplier count) {
            return new Metric(Kind.TIMER, name, "seconds", description, tags, seconds, count);
        }
    }
}

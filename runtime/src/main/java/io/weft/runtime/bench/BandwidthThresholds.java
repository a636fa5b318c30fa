// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.json.JsonValue;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Bus bandwidths that a node must reach, by operation and size, in the form of AMD's cluster validation suite (ROCm/cvs): {@code {"all_reduce_perf": {"bus_bw":
 * {"8589934592": "330.00"}}}}. Immutable.
 */
public final class BandwidthThresholds {
    private static final String SUBJECT = "thresholds";
    private static final String SUFFIX = "_perf";
    private static final String MEMBER = "bus_bw";

    private final Map<CollectiveOperation, Map<Long, Double>> leasts;

    private BandwidthThresholds(Map<CollectiveOperation, Map<Long, Double>> leasts) {
        this.leasts = leasts;
    }

    /**
     * Reads a file.
     *
     * @throws AcceleratorException BAD_DOCUMENT with file, line, column, what was found and what is accepted
     */
    public static BandwidthThresholds read(Path file) {
        return of(file.toString(), JsonReader.read(SUBJECT, file));
    }

    static BandwidthThresholds of(String place, JsonValue root) {
        Map<CollectiveOperation, Map<Long, Double>> leasts = new EnumMap<>(CollectiveOperation.class);
        for (Map.Entry<String, JsonValue> entry : object(place, root).entrySet()) {
            CollectiveOperation operation = operation(place, entry.getKey(), entry.getValue());
            JsonValue bandwidths = object(place, entry.getValue()).get(MEMBER);
            if (bandwidths == null) {
                throw refusal(place, entry.getValue(), "'" + entry.getKey() + "' has no " + MEMBER);
            }
            Map<Long, Double> bySize = new TreeMap<>();
            for (Map.Entry<String, JsonValue> size : object(place, bandwidths).entrySet()) {
                if (!size.getKey().matches("\\d{1,18}")) {
                    throw refusal(place, size.getValue(), "size '" + size.getKey() + "' is no number of bytes");
                }
                bySize.put(Long.parseLong(size.getKey()), gigabytes(place, size.getValue()));
            }
            leasts.put(operation, bySize);
        }
        return new BandwidthThresholds(leasts);
    }

    private static Map<String, JsonValue> object(String place, JsonValue value) {
        if (value instanceof JsonValue.ObjectValue object) {
            return object.members();
        }
        throw refusal(place, value, "found " + value.describe() + "; accepted is an object");
    }

    private static CollectiveOperation operation(String place, String name, JsonValue value) {
        try {
            return CollectiveOperation.parse(
                    name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name);
        } catch (AcceleratorException unknown) {
            throw refusal(place, value, unknown.detail());
        }
    }

    private static double gigabytes(String place, JsonValue value) {
        String text = switch (value) {
            case JsonValue.NumberValue number -> number.text();
            case JsonValue.StringValue string -> string.text().strip();
            default -> "";
        };
        if (text.matches("\\d{1,9}(\\.\\d{1,9})?")) {
            return Double.parseDouble(text);
        }
        throw refusal(place, value, "found " + value.describe() + "; accepted is a number of GB/s");
    }

    private static AcceleratorException refusal(String place, JsonValue value, String words) {
        return new AcceleratorException(
                ErrorCode.BAD_DOCUMENT, SUBJECT, place + ":" + value.line() + ":" + value.column() + ": " + words);
    }

    /** The least bus bandwidth of an operation and size, GB/s; NaN when none is demanded. */
    public double least(CollectiveOperation operation, long bytes) {
        return leasts.getOrDefault(operation, Map.of()).getOrDefault(bytes, Double.NaN);
    }

    /** What a report does not reach, each in one line; empty when it reaches everything that is demanded of its sizes. */
    public List<String> missed(CollectiveReport report) {
        List<String> missed = new ArrayList<>();
        for (CollectiveReport.Table table : report.tables()) {
            for (CollectiveReport.Row row : table.rows()) {
                double least = least(table.operation(), row.bytes());
                double found = row.outOfPlace().busGbps();
                if (found < least) {
                    missed.add(String.format(
                            Locale.ROOT,
                            "%s of %d bytes over %d ranks: %.2f GB/s on the bus, %.2f are demanded",
                            table.operation().label(),
                            row.bytes(),
                            table.ranks(),
                            found,
                            least));
                }
            }
        }
        return missed;
    }

    /** How many of a report's rows something is demanded of. */
    public long judged(CollectiveReport report) {
        return report.tables().stream()
                .mapToLong(table -> table.rows().stream()
                        .filter(row -> !Double.isNaN(least(table.operation(), row.bytes())))
                        .count())
                .sum();
    }
}

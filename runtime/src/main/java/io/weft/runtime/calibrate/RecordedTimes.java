// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.calibrate;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.spi.ModelFitter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The times that stand in the head of a machine document which {@code weft calibrate} wrote.
 *
 * @param source what messages call the document
 * @param nanos by micro-benchmark, ns, as exact as the document has them (10 ns)
 * @param provenance what the document says of them: date, platform, device, driver, rounds
 */
public record RecordedTimes(String source, Map<String, Double> nanos, Map<String, String> provenance) {
    private static final Pattern TIME = Pattern.compile("#\\s+(\\S.*?)\\s+([0-9.]+) us measured\\s.*");
    private static final Pattern WORD = Pattern.compile("# (\\w+): (.*)");
    private static final List<String> KEPT = List.of("date", "platform", "device", "driver", "rounds");
    private static final double NANOS_PER_MICRO = 1e3;

    public RecordedTimes {
        nanos = Map.copyOf(nanos);
        provenance = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(provenance));
    }

    /** What they are: a model's, when the document says that its platform was one. */
    public Figures figures() {
        String platform = provenance.getOrDefault("platform", "");
        return platform.endsWith("(" + Figures.MODEL.label() + ")") ? Figures.MODEL : Figures.MEASURED;
    }

    /**
     * Reads a document's head.
     *
     * @throws AcceleratorException BAD_DOCUMENT when no time stands in it
     */
    public static RecordedTimes of(ModelFitter.Document document) {
        Map<String, Double> nanos = new LinkedHashMap<>();
        Map<String, String> provenance = new LinkedHashMap<>();
        document.text().lines().takeWhile(line -> line.startsWith("#")).forEach(line -> {
            Matcher time = TIME.matcher(line);
            Matcher word = WORD.matcher(line);
            if (time.matches()) {
                nanos.put(time.group(1), Double.parseDouble(time.group(2)) * NANOS_PER_MICRO);
            } else if (word.matches() && KEPT.contains(word.group(1))) {
                provenance.put(word.group(1), word.group(2));
            }
        });
        if (nanos.isEmpty()) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT,
                    "calibrate",
                    document.source()
                            + " has no line with '... us measured' in its head; accepted is a machine document that 'weft calibrate' wrote");
        }
        return new RecordedTimes(document.source(), nanos, provenance);
    }
}

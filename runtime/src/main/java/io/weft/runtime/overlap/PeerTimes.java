// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.runtime.json.JsonReader;
import io.weft.runtime.json.JsonValue;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Times that another program measured on the same machine, to be put beside Weft's. The file is a JSON object with a member {@code results}: an array of objects with {@code pattern}, {@code m}, {@code n}, {@code k} and {@code us}, which
 * holds a time in microseconds by the name of each variant, such as {@code {"serial": 3672, "async-tp": 3600}}. Other members are let pass, and so is a time that is null.
 */
public final class PeerTimes {
    private static final PeerTimes NONE = new PeerTimes(Map.of());

    private record Key(Pattern pattern, long m, long n, long k) {}

    private final Map<Key, Map<String, Double>> times;

    private PeerTimes(Map<Key, Map<String, Double>> times) {
        this.times = times;
    }

    /** No times. */
    public static PeerTimes none() {
        return NONE;
    }

    /**
     * Reads a file.
     *
     * @throws AcceleratorException BAD_DOCUMENT
     */
    public static PeerTimes read(Path file) {
        JsonValue document = JsonReader.read("peer times", file);
        Map<Key, Map<String, Double>> times = new HashMap<>();
        JsonFields root = new JsonFields("peer times", file.toString(), document);
        for (JsonFields result : root.objects("results")) {
            Pattern pattern;
            try {
                pattern = Pattern.parse(result.text("pattern"));
            } catch (AcceleratorException unknown) {
                throw new AcceleratorException(
                        ErrorCode.BAD_DOCUMENT, "peer times", result.at("pattern") + ": " + unknown.detail(), unknown);
            }
            Key key = new Key(pattern, result.whole("m"), result.whole("n"), result.whole("k"));
            Map<String, Double> variants = times.computeIfAbsent(key, k -> new LinkedHashMap<>());
            JsonFields us = result.object("us");
            for (String variant : us.names()) {
                if (!us.isNull(variant)) {
                    variants.put(variant, us.number(variant));
                }
            }
        }
        return new PeerTimes(times);
    }

    /** Times of a problem by variant, us; empty when there are none. */
    public Map<String, Double> of(OverlapProblem problem) {
        return Collections.unmodifiableMap(
                times.getOrDefault(new Key(problem.pattern(), problem.m(), problem.n(), problem.k()), Map.of()));
    }

    /** All variants, in the order of their first appearance. */
    public Set<String> variants() {
        Set<String> names = new LinkedHashSet<>();
        times.values().forEach(variants -> names.addAll(variants.keySet()));
        return names;
    }

    /** Whether there are no times at all. */
    public boolean isEmpty() {
        return times.isEmpty();
    }
}

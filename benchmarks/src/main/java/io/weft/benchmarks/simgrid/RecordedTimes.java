// SPDX-License-Identifier: Apache-2.0
package io.weft.benchmarks.simgrid;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Finish times by problem and flow, as {@code fluid solve} prints them. */
final class RecordedTimes {
    private final Map<String, List<Double>> times = new LinkedHashMap<>();

    private RecordedTimes() {}

    static RecordedTimes parse(List<String> lines) {
        RecordedTimes recorded = new RecordedTimes();
        List<Double> current = List.of();
        for (String line : lines) {
            if (line.startsWith("problem ")) {
                current = new ArrayList<>();
                recorded.times.put(line.substring("problem ".length()), current);
            } else if (!line.startsWith("#")) {
                current.add(Double.parseDouble(line));
            }
        }
        return recorded;
    }

    /** Names of all problems. */
    List<String> problems() {
        return List.copyOf(times.keySet());
    }

    /** Finish times of a problem's flows, s. */
    double[] of(String problem) {
        List<Double> found = times.get(problem);
        if (found == null) {
            throw new IllegalArgumentException("there are no times of problem " + problem);
        }
        return found.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** The largest relative difference between two lists of times; infinite when one lacks a time. */
    static double worstDifference(double[] expected, double[] found) {
        if (expected.length != found.length) {
            return Double.POSITIVE_INFINITY;
        }
        double worst = 0;
        for (int i = 0; i < expected.length; i++) {
            double difference = Math.abs(found[i] / expected[i] - 1);
            worst = difference <= worst ? worst : Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference;
        }
        return worst;
    }
}

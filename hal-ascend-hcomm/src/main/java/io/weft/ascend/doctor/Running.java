// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.spi.input.FindingReport;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A running job by its metrics: what {@code /metrics} gave, saved to a file. */
final class Running {
    /** Reads such a file. */
    static final String OPTION = "--metrics";

    /** s that a switch of communication groups on a stream may take. */
    static final double MOST_SWITCH_SECONDS = 10e-6;

    /** Shares of a communication buffer between which it is well used. */
    static final double LEAST_LEVEL = 0.70;

    static final double MOST_LEVEL = 0.80;

    private static final String ACCEPTED = "metrics in Prometheus' text format, as /metrics gives them";
    private static final Pattern SAMPLE =
            Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{.*\\})?\\s+(\\S+)(?:\\s+\\d+)?");

    private Running() {}

    private record Sample(String labels, double value) {}

    static void look(List<Path> files, FindingReport report) {
        for (Path file : files) {
            Map<String, List<Sample>> samples = read(file);
            if (samples.keySet().stream().noneMatch(name -> name.startsWith("weft_"))) {
                throw ToolText.refused(file, "no metric of Weft (weft_...) is in it; accepted is " + ACCEPTED);
            }
            level(samples.getOrDefault("weft_communication_buffer_level_ratio", List.of()), report);
            switches(samples, report);
            retransmissions(samples, report);
            exposed(samples.getOrDefault("weft_exposed_communication_ratio", List.of()), report);
        }
    }

    private static Map<String, List<Sample>> read(Path file) {
        String text = ToolText.read(file, ACCEPTED, "");
        Map<String, List<Sample>> samples = new LinkedHashMap<>();
        int number = 0;
        for (String raw : text.split("\n", -1)) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            Matcher sample = SAMPLE.matcher(line);
            if (!sample.matches()) {
                throw ToolText.refused(
                        file,
                        "line " + number + ": '" + ToolText.begins(line) + "' is no sample; accepted is " + ACCEPTED);
            }
            double value;
            try {
                value = Double.parseDouble(
                        sample.group(3).replace("+Inf", "Infinity").replace("-Inf", "-Infinity"));
            } catch (NumberFormatException none) {
                throw ToolText.refused(file, "line " + number + ": '" + sample.group(3) + "' is no number");
            }
            samples.computeIfAbsent(sample.group(1), key -> new ArrayList<>())
                    .add(new Sample(sample.group(2) == null ? "" : sample.group(2), value));
        }
        return samples;
    }

    private static void level(List<Sample> samples, FindingReport report) {
        for (Sample sample : samples) {
            if (!(sample.value() > 0)) {
                // Nothing is on its way just now.
                continue;
            }
            String seen = String.format(
                    Locale.ROOT, "communication buffer%s is %.0f %% full", sample.labels(), sample.value() * 100);
            if (sample.value() > MOST_LEVEL) {
                report.warning(
                        "buffer-level",
                        seen + "; 70 to 80 % is well",
                        "A burst finds no room, and transfers wait for one another.",
                        "",
                        "Raise the pool, or HCCL_BUFFSIZE.");
            } else if (sample.value() < LEAST_LEVEL) {
                report.note(
                        "buffer-level",
                        seen + "; 70 to 80 % is well",
                        "What is not used is device memory that the model could have.",
                        "",
                        "Lower the pool, or HCCL_BUFFSIZE.");
            } else {
                report.good("buffer-level", seen);
            }
        }
    }

    private static void switches(Map<String, List<Sample>> samples, FindingReport report) {
        double seconds = sum(samples, "weft_group_switch_seconds_sum");
        double count = sum(samples, "weft_group_switch_seconds_count");
        if (count <= 0) {
            return;
        }
        double each = seconds / count;
        String seen = String.format(Locale.ROOT, "%.0f switches between groups took %.2f us each", count, each * 1e6);
        if (each > MOST_SWITCH_SECONDS) {
            report.warning(
                    "group-switch",
                    seen + "; below 10 us is well",
                    "A step with hundreds of small groups loses milliseconds to it.",
                    "",
                    "Prepare descriptors once per group; keep one stream per group.");
        } else {
            report.good("group-switch", seen);
        }
    }

    private static void retransmissions(Map<String, List<Sample>> samples, FindingReport report) {
        double again = sum(samples, "weft_link_retransmitted_packets_total");
        double sent = sum(samples, "weft_link_packets_total");
        if (sent <= 0) {
            return;
        }
        String seen = String.format(Locale.ROOT, "%.4f %% of packets were sent again", again / sent * 100);
        if (again / sent >= Links.MOST_RETRANSMITTED) {
            report.problem(
                    "retransmissions",
                    seen + "; below 0.1 % is well",
                    "Every lost packet costs a timeout.",
                    "",
                    "Look at the links: --hccn FILE.");
        } else {
            report.good("retransmissions", seen);
        }
    }

    private static void exposed(List<Sample> samples, FindingReport report) {
        for (Sample sample : samples) {
            if (Double.isNaN(sample.value())) {
                continue;
            }
            report.note(
                    "exposed-communication",
                    String.format(
                            Locale.ROOT,
                            "%.1f %% of communication%s is not hidden behind compute",
                            sample.value() * 100,
                            sample.labels()),
                    "",
                    "",
                    "");
        }
    }

    private static double sum(Map<String, List<Sample>> samples, String name) {
        return samples.getOrDefault(name, List.of()).stream()
                .mapToDouble(Sample::value)
                .sum();
    }
}

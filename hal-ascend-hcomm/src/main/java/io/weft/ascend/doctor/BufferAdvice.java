// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import io.weft.ascend.hccl.BufferCalculator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What {@code HCCL_BUFFSIZE} should be for a model: {@code HCCL_BUFFSIZE tokens=4096 hidden=7168 experts=8 communicators=5}. */
final class BufferAdvice {
    /** How such a question begins. */
    static final String VARIABLE = "HCCL_BUFFSIZE";

    private static final Pattern TERM = Pattern.compile("(tokens|hidden|experts|bytes|communicators)=(\\d{1,9})");
    private static final String ACCEPTED =
            "HCCL_BUFFSIZE tokens=N hidden=N, and experts=N for each token, bytes=N of an element, communicators=N";

    private BufferAdvice() {}

    /**
     * Answers.
     *
     * @throws AcceleratorException INVALID_ARGUMENT for terms that it does not know
     */
    static List<Finding> explain(String question) {
        Map<String, Long> terms = new TreeMap<>();
        for (String word : question.strip().substring(VARIABLE.length()).strip().split("\\s+", -1)) {
            Matcher term = TERM.matcher(word);
            if (term.matches()) {
                terms.put(term.group(1), Long.parseLong(term.group(2)));
            } else if (!word.isEmpty()) {
                throw AcceleratorException.invalid("doctor", "'" + word + "' is no term; accepted is " + ACCEPTED);
            }
        }
        int communicators = Math.toIntExact(Math.max(1, terms.getOrDefault("communicators", 4L)));
        if (terms.isEmpty()) {
            return List.of(
                    finding(BufferCalculator.DEFAULT_MEGABYTES, communicators, "when nothing is set", Double.NaN));
        }
        if (!terms.containsKey("tokens") || !terms.containsKey("hidden")) {
            throw AcceleratorException.invalid("doctor", "tokens and hidden are needed; accepted is " + ACCEPTED);
        }
        long tokens = terms.get("tokens");
        long hidden = terms.get("hidden");
        int bytes = Math.toIntExact(terms.getOrDefault("bytes", 2L));
        int megabytes;
        long message;
        try {
            if (terms.containsKey("experts")) {
                int experts = Math.toIntExact(terms.get("experts"));
                megabytes = BufferCalculator.megabytesForExperts(tokens, hidden, experts);
                message = tokens * hidden * experts * 4;
            } else {
                megabytes = BufferCalculator.megabytesForActivations(tokens, hidden, bytes);
                message = tokens * hidden * bytes;
            }
        } catch (ArithmeticException large) {
            throw AcceleratorException.invalid("doctor", "no buffer holds so much; accepted is " + ACCEPTED);
        }
        return List.of(finding(
                megabytes,
                communicators,
                "for " + tokens + " tokens of width " + hidden
                        + (terms.containsKey("experts") ? ", " + terms.get("experts") + " experts for each" : ""),
                BufferCalculator.level(message, megabytes)));
    }

    private static Finding finding(int megabytes, int communicators, String whatFor, double level) {
        return new Finding(
                Finding.Severity.NOTE,
                "hccl-buffer",
                "HCCL_BUFFSIZE=" + megabytes + " " + whatFor
                        + (Double.isNaN(level)
                                ? ""
                                : String.format(Locale.ROOT, "; the largest message fills %.0f %% of it", level * 100)),
                "It is MB of each of the two buffers of a communicator: " + communicators + " communicators take "
                        + (BufferCalculator.deviceBytes(communicators, megabytes) >> 20)
                        + " MB of every device. Expert-parallel dispatch and combine fail when their message does not fit;"
                        + " plain collectives only take more rounds.",
                "HCCL documentation, HCCL_BUFFSIZE; vllm-project/vllm-ascend#2674, #16835",
                "Set it on every rank alike.");
    }
}

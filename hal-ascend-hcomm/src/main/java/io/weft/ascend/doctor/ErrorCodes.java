// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.api.Finding;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Error codes of the runtime (numbers), of HCCL (EI, EJ, EL) and HCCL's results (small numbers), with cause and next step. */
public final class ErrorCodes {
    private static final Map<String, Code> CODES = load();

    private ErrorCodes() {}

    /**
     * A code.
     *
     * @param code as logs show it
     * @param name short
     * @param meaning one sentence
     * @param cause what usually causes it; may be empty
     * @param next what to do
     * @param seen public reports of it; may be empty
     */
    public record Code(String code, String name, String meaning, String cause, String next, String seen) {}

    /** A code by its text: {@code 507015}, {@code EI0006}, {@code ei0006}, {@code ERR99999: EI0006}, or {@code 11} for HCCL's result. */
    public static Optional<Code> find(String text) {
        String wanted = text.strip().toUpperCase(Locale.ROOT);
        Code exact = CODES.get(wanted);
        if (exact != null) {
            return Optional.of(exact);
        }
        // A line of a log: the first code in it that is known. Small numbers stand in every line, so they count alone
        // only.
        for (String word : wanted.split("[^A-Z0-9]+", -1)) {
            if (word.length() > 4 && CODES.containsKey(word)) {
                return Optional.of(CODES.get(word));
            }
        }
        return Optional.empty();
    }

    /** Every code, in the order of the table. */
    public static List<Code> all() {
        return List.copyOf(CODES.values());
    }

    /** A code as a finding; empty when it is not known. */
    static List<Finding> explain(String text) {
        return find(text)
                .map(code -> List.of(new Finding(
                        Finding.Severity.NOTE,
                        "error-code",
                        code.code() + ", " + code.name() + ": " + code.meaning(),
                        code.cause().isEmpty() ? "" : "Usual cause: " + code.cause(),
                        code.seen(),
                        code.next())))
                .orElse(List.of());
    }

    private static Map<String, Code> load() {
        Map<String, Code> codes = new LinkedHashMap<>();
        for (String line : Resource.lines("codes.txt")) {
            List<String> cells = new ArrayList<>();
            for (String cell : line.split("\\|", -1)) {
                cells.add(cell.strip());
            }
            while (cells.size() < 6) {
                cells.add("");
            }
            codes.put(
                    cells.get(0),
                    new Code(cells.get(0), cells.get(1), cells.get(2), cells.get(3), cells.get(4), cells.get(5)));
        }
        return codes;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.ArrayList;
import java.util.List;

/**
 * Ports from the first to the last, both included.
 *
 * @param first 1 to 65535
 * @param last first to 65535
 */
public record PortRange(int first, int last) {
    /** The largest port. */
    public static final int MAX = 65_535;

    public PortRange {
        if (first < 1 || last > MAX || first > last) {
            throw bad("ports", first + "-" + last);
        }
    }

    /**
     * Reads a list such as {@code 16666} or {@code 60000-60050,50200-51200}.
     *
     * @param variable the setting's name, for messages
     */
    public static List<PortRange> parse(String variable, String text) {
        List<PortRange> ranges = new ArrayList<>();
        for (String piece : text.split(",", -1)) {
            String range = piece.strip();
            int dash = range.indexOf('-');
            try {
                int first = Integer.parseInt(
                        dash < 0 ? range : range.substring(0, dash).strip());
                int last = dash < 0
                        ? first
                        : Integer.parseInt(range.substring(dash + 1).strip());
                if (first < 1 || last > MAX || first > last) {
                    throw bad(variable, text);
                }
                ranges.add(new PortRange(first, last));
            } catch (NumberFormatException notANumber) {
                throw bad(variable, text);
            }
        }
        return List.copyOf(ranges);
    }

    private static AcceleratorException bad(String variable, String text) {
        return new AcceleratorException(
                ErrorCode.BAD_DOCUMENT,
                variable,
                "'" + text + "' is no list of ports; accepted are numbers and ranges within 1-" + MAX
                        + ", such as 16666 or 60000-60050,50200-51200");
    }

    /** How many ports. */
    public int count() {
        return last - first + 1;
    }

    /** Whether a port is in it. */
    public boolean contains(int port) {
        return port >= first && port <= last;
    }

    /** Whether the two share a port. */
    public boolean overlaps(PortRange other) {
        return first <= other.last && other.first <= last;
    }

    @Override
    public String toString() {
        return first == last ? Integer.toString(first) : first + "-" + last;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.topology;

import io.weft.amd.topology.SourceGraph.PairClaim;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Cells of the SMI tools' tables and JSON, which hold the same texts. Each method returns whether it could read the cell; {@code N/A} and its kin say nothing and are no fault. */
final class SmiCells {
    private static final Pattern RANGE = Pattern.compile("(\\d{1,12})\\s*-\\s*(\\d{1,12})(?:\\s*[A-Za-z/]+)?");

    private SmiCells() {}

    static boolean isSilent(String cell) {
        return switch (cell.toUpperCase(Locale.ROOT)) {
            case "", "N/A", "NA", "-", "NONE", "NULL", "SELF", "X", "UNKNOWN" -> true;
            default -> false;
        };
    }

    static OptionalLong number(String cell) {
        return cell.matches("\\d{1,12}") ? OptionalLong.of(Long.parseLong(cell)) : OptionalLong.empty();
    }

    static boolean weight(PairClaim pair, String cell) {
        OptionalLong number = number(cell);
        number.ifPresent(value -> pair.weight = value);
        return number.isPresent() || isSilent(cell);
    }

    static boolean hops(PairClaim pair, String cell) {
        OptionalLong number = number(cell);
        if (number.isPresent() && number.getAsLong() <= 64) {
            pair.smiHops = (int) number.getAsLong();
            return true;
        }
        return isSilent(cell);
    }

    static boolean linkType(PairClaim pair, String cell) {
        LinkClass linkClass = LinkClass.ofWord(cell);
        if (linkClass == LinkClass.XGMI || linkClass == LinkClass.PCIE || linkClass == LinkClass.OTHER) {
            pair.linkClass = linkClass;
            return true;
        }
        return linkClass == LinkClass.SELF || isSilent(cell);
    }

    static boolean bandwidth(PairClaim pair, String cell) {
        Matcher range = RANGE.matcher(cell);
        if (range.matches()) {
            long min = Long.parseLong(range.group(1));
            long max = Long.parseLong(range.group(2));
            if (max < min) {
                return false;
            }
            pair.minBandwidth = min;
            pair.maxBandwidth = max;
            return true;
        }
        return isSilent(cell);
    }

    static boolean access(PairClaim pair, String cell) {
        switch (cell.toUpperCase(Locale.ROOT)) {
            case "ENABLED", "TRUE", "T" -> pair.accessible = true;
            case "DISABLED", "FALSE", "F" -> pair.accessible = false;
            default -> {
                return isSilent(cell);
            }
        }
        return true;
    }
}

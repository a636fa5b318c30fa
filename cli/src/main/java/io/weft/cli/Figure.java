// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.util.Locale;

/** How numbers are written for people: the same everywhere, whatever the machine's language. */
final class Figure {
    private Figure() {}

    /** Microseconds with a unit that fits. */
    static String time(double micros) {
        if (micros >= 1e6) {
            return String.format(Locale.ROOT, "%.3f s", micros / 1e6);
        }
        if (micros >= 1e3) {
            return String.format(Locale.ROOT, "%.2f ms", micros / 1e3);
        }
        return String.format(Locale.ROOT, "%.1f us", micros);
    }

    /** A ratio such as a speedup. */
    static String ratio(double value) {
        return String.format(Locale.ROOT, "%.2fx", value);
    }

    /** A share of one. */
    static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", share * 100);
    }

    /** Bytes with a decimal unit. */
    static String bytes(double bytes) {
        String[] units = {"B", "kB", "MB", "GB", "TB"};
        int unit = 0;
        double value = bytes;
        while (value >= 1000 && unit < units.length - 1) {
            value /= 1000;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    }
}

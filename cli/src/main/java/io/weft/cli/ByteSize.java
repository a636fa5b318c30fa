// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

import java.math.BigDecimal;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Bytes as people write them: a number, whole or not, and K, M, G or T for powers of 1024, with B or iB after it if they like. */
final class ByteSize implements ITypeConverter<Long> {
    private static final String UNITS = "KMGT";

    @Override
    public Long convert(String text) {
        String plain = text.strip().toUpperCase(Locale.ROOT);
        plain = plain.endsWith("IB") && plain.length() > 2 && UNITS.indexOf(plain.charAt(plain.length() - 3)) >= 0
                ? plain.substring(0, plain.length() - 2)
                : plain.endsWith("B") ? plain.substring(0, plain.length() - 1) : plain;
        int unit = plain.isEmpty() ? -1 : UNITS.indexOf(plain.charAt(plain.length() - 1));
        String digits = unit < 0 ? plain : plain.substring(0, plain.length() - 1);
        if (!digits.matches("\\d{1,19}(\\.\\d{1,9})?")) {
            throw new TypeConversionException(
                    "'" + text + "' is not a size; accepted are bytes with K, M, G or T (powers of 1024), as in 64M");
        }
        BigDecimal bytes = new BigDecimal(digits).multiply(BigDecimal.valueOf(1L << (10 * (unit + 1))));
        if (bytes.compareTo(BigDecimal.valueOf(1L << 60)) > 0) {
            throw new TypeConversionException("'" + text + "' is more than 2^60 bytes, which no machine has");
        }
        return bytes.longValue();
    }

    /** The shortest way to write bytes exactly, such as {@code 64M}. */
    static String text(long bytes) {
        int unit = 0;
        long value = bytes;
        while (value != 0 && value % 1024 == 0 && unit < UNITS.length()) {
            value /= 1024;
            unit++;
        }
        return unit == 0 ? value + " B" : value + " " + UNITS.charAt(unit - 1) + "iB";
    }
}

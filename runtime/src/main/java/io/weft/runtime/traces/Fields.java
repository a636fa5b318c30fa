// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.traces;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A dictionary as files of traces have them by the hundred thousand: few keys, found by looking at each, in a third of a hash table's memory. Values are null,
 * {@link String}, {@link Number}, {@link Boolean}, {@link List}, {@code Object[]} or {@link Fields}; keys that are no strings are kept and never found. Of a key
 * that comes twice the last value counts.
 */
final class Fields {
    private static final Object[] NOTHING = {};
    private static final int MOST_NAMES = 8;

    private Object[] pairs = NOTHING;
    private int size;

    void put(Object key, Object value) {
        if (size == pairs.length) {
            pairs = Arrays.copyOf(pairs, Math.max(4, 2 * size));
        }
        pairs[size] = key;
        pairs[size + 1] = value;
        size += 2;
    }

    /** Adds keys and values in turn, and keeps no room for more. */
    void putAll(List<Object> keysAndValues) {
        if (keysAndValues.size() % 2 != 0) {
            throw new IllegalArgumentException("a key without a value");
        }
        int grown = size + keysAndValues.size();
        pairs = Arrays.copyOf(pairs, grown);
        for (Object one : keysAndValues) {
            pairs[size++] = one;
        }
    }

    boolean has(String key) {
        return find(key) >= 0;
    }

    /** The value, null when there is none. */
    Object get(String key) {
        int found = find(key);
        return found < 0 ? null : pairs[found + 1];
    }

    private int find(String key) {
        for (int i = size - 2; i >= 0; i -= 2) {
            if (pairs[i] instanceof String name && name.equals(key)) {
                return i;
            }
        }
        return -1;
    }

    /** A text, null when the value is none. */
    String text(String key) {
        return get(key) instanceof String text ? text : null;
    }

    /** Whether a value is a whole number that fits 64 bits. */
    boolean isWhole(String key) {
        return exact(get(key)) != null;
    }

    /** A whole number; only where {@link #isWhole}. */
    long whole(String key) {
        return exact(get(key));
    }

    /** A whole number, or another where there is none. */
    long whole(String key, long otherwise) {
        Long exact = exact(get(key));
        return exact == null ? otherwise : exact;
    }

    /** A number as exact as it was written, null when the value is none. */
    BigDecimal decimal(String key) {
        return switch (get(key)) {
            case BigDecimal decimal -> decimal;
            case BigInteger integer -> new BigDecimal(integer);
            case Double real when Double.isFinite(real) -> BigDecimal.valueOf(real);
            case Long number -> BigDecimal.valueOf(number);
            case Integer number -> BigDecimal.valueOf(number);
            case null, default -> null;
        };
    }

    /** The items of a list or tuple, null when the value is none. */
    List<?> list(String key) {
        return items(get(key));
    }

    /** The items of a list or tuple, null when it is none. */
    static List<?> items(Object value) {
        return switch (value) {
            case List<?> list -> list;
            case Object[] tuple -> Arrays.asList(tuple);
            case null, default -> null;
        };
    }

    private static Long exact(Object value) {
        return switch (value) {
            case Long number -> number;
            case Integer number -> number.longValue();
            case Short number -> number.longValue();
            case BigInteger number when number.bitLength() < Long.SIZE -> number.longValue();
            case BigDecimal number
            when number.precision() - number.scale() < 20 && number.scale() < 40 -> {
                try {
                    yield number.longValueExact();
                } catch (ArithmeticException broken) {
                    yield null;
                }
            }
            case Double number when Math.abs(number) < 1L << 53 && number == Math.rint(number) -> number.longValue();
            case null, default -> null;
        };
    }

    /** The first few keys, for a sentence. */
    String names() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < size && names.size() < MOST_NAMES; i += 2) {
            names.add(TraceFile.shorten(String.valueOf(pairs[i])));
        }
        return names.isEmpty() ? "none" : String.join(", ", names) + (size > 2 * MOST_NAMES ? ", ..." : "");
    }
}

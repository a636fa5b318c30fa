// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

/** What a wait asks of a signal. The order is that of the vendor's numbers; values are signed. */
public enum Compare {
    EQ,
    NE,
    GT,
    GE,
    LT,
    LE;

    /** Whether a signal satisfies it. */
    public boolean holds(long signal, long value) {
        return switch (this) {
            case EQ -> signal == value;
            case NE -> signal != value;
            case GT -> signal > value;
            case GE -> signal >= value;
            case LT -> signal < value;
            case LE -> signal <= value;
        };
    }
}

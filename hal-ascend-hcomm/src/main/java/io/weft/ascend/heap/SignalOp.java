// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.heap;

/** What an update does to a signal. The order is that of the vendor's numbers. */
public enum SignalOp {
    /** The signal becomes the value. */
    SET,
    /** The value is added, modulo 2^64. */
    ADD;

    long apply(long before, long value) {
        return this == SET ? value : before + value;
    }
}

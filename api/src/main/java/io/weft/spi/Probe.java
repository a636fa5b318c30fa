// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

/** The answer of a cheap look at the machine. */
public sealed interface Probe {
    /**
     * The provider can open platforms here.
     *
     * @param detail what was found, for people
     */
    record Available(String detail) implements Probe {}

    /**
     * It cannot, and that is no fault: there is no such hardware or driver.
     *
     * @param reason what is missing
     */
    record Absent(String reason) implements Probe {}
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/**
 * How an event is made.
 *
 * @param timing whether it carries a time stamp, which may cost the device a little
 */
public record EventOptions(boolean timing) {
    /** With a time stamp. */
    public static EventOptions timed() {
        return new EventOptions(true);
    }

    /** For ordering alone. */
    public static EventOptions untimed() {
        return new EventOptions(false);
    }
}

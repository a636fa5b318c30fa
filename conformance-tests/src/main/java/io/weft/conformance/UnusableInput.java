// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

/** A waiver file, an option or a catalogue that cannot be used. The message is one line: what, where, and what would be accepted. */
public final class UnusableInput extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UnusableInput(String message) {
        super(message);
    }

    public UnusableInput(String message, Throwable cause) {
        super(message, cause);
    }
}

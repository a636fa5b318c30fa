// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;

/** A fault in a document: which file, which line, what was found and what was expected. Inside the reader only. */
final class BadDocument extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BadDocument(String source, int line, String what) {
        super(source + ":" + line + ": " + oneLine(what));
    }

    BadDocument(String source, String what) {
        super(source + ": " + oneLine(what));
    }

    AcceleratorException refusal() {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "machine document", getMessage(), this);
    }

    private static String oneLine(String text) {
        return text.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
    }
}

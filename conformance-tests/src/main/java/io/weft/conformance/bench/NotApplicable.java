// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.bench;

/** A proof found that the platform has not what the rule speaks of, such as a second device. */
public final class NotApplicable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public NotApplicable(String reason) {
        super(reason);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

/** Input that cannot be used. Its message is the one line that the user sees. */
final class UsageFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UsageFailure(String message) {
        super(message);
    }

    UsageFailure(String message, Throwable cause) {
        super(message, cause);
    }
}

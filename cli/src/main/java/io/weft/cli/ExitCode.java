// SPDX-License-Identifier: Apache-2.0
package io.weft.cli;

/** What the process's exit code says. */
final class ExitCode {
    /** It worked and the answer is good. */
    static final int GOOD = 0;
    /** It ran and the answer is bad: wrong data, a rule broken, a check failed, or a fault of Weft itself. */
    static final int BAD_ANSWER = 1;
    /** The input cannot be used; one line said why. */
    static final int UNUSABLE_INPUT = 2;

    private ExitCode() {}
}

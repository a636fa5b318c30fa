// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

/**
 * Nothing can happen any more and yet activities are unfinished: they flow over a resource of zero capacity, or wait
 * in a queue whose places nobody will leave. The message names the first few of them with the cause.
 */
public final class StalledException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    StalledException(String message) {
        super(message);
    }
}

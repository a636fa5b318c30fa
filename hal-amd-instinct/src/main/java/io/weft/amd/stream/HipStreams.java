// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.stream;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.StreamOptions;
import io.weft.api.VendorError;

/**
 * HIP's numbers for streams. Priorities go from {@value #GREATEST} (high) over 0 to {@value #LEAST} (low), other ones are clamped and no error, and since 2026 the runtime
 * ignores them unless told not to: a hint, never an order.
 */
public final class HipStreams {
    /** What hipDeviceGetStreamPriorityRange gives for the least. */
    public static final int LEAST = 1;

    /** What it gives for the greatest; smaller numbers come first. */
    public static final int GREATEST = -1;

    /** hipStreamDefault: joins the null stream both ways. */
    public static final int DEFAULT = 0;

    /** hipStreamNonBlocking: never joins it. */
    public static final int NON_BLOCKING = 1;

    private HipStreams() {}

    /** The neutral priority of a HIP number, clamped. */
    public static Priority priority(int number) {
        return switch (Math.clamp(number, GREATEST, LEAST)) {
            case GREATEST -> Priority.HIGH;
            case LEAST -> Priority.LOW;
            default -> Priority.NORMAL;
        };
    }

    /** HIP's number of a neutral priority. */
    public static int number(Priority priority) {
        return switch (priority) {
            case HIGH -> GREATEST;
            case NORMAL -> 0;
            case LOW -> LEAST;
        };
    }

    /**
     * What hipStreamCreateWithPriority makes of its arguments.
     *
     * @throws AcceleratorException INVALID_ARGUMENT, as hipErrorInvalidValue, for flags other than 0 and 1
     */
    public static StreamOptions options(int flags, int priority) {
        if (flags != DEFAULT && flags != NON_BLOCKING) {
            throw new AcceleratorException(
                    ErrorCode.INVALID_ARGUMENT,
                    "create stream",
                    "flags are " + flags + "; they must be 0 (hipStreamDefault) or 1 (hipStreamNonBlocking)",
                    "",
                    new VendorError("HIP", 1, "hipErrorInvalidValue"),
                    null);
        }
        return StreamOptions.defaults().withBlocking(flags == DEFAULT).withPriority(priority(priority));
    }
}

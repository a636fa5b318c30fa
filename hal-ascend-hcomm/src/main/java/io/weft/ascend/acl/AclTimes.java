// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import java.time.Duration;

/**
 * Time limits as the runtime takes them: most functions count in milliseconds and take -1 for ever, a stream's wait for an event counts in seconds and takes 0 for ever. Limits are rounded up, so that none becomes
 * shorter or endless by rounding.
 */
public final class AclTimes {
    /** No limit where milliseconds are counted. */
    public static final int FOREVER_MILLIS = -1;
    /** No limit where seconds are counted. */
    public static final int FOREVER_SECONDS = 0;

    private AclTimes() {}

    /** For {@code aclrtSynchronizeStreamWithTimeout}, {@code ...EventWithTimeout} and {@code ...DeviceWithTimeout}. Null for ever. */
    public static int millis(Duration limit) {
        return limit == null ? FOREVER_MILLIS : rounded(limit, 1_000_000);
    }

    /** For {@code aclrtStreamWaitEventWithTimeout}, which counts in seconds. Null for ever. */
    public static int seconds(Duration limit) {
        return limit == null ? FOREVER_SECONDS : Math.max(1, rounded(limit, 1_000_000_000));
    }

    private static int rounded(Duration limit, long unitNanos) {
        return Math.clamp(Math.ceilDiv(limit.toNanos(), unitNanos), 0, Integer.MAX_VALUE);
    }
}

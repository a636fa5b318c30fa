// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

/**
 * What the runtime answers when it is asked whether something is complete. Two enumerations say the opposite of each other, and the function's name decides which holds.
 */
public final class AclStatus {
    private static final int STREAM_COMPLETE = 0;
    private static final int RECORDED_COMPLETE = 1;
    private static final int WAITED_COMPLETE = 0;

    private AclStatus() {}

    /** {@code aclrtStreamQuery}: 0 is complete. */
    public static boolean streamIsComplete(int status) {
        return status == STREAM_COMPLETE;
    }

    /** {@code aclrtQueryEventStatus}: 1 is complete. */
    public static boolean eventIsRecorded(int status) {
        return status == RECORDED_COMPLETE;
    }

    /** {@code aclrtQueryEventWaitStatus}: 0 is complete. */
    public static boolean eventIsWaitedFor(int status) {
        return status == WAITED_COMPLETE;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.ascend.group.GroupStatistics;
import java.util.List;

/** What a running program has used of an Ascend model's libraries: an extension of its platform. Safe for any thread. */
public interface HcclMeters {
    /** The family whose rules hold. */
    HcclFamily family();

    /** The settings that are in force. */
    HcclSettings settings();

    /** Streams and events by device. */
    List<DeviceBudget> budgets();

    /** The groups that are open: one for each rank of each communicator. */
    List<GroupStatistics> groups();

    /** Device memory that communicators' buffers take on one device now, bytes. */
    long bufferBytes(int device);

    /** Host time of the longest change of a stream's group, ns. */
    long longestGroupSwitchNanos();

    /** Parts of collectives so far whose operator the library lacks, so that they are put together from others. */
    long composedParts();
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import java.util.List;

/**
 * What became of a transfer.
 *
 * @param complete whether all bytes were delivered; otherwise every path was lost, and what was delivered is a beginning without gaps
 * @param deliveredBytes in order from 0
 * @param nanos virtual time from start to the last delivery, or until the last path was given up
 * @param paths what each path did
 * @param restriped chunks that were given to another path because theirs was late or lost
 * @param duplicates chunks that arrived twice and were dropped once
 * @param mostHeldBytes most bytes that were held back for order
 */
public record TransferReport(
        boolean complete,
        long deliveredBytes,
        double nanos,
        List<PathReport> paths,
        long restriped,
        long duplicates,
        long mostHeldBytes) {
    public TransferReport {
        paths = List.copyOf(paths);
    }

    /** Bytes delivered a second. */
    public double bytesPerSecond() {
        return deliveredBytes / nanos * 1e9;
    }

    /**
     * What one path did.
     *
     * @param name the path's
     * @param deliveredBytes that were first to arrive by it
     * @param flaps how often it was given up
     * @param retransmissions chunks that the hardware sent again
     * @param alive whether it was in use at the end
     */
    public record PathReport(String name, long deliveredBytes, long flaps, long retransmissions, boolean alive) {}
}

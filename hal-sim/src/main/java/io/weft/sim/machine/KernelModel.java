// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/**
 * How a device runs kernels that are not GEMMs.
 *
 * @param hardwareQueues queues that run at the same time; lane L uses queue L mod this
 * @param priorities distinct stream priorities, 1 to 3
 * @param startNanos ns from a kernel being at the head of its queue with everything it waits for done until its first wave runs
 * @param bandwidthPerUnit bytes/s of memory traffic (reads plus writes) that one compute unit drives
 * @param bytesPerUnit bytes of traffic for which an elementwise kernel uses one more compute unit
 * @param maxUnits most compute units that an elementwise kernel or local copy uses
 * @param peerCopyUnits compute units of a kernel that copies to or from a peer
 * @param rowOverheadBytes bytes of bandwidth that each row of a strided kernel copy wastes
 * @param earlierWeight how many times the share of a later kernel an earlier one of the same priority gets while both want the same compute units: 1 where the dispatcher takes from its queues in turn, large where it hands out all
 *     blocks of one kernel before those of the next
 * @param elementNanos ns that a compute unit spends on each element that a kernel reads or writes one at a time: a reduction that converts, or of views with gaps between their rows. 0 where such kernels move data as fast as others
 */
public record KernelModel(
        int hardwareQueues,
        int priorities,
        double startNanos,
        double bandwidthPerUnit,
        double bytesPerUnit,
        int maxUnits,
        int peerCopyUnits,
        int rowOverheadBytes,
        double earlierWeight,
        double elementNanos) {
    /** The same with another number of hardware queues. */
    public KernelModel withHardwareQueues(int queues) {
        return new KernelModel(
                queues,
                priorities,
                startNanos,
                bandwidthPerUnit,
                bytesPerUnit,
                maxUnits,
                peerCopyUnits,
                rowOverheadBytes,
                earlierWeight,
                elementNanos);
    }

    /** The same with another start. */
    public KernelModel withStartNanos(double nanos) {
        return new KernelModel(
                hardwareQueues,
                priorities,
                nanos,
                bandwidthPerUnit,
                bytesPerUnit,
                maxUnits,
                peerCopyUnits,
                rowOverheadBytes,
                earlierWeight,
                elementNanos);
    }

    /** The same with another bandwidth of a compute unit. */
    public KernelModel withBandwidthPerUnit(double bytesPerSecond) {
        return new KernelModel(
                hardwareQueues,
                priorities,
                startNanos,
                bytesPerSecond,
                bytesPerUnit,
                maxUnits,
                peerCopyUnits,
                rowOverheadBytes,
                earlierWeight,
                elementNanos);
    }

    /** The same with other compute units of a copy to a peer. */
    public KernelModel withPeerCopyUnits(int units) {
        return new KernelModel(
                hardwareQueues,
                priorities,
                startNanos,
                bandwidthPerUnit,
                bytesPerUnit,
                maxUnits,
                units,
                rowOverheadBytes,
                earlierWeight,
                elementNanos);
    }

    /** The same with another weight of earlier kernels. */
    public KernelModel withEarlierWeight(double weight) {
        return new KernelModel(
                hardwareQueues,
                priorities,
                startNanos,
                bandwidthPerUnit,
                bytesPerUnit,
                maxUnits,
                peerCopyUnits,
                rowOverheadBytes,
                weight,
                elementNanos);
    }

    /** The same with another time for each element. */
    public KernelModel withElementNanos(double nanos) {
        return new KernelModel(
                hardwareQueues,
                priorities,
                startNanos,
                bandwidthPerUnit,
                bytesPerUnit,
                maxUnits,
                peerCopyUnits,
                rowOverheadBytes,
                earlierWeight,
                nanos);
    }
}

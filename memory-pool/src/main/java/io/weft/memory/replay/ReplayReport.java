// SPDX-License-Identifier: Apache-2.0
package io.weft.memory.replay;

import java.util.Objects;

/**
 * What one target did with one trace. Times are of this machine's host; bytes and calls are exact.
 *
 * @param trace the trace's name
 * @param target the target's name
 * @param events events of one pass
 * @param allocations allocations of one pass
 * @param frees frees of one pass
 * @param passes times the trace was replayed, everything freed in between
 * @param coldNanos ns per event of the first pass
 * @param medianNanos median over the later passes of ns per event
 * @param p99Nanos 99th percentile of single events of the last pass, ns, less what reading the clock costs
 * @param peakAllocatedBytes the most bytes out at one time, counted from the trace
 * @param peakReservedBytes the most bytes held from the device in any pass
 * @param deviceCalls calls of the device's allocator in the first pass, returns included
 * @param deviceCallsWarm calls of the device's allocator in all later passes
 * @param retries allocations which succeeded only after giving memory back or waiting
 * @param refusals allocations without memory; their frees were left out
 * @param plannedShare share of the last pass's allocations that a learned layout served
 * @param peakReservedFirstPass the most bytes held from the device in the first pass
 * @param recordedReservedPeak what the recorded allocator itself held at most, -1 when the trace does not say
 */
public record ReplayReport(
        String trace,
        String target,
        long events,
        long allocations,
        long frees,
        int passes,
        double coldNanos,
        double medianNanos,
        double p99Nanos,
        long peakAllocatedBytes,
        long peakReservedBytes,
        long deviceCalls,
        long deviceCallsWarm,
        long retries,
        long refusals,
        double plannedShare,
        long peakReservedFirstPass,
        long recordedReservedPeak) {
    public ReplayReport {
        Objects.requireNonNull(trace);
        Objects.requireNonNull(target);
    }

    /** {@code 1 - peak allocated / peak reserved}. */
    public double fragmentation() {
        return peakReservedBytes == 0 ? 0 : 1 - (double) peakAllocatedBytes / peakReservedBytes;
    }

    /** The same of the first pass alone, which is what a trace that was recorded once can be compared with. */
    public double fragmentationFirstPass() {
        return peakReservedFirstPass == 0 ? 0 : 1 - (double) peakAllocatedBytes / peakReservedFirstPass;
    }

    /** The same of the recorded allocator; NaN when the trace does not say. */
    public double recordedFragmentation() {
        return recordedReservedPeak <= 0 ? Double.NaN : 1 - (double) peakAllocatedBytes / recordedReservedPeak;
    }
}

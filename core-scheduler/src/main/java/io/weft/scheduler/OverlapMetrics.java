// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import io.weft.spi.PerformanceModel;
import java.util.Arrays;

/**
 * What a schedule gains and where it loses. Times are microseconds; losses are ratios minus 1, so 0 is none; shares are between 0 and 1. They come from a {@link Timeline}, so they mean the same on a model
 * and on hardware; times of single commands alone come from the platform's model.
 *
 * @param serialUs the serial schedule with the backend's collective
 * @param gemmUs the whole GEMM alone, on the most loaded device
 * @param commUs the whole collective alone
 * @param idealSpeedup serial over the longer of the least time for the GEMM's operations and the least time for the communication's bytes; no schedule is faster
 * @param us this schedule
 * @param speedup serial over this schedule
 * @param shareOfIdeal (speedup - 1) / (idealSpeedup - 1); 0 for serial, and where there is nothing to gain
 * @param exposedCommShare share of the time in which a device computes nothing (it only communicates or waits), mean over devices
 * @param dilGemm decomposition loss of the GEMM: all pieces alone over the whole alone; below 0 where the pieces fill waves of tiles that the whole leaves half empty
 * @param dilComm decomposition loss of the communication: all chunks of each pair of ranks alone over one copy of the whole block alone, by the same engine
 * @param cilGemm contention loss of the GEMM: time in which a device's GEMMs run over the same GEMMs alone; never negative, as GEMMs that run side by side may fill one another's gaps
 * @param cilComm contention loss of the communication: transfers beside everything else over the same transfers alone
 * @param copyEngineUse busy time of all copy engines over their number and the makespan
 * @param linkUse bytes over all links over what they could have carried
 */
public record OverlapMetrics(
        double serialUs,
        double gemmUs,
        double commUs,
        double idealSpeedup,
        double us,
        double speedup,
        double shareOfIdeal,
        double exposedCommShare,
        double dilGemm,
        double dilComm,
        double cilGemm,
        double cilComm,
        double copyEngineUse,
        double linkUse) {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_SECOND = 1e9;

    /** Metrics of one run or estimate, with the model's word for what it is measured against. */
    public static OverlapMetrics of(
            LoweredSchedule lowered, Timeline timeline, PerformanceModel model, PerformanceModel.Issue issue) {
        return of(lowered, timeline, model, Baseline.of(lowered.problem(), model, issue));
    }

    static OverlapMetrics of(LoweredSchedule lowered, Timeline timeline, PerformanceModel model, Baseline baseline) {
        CommandGraph graph = lowered.graph();
        AloneTimes alone = new AloneTimes(model, graph);
        double makespan = timeline.makespanNanos();
        double gemmAlone = 0;
        double transferAlone = 0;
        double transferTime = 0;
        double copyAlone = 0;
        for (int node = 0; node < graph.size(); node++) {
            Command command = graph.command(node);
            if (command instanceof Command.Gemm) {
                gemmAlone += alone.nanos(node);
            } else if (Traffic.isTransfer(command)) {
                double nanos = alone.nanos(node);
                transferAlone += nanos;
                transferTime += timeline.durationNanos(node);
                copyAlone += command instanceof Command.Collective ? 0 : nanos;
            }
        }
        boolean serial = lowered.schedule().kind() == Schedule.Kind.SERIAL;
        double speedup = makespan > 0 ? baseline.serialNanos() / makespan : 1;
        double ideal = baseline.idealSpeedup();
        double pairs = baseline.pairSumNanos(lowered.schedule().engine());
        double gemmBusy = 0;
        double exposed = 0;
        for (int device = 0; device < graph.deviceCount(); device++) {
            gemmBusy += covered(timeline, device, false);
            exposed += makespan - covered(timeline, device, true);
        }
        return new OverlapMetrics(
                baseline.serialNanos() / NANOS_PER_MICRO,
                baseline.gemmNanos() / NANOS_PER_MICRO,
                baseline.commNanos() / NANOS_PER_MICRO,
                ideal,
                makespan / NANOS_PER_MICRO,
                speedup,
                serial || ideal <= 1 ? 0 : (speedup - 1) / (ideal - 1),
                makespan > 0 ? Math.clamp(exposed / graph.deviceCount() / makespan, 0, 1) : 0,
                loss(gemmAlone, baseline.gemmSumNanos()),
                loss(copyAlone, pairs),
                Math.max(0, loss(gemmBusy, gemmAlone)),
                loss(transferTime, transferAlone),
                use(timeline, Timeline.ResourceKind.COPY_ENGINE, makespan),
                use(timeline, Timeline.ResourceKind.LINK, makespan));
    }

    private static double loss(double time, double reference) {
        return reference > 0 && time > 0 ? time / reference - 1 : 0;
    }

    /** Time in which at least one GEMM (or any kernel that computes) of a device runs, ns. */
    private static double covered(Timeline timeline, int device, boolean reductionsToo) {
        CommandGraph graph = timeline.graph();
        int count = 0;
        double[] starts = new double[16];
        double[] ends = new double[16];
        for (int node = 0; node < graph.size(); node++) {
            Command command = graph.command(node);
            boolean counts = command instanceof Command.Gemm || (reductionsToo && command instanceof Command.Reduce);
            if (graph.device(node) != device || !counts) {
                continue;
            }
            if (count == starts.length) {
                starts = Arrays.copyOf(starts, count * 2);
                ends = Arrays.copyOf(ends, count * 2);
            }
            starts[count] = timeline.startNanos(node);
            ends[count++] = timeline.endNanos(node);
        }
        // The union of intervals needs starts and ends in order, not their pairs: it is the time with more starts than
        // ends.
        Arrays.sort(starts, 0, count);
        Arrays.sort(ends, 0, count);
        double union = 0;
        int running = 0;
        double since = 0;
        int e = 0;
        for (int s = 0; s < count; s++) {
            while (e < count && ends[e] < starts[s]) {
                running--;
                if (running == 0) {
                    union += ends[e] - since;
                }
                e++;
            }
            if (running == 0) {
                since = starts[s];
            }
            running++;
        }
        return count == 0 ? 0 : union + ends[count - 1] - since;
    }

    private static double use(Timeline timeline, Timeline.ResourceKind kind, double makespan) {
        double used = 0;
        double possible = 0;
        for (Timeline.Resource resource : timeline.resources()) {
            if (resource.kind() == kind) {
                boolean link = kind == Timeline.ResourceKind.LINK;
                used += link ? resource.units() : resource.busyNanos();
                possible += link ? resource.capacity() * makespan / NANOS_PER_SECOND : makespan;
            }
        }
        return possible > 0 ? used / possible : 0;
    }
}

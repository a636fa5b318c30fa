// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

/**
 * Turns a problem and a schedule into a command graph.
 *
 * <p><b>Numbers.</b> Every GEMM rounds once, to the result's type. A sum over ranks is one reduction in rank order 0, 1, ..., the own partial product at its rank's place, in fp32, rounded once, so
 * that every schedule which does not split K gives the bits of the serial one. Splitting K accumulates in fp32 and rounds at the end.
 *
 * <p><b>Order.</b> A staging block is written again only after the GEMM that read it, and a block of results only after the copies that read it, across devices. A graph assumes that no earlier run of the
 * same workspace is still at work on any device; the executor sees to that. Stateless.
 */
public final class Lowering {
    private Lowering() {}

    /** The graph of a schedule. Sizes need not divide evenly: chunk i of L over P is {@code [i*L/P, (i+1)*L/P)}, and empty pieces are left out. */
    public static LoweredSchedule lower(OverlapProblem problem, Schedule schedule) {
        GraphWriter writer = new GraphWriter(problem, schedule);
        if (problem.ranks() == 1) {
            writer.multiplyAlone();
        } else if (problem.pattern().gathers()) {
            new GatherLowering(writer).lower();
        } else {
            new ScatterLowering(writer).lower();
        }
        return writer.finish();
    }
}

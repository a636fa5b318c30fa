// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** One or a few of every kind of schedule with the parameters that people use: few enough to time all of them on a device. */
public final class TypicalSchedules {
    private static final double[] COVERS = {0.25, 0.5, 0.75};

    private TypicalSchedules() {}

    /**
     * The schedules for a problem; the serial one with the backend's collective comes first.
     *
     * @param copyEngines whether devices have engines that copy beside compute
     */
    public static List<Schedule> of(OverlapProblem problem, boolean copyEngines) {
        Set<Schedule> all = new LinkedHashSet<>();
        all.add(Schedule.serial());
        if (problem.ranks() == 1) {
            return List.copyOf(all);
        }
        TransferEngine engine = copyEngines ? TransferEngine.COPY_ENGINE : TransferEngine.KERNEL;
        boolean reduces = problem.pattern().reduces();
        all.add(Schedule.serial().withEngine(engine));
        Schedule shards = Schedule.of(Schedule.Kind.SHARD_P2P).withEngine(engine);
        all.add(shards);
        all.add(shards.withStreams(2));
        Schedule unfused = Schedule.of(Schedule.Kind.HETERO_UNFUSED_1D).withEngine(engine);
        all.add(unfused.withChunks(2));
        all.add(unfused.withChunks(2).withStreams(2));
        all.add(unfused.withChunks(4));
        if (problem.ranks() > 2) {
            Schedule fused = Schedule.of(Schedule.Kind.HETERO_FUSED_1D).withEngine(engine);
            all.add(fused.withChunks(2));
            all.add(fused.withChunks(4));
        }
        for (double cover : COVERS) {
            all.add(Schedule.of(Schedule.Kind.COVER_MERGE).withEngine(engine).withCover(cover));
        }
        all.add(Schedule.of(Schedule.Kind.UNIFORM_FUSED_1D).withEngine(engine).withChunks(2));
        all.add(Schedule.of(Schedule.Kind.UNIFORM_FUSED_2D).withEngine(engine).withChunks(2));
        if (reduces) {
            List<Schedule> accumulating = new ArrayList<>();
            accumulating.add(shards);
            accumulating.add(unfused.withChunks(2));
            accumulating.add(unfused.withChunks(4));
            accumulating.forEach(schedule -> all.add(schedule.withReduction(Reduction.ACCUMULATE)));
        }
        if (copyEngines) {
            all.add(Schedule.of(Schedule.Kind.COVER_MERGE).withEngine(TransferEngine.KERNEL));
        }
        return List.copyOf(all);
    }
}

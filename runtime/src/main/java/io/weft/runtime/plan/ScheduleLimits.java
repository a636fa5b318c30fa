// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.plan;

import io.weft.scheduler.Schedule;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The chunk and stream counts that a setting allows. A schedule that has no use for a count is not touched.
 *
 * @param chunks chunks of a shard; empty allows all
 * @param streams compute lanes of a device; empty allows all
 */
record ScheduleLimits(List<Integer> chunks, List<Integer> streams) {
    boolean isOpen() {
        return chunks.isEmpty() && streams.isEmpty();
    }

    /** The allowed schedules that stand for one that was proposed: itself with each allowed count. */
    Set<Schedule> allowed(Schedule proposed) {
        Set<Schedule> allowed = new LinkedHashSet<>();
        boolean anyChunks = chunks.isEmpty() || !proposed.kind().isChunked();
        boolean anyStreams = streams.isEmpty() || proposed.kind() == Schedule.Kind.SERIAL;
        for (int count : anyChunks ? List.of(proposed.chunks()) : chunks) {
            for (int lanes : anyStreams ? List.of(proposed.streams()) : streams) {
                allowed.add(proposed.withChunks(count).withStreams(lanes));
            }
        }
        return allowed;
    }

    String text() {
        String text = chunks.isEmpty() ? "" : " schedule.chunks=" + join(chunks);
        return (text + (streams.isEmpty() ? "" : " schedule.streams=" + join(streams))).strip();
    }

    private static String join(List<Integer> counts) {
        return String.join(",", counts.stream().map(String::valueOf).toList());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Figures;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import java.util.List;

/** A timeline of two devices by hand: each copies from the other, then fills. */
final class TimelineSketch {
    private TimelineSketch() {}

    static Timeline timeline() {
        CommandGraph.Builder builder = CommandGraph.builder(2);
        Slot[] a = new Slot[2];
        Slot[] b = new Slot[2];
        for (int device = 0; device < 2; device++) {
            a[device] = builder.slot(device, "a", 64, Slot.Role.INPUT);
            b[device] = builder.slot(device, "b", 64, Slot.Role.OUTPUT);
        }
        for (int device = 0; device < 2; device++) {
            Command copy = new Command.Copy(view(b[device]), view(a[1 - device]), CopyMethod.ENGINE);
            int node = builder.add(device, 1, Priority.HIGH, copy, "copy <" + device + ">");
            builder.add(device, 0, Priority.NORMAL, new Command.Fill(view(b[device]), 0), "fill", node);
        }
        List<Timeline.Resource> resources = List.of(
                new Timeline.Resource(Timeline.ResourceKind.COMPUTE, 0, -1, "compute", 64, 10, 1),
                new Timeline.Resource(Timeline.ResourceKind.COPY_ENGINE, 0, -1, "sdma0", 1, 1000, 64),
                new Timeline.Resource(Timeline.ResourceKind.LINK, 1, 0, "1->0", 5e10, 1500, 64));
        List<Timeline.Interval> intervals = List.of(
                new Timeline.Interval(2, 2, 100, 1600),
                new Timeline.Interval(0, 2, 0, 1000),
                new Timeline.Interval(0, 1, 0, 1000),
                new Timeline.Interval(1, 0, 1000, 1010.4));
        return new Timeline(
                builder.build(),
                Figures.MODEL,
                new double[] {0, 1000, 100, 1600},
                new double[] {1000, 1010.4, 1600, 1610},
                1610,
                resources,
                intervals);
    }

    static List<TraceSection> sections() {
        return List.of(new TraceSection("first", timeline()), new TraceSection("second", timeline()));
    }

    private static BufferView view(Slot slot) {
        return BufferView.vector(slot, 0, 16, ElementType.FP32);
    }
}

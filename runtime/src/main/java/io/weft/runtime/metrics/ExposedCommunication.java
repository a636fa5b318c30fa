// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.metrics;

import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Timeline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** How much of a run's communication compute did not hide, by its timeline. */
public final class ExposedCommunication {
    private ExposedCommunication() {}

    private record Span(double start, double end) {}

    /**
     * Share of the time in which copies or collectives of a device run and nothing else of it does; mean over all devices, from 0 to 1.
     *
     * @return NaN when there was no communication
     */
    public static double share(Timeline timeline) {
        CommandGraph graph = timeline.graph();
        double communicated = 0;
        double exposed = 0;
        for (int device = 0; device < graph.deviceCount(); device++) {
            List<Span> communication = new ArrayList<>();
            List<Span> compute = new ArrayList<>();
            for (int node = 0; node < graph.size(); node++) {
                if (graph.device(node) == device) {
                    Command command = graph.command(node);
                    boolean moves = command instanceof Command.Copy
                            || command instanceof Command.CopyStrided
                            || command instanceof Command.Collective;
                    (moves ? communication : compute).add(new Span(timeline.startNanos(node), timeline.endNanos(node)));
                }
            }
            double all = covered(communication);
            List<Span> both = new ArrayList<>(communication);
            both.addAll(compute);
            communicated += all;
            exposed += covered(both) - covered(compute);
        }
        return communicated > 0 ? Math.clamp(exposed / communicated, 0, 1) : Double.NaN;
    }

    private static double covered(List<Span> spans) {
        List<Span> sorted = new ArrayList<>(spans);
        sorted.sort(Comparator.comparingDouble(Span::start));
        double covered = 0;
        double until = Double.NEGATIVE_INFINITY;
        for (Span span : sorted) {
            if (span.end() > until) {
                covered += span.end() - Math.max(span.start(), until);
                until = span.end();
            }
        }
        return covered;
    }
}

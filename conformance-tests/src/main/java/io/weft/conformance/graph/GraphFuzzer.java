// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import io.weft.api.Capability;
import io.weft.api.Platform;
import io.weft.api.graph.CommandGraph;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Looks for graphs that a backend gets wrong: draws them at random, runs each on streams and, where there are any, as a device graph, compares with the reference
 * interpreter, and makes the first one that fails as small as it can. The same seed draws the same graphs.
 */
public final class GraphFuzzer {
    private GraphFuzzer() {}

    /**
     * A graph that the backend gets wrong.
     *
     * @param number which of the drawn graphs, from 0
     * @param seed by which it can be drawn again as the first
     * @param way how it was run
     * @param nodesDrawn how many nodes it had at first
     * @param smallest what is left of it
     * @param difference where the backend differs from the reference, for the smallest one
     * @param test the smallest one as a Java test
     */
    public record Finding(
            int number,
            long seed,
            GraphCheck.Way way,
            int nodesDrawn,
            CommandGraph smallest,
            String difference,
            String test) {}

    /**
     * Runs random graphs.
     *
     * @param platform with STORAGE
     * @param uri by which it was opened, for the printed test
     * @param cases how many
     * @param seed of the first; case i has seed + i
     * @param progress is told how many are done
     * @return the first one that the backend gets wrong, shrunk
     */
    public static Optional<Finding> run(Platform platform, String uri, int cases, long seed, IntConsumer progress) {
        platform.require(Capability.STORAGE, "fuzz");
        List<GraphCheck.Way> ways = platform.has(Capability.DEVICE_GRAPHS)
                ? List.of(GraphCheck.Way.STREAMS, GraphCheck.Way.DEVICE_GRAPH)
                : List.of(GraphCheck.Way.STREAMS);
        for (int number = 0; number < cases; number++) {
            long own = seed + number;
            GraphDraft draft = draw(platform, own);
            for (GraphCheck.Way way : ways) {
                if (GraphCheck.difference(platform, draft.graph(), own, way).isPresent()) {
                    return Optional.of(shrunk(platform, uri, draft, number, own, way));
                }
            }
            progress.accept(number + 1);
        }
        return Optional.empty();
    }

    static GraphDraft draw(Platform platform, long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("SplittableRandom").create(seed);
        return RandomGraphs.next(platform, random, seed);
    }

    private static Finding shrunk(
            Platform platform, String uri, GraphDraft draft, int number, long seed, GraphCheck.Way way) {
        GraphDraft smallest = GraphShrinker.shrink(
                draft,
                seed,
                other -> GraphCheck.difference(platform, other.graph(), seed, way)
                        .isPresent());
        CommandGraph graph = smallest.graph();
        String difference =
                GraphCheck.difference(platform, graph, seed, way).orElse("the smallest graph fails only now and then");
        return new Finding(
                number,
                seed,
                way,
                draft.nodes().size(),
                graph,
                difference,
                GraphTestText.of("SmallestFailingGraphTest", uri, graph, seed, way));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import io.weft.api.BufferView;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.Locale;
import java.util.stream.Collectors;

/** Prints a graph as a Java test that can be pasted into a plugin's build. */
final class GraphTestText {
    private GraphTestText() {}

    /**
     * The text of a test class.
     *
     * @param name simple name of the class
     * @param uri of the platform that it opens
     * @param seed of the slots' content
     */
    static String of(String name, String uri, CommandGraph graph, long seed, GraphCheck.Way way) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                """
                // SPDX-License-Identifier: Apache-2.0
                import io.weft.api.*;
                import io.weft.api.graph.*;
                import io.weft.conformance.graph.GraphCheck;
                import java.util.List;
                import org.junit.jupiter.api.Test;

                /** The smallest graph that the backend got wrong, found by the graph fuzzer. */
                class %s {
                    @Test
                    void theBackendGivesWhatTheReferenceGives() {
                        try (Platform platform = Accelerators.discover(DiscoveryOptions.defaults()).open("%s")) {
                            check(platform);
                        }
                    }

                    static void check(Platform platform) {
                        GraphCheck.check(platform, graph(), %dL, GraphCheck.Way.%s);
                    }

                    static CommandGraph graph() {
                        CommandGraph.Builder graph = CommandGraph.builder(%d);
                """,
                name,
                uri.replace("\\", "\\\\").replace("\"", "\\\""),
                seed,
                way,
                graph.deviceCount()));
        for (Slot slot : graph.slots()) {
            text.append("        Slot ")
                    .append(slot.name())
                    .append(" = graph.slot(")
                    .append(slot.device())
                    .append(", \"")
                    .append(slot.name())
                    .append("\", ")
                    .append(slot.bytes())
                    .append(", Slot.Role.")
                    .append(slot.role())
                    .append(");\n");
        }
        for (int node = 0; node < graph.size(); node++) {
            text.append("        graph.add(")
                    .append(graph.device(node))
                    .append(", ")
                    .append(graph.lane(node))
                    .append(", Priority.")
                    .append(graph.priority(node))
                    .append(", ")
                    .append(command(graph.command(node)))
                    .append(", \"")
                    .append(graph.label(node))
                    .append('"');
            for (int dependency : graph.dependencies(node)) {
                text.append(", ").append(dependency);
            }
            text.append(");\n");
        }
        text.append("""
                        return graph.build();
                    }

                    private static BufferView view(
                            Slot slot, long offset, long rows, long columns, long pitch, MatrixLayout layout, ElementType type) {
                        return new BufferView(slot, offset, rows, columns, pitch, layout, type);
                    }
                }
                """);
        return text.toString();
    }

    private static String command(Command command) {
        return switch (command) {
            case Command.Copy copy ->
                "new Command.Copy(" + view(copy.destination()) + ", " + view(copy.source()) + ", CopyMethod."
                        + copy.method() + ")";
            case Command.CopyStrided copy ->
                "new Command.CopyStrided(" + view(copy.destination()) + ", " + view(copy.source()) + ", CopyMethod."
                        + copy.method() + ")";
            case Command.Fill fill -> "new Command.Fill(" + view(fill.destination()) + ", " + fill.bits() + ")";
            case Command.Gemm gemm ->
                "new Command.Gemm(" + view(gemm.c()) + ", " + view(gemm.a()) + ", " + view(gemm.b()) + ", "
                        + gemm.transposeA() + ", " + gemm.transposeB() + ", " + gemm.alpha() + "f, " + gemm.beta()
                        + "f, " + gemm.batch() + ", " + gemm.strideC() + ", " + gemm.strideA() + ", "
                        + gemm.strideB() + ")";
            case Command.Reduce reduce ->
                "new Command.Reduce(" + view(reduce.destination()) + ", "
                        + reduce.inputs().stream()
                                .map(GraphTestText::view)
                                .collect(Collectors.joining(", ", "List.of(", ")"))
                        + ", " + op(reduce.op()) + ")";
            case Command.Collective part ->
                "new Command.Collective(CollectiveKind." + part.kind() + ", " + op(part.op()) + ", " + part.rank()
                        + ", " + part.ranks() + ", " + part.root() + ", " + view(part.send()) + ", "
                        + view(part.receive()) + ", List.of(), List.of(), " + part.key() + ")";
        };
    }

    private static String op(ReduceOp op) {
        return op.kind() == ReduceOp.Kind.SCALED_SUM
                ? "ReduceOp.scaledSum(" + op.scale() + "f)"
                : "ReduceOp." + op.kind();
    }

    private static String view(BufferView view) {
        return view == null
                ? "null"
                : "view(" + ((Slot) view.memory()).name() + ", " + view.offset() + ", " + view.rows() + ", "
                        + view.columns() + ", " + view.pitch() + ", MatrixLayout." + view.layout() + ", ElementType."
                        + view.type().name() + ")";
    }
}

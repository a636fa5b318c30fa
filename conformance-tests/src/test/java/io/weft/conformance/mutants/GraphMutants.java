// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.DeviceProperties;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.Priority;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.GraphBindings;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.DeviceDriver;
import io.weft.spi.Enqueue;
import io.weft.spi.EventDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.PlatformDriver;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/** Mutants that break a rule about command graphs. */
final class GraphMutants {
    private static final long SHORT = 64 * 4L;
    private static final long SLOW = (1 << 18) * 4L;

    static final List<Mutant> ALL = List.of(
            rewritten("GRF-002", "fills of four elements are left out", new Rewrite() {
                @Override
                Command command(CommandGraph graph, int node) {
                    return graph.command(node) instanceof Command.Fill fill
                                    && fill.destination().elements() == 4
                            ? new Command.Fill(fill.destination().columnRange(0, 0), fill.bits())
                            : graph.command(node);
                }
            }),
            rewritten("GRF-003", "dependencies between lanes of one device are dropped", new Rewrite() {
                @Override
                boolean keeps(CommandGraph graph, int node, int dependency) {
                    return graph.dependencyCount(node) > 1
                            || graph.device(node) != graph.device(dependency)
                            || graph.lane(node) == graph.lane(dependency);
                }
            }),
            rewritten("GRF-004", "dependencies between devices are dropped", new Rewrite() {
                @Override
                boolean keeps(CommandGraph graph, int node, int dependency) {
                    return graph.device(node) == graph.device(dependency);
                }
            }),
            rewritten("GRF-005", "only the first dependency of a node counts", new Rewrite() {
                @Override
                boolean keeps(CommandGraph graph, int node, int dependency) {
                    return graph.dependency(node, 0) == dependency;
                }
            }),
            rewritten("GRF-006", "every node has a lane of its own", new Rewrite() {
                @Override
                int lane(CommandGraph graph, int node) {
                    return node;
                }
            }),
            Mutant.of("GRF-007", "a graph's second launch and those behind it do nothing", () -> new Mutation() {
                private final Set<GraphExecutable> launched = identities();

                @Override
                void launch(
                        GraphExecutable executable,
                        CommandGraph graph,
                        GraphBindings bindings,
                        List<StreamDriver> streams) {
                    if (launched.add(executable)
                            || graph.size() != 1
                            || !(graph.command(0) instanceof Command.Reduce)) {
                        super.launch(executable, graph, bindings, streams);
                    }
                }
            }),
            Mutant.of("GRF-008", "every launch uses the buffers of the first", () -> new Mutation() {
                private final IdentityHashMap<GraphExecutable, GraphBindings> first = new IdentityHashMap<>();

                @Override
                void launch(
                        GraphExecutable executable,
                        CommandGraph graph,
                        GraphBindings bindings,
                        List<StreamDriver> streams) {
                    super.launch(executable, graph, first.computeIfAbsent(executable, key -> bindings), streams);
                }
            }),
            Mutant.of("GRF-009", "bindings that are changed after a launch are run as well", () -> new Mutation() {
                private GraphExecutable last;
                private GraphBindings bound;
                private GraphBindings copy;
                private List<StreamDriver> on = List.of();

                @Override
                void launch(
                        GraphExecutable executable,
                        CommandGraph graph,
                        GraphBindings bindings,
                        List<StreamDriver> streams) {
                    super.launch(executable, graph, bindings, streams);
                    last = executable;
                    bound = bindings;
                    copy = bindings.copy();
                    on = streams;
                }

                @Override
                void synchronize(StreamDriver stream) {
                    if (last != null && on.contains(stream)) {
                        GraphExecutable executable = last;
                        last = null;
                        for (Slot slot : bound.graph().slots()) {
                            if (!bound.require(slot).equals(copy.require(slot))) {
                                super.launch(executable, bound.graph(), bound, on);
                                break;
                            }
                        }
                    }
                    super.synchronize(stream);
                }
            }),
            rewritten("GRF-010", "products in graphs differ in their last bits", new Rewrite() {
                @Override
                Command command(CommandGraph graph, int node) {
                    return graph.command(node) instanceof Command.Gemm gemm && gemm.m() == 32 && gemm.k() == 32
                            ? new Command.Gemm(
                                    gemm.c(), gemm.a(), gemm.b(), false, false, 1 + 0x1p-20f, gemm.beta(), 1, 0, 0, 0)
                            : graph.command(node);
                }
            }),
            Mutant.of("GRF-011", "empty graphs are refused at launch", () -> new Mutation() {
                @Override
                void launch(
                        GraphExecutable executable,
                        CommandGraph graph,
                        GraphBindings bindings,
                        List<StreamDriver> streams) {
                    if (graph.size() == 0) {
                        throw new AcceleratorException(ErrorCode.VENDOR, "launch", "the graph has no nodes");
                    }
                    super.launch(executable, graph, bindings, streams);
                }
            }),
            Mutant.of(
                    "GRF-012",
                    "graphs do not wait for the stream they are launched on",
                    () -> new Aside(graph -> graph.deviceCount() == 1, false, true)),
            Mutant.of(
                    "GRF-013",
                    "streams do not wait for the graphs launched on them",
                    () -> new Aside(graph -> graph.deviceCount() == 1, true, false)),
            Mutant.of(
                    "GRF-014",
                    "streams do not wait for graphs over several devices",
                    () -> new Aside(graph -> graph.deviceCount() == 2 && graph.size() == 2, true, false)),
            Mutant.of("GRF-015", "graph devices are taken in the order of ordinals", () -> new Mutation() {
                @Override
                GraphExecutable instantiate(GraphDriver graphs, CommandGraph graph, List<DeviceDriver> devices) {
                    List<DeviceDriver> sorted = devices.stream()
                            .distinct()
                            .sorted(Comparator.comparingInt(
                                    device -> device.properties().ordinal()))
                            .toList();
                    return super.instantiate(graphs, graph, sorted.size() == devices.size() ? sorted : devices);
                }
            }),
            accepted(
                    "GRF-016",
                    "one device is taken for two",
                    (graph, devices) ->
                            devices.size() == graph.deviceCount() && new HashSet<>(devices).size() < devices.size()),
            accepted("GRF-017", "too few devices are taken", (graph, devices) -> devices.size() < graph.deviceCount()),
            acceptedBy("GRF-018", "devices of another platform are taken", ErrorCode.WRONG_DEVICE, "another platform"),
            launched("GRF-019", "launches with an unbound slot are taken", ErrorCode.INVALID_STATE, "has no buffer"),
            launched("GRF-020", "bindings of other graphs are taken", ErrorCode.INVALID_ARGUMENT, "another graph"),
            launched("GRF-021", "launches with a closed buffer are taken", ErrorCode.CLOSED, "buffer of"),
            launched("GRF-022", "buffers of other devices are taken", ErrorCode.WRONG_DEVICE, "slot"),
            launched("GRF-023", "bindings that overlap a copy are taken", ErrorCode.INVALID_ARGUMENT, "overlap"),
            launched("GRF-024", "streams of other devices are taken", ErrorCode.WRONG_DEVICE, "stream"),
            launched("GRF-025", "closed graphs are launched", ErrorCode.CLOSED, "the graph was closed"),
            Mutant.of("GRF-026", "closing a graph drops its launch in flight", () -> new Mutation() {
                private final IdentityHashMap<StreamDriver, Runnable> waiting = new IdentityHashMap<>();
                private final Set<GraphExecutable> closed = identities();

                private void release(StreamDriver stream) {
                    Runnable launch = waiting.remove(stream);
                    if (launch != null) {
                        launch.run();
                    }
                }

                @Override
                void launch(
                        GraphExecutable executable,
                        CommandGraph graph,
                        GraphBindings bindings,
                        List<StreamDriver> streams) {
                    release(streams.getFirst());
                    if (graph.size() == 1 && graph.slots().getFirst().bytes() == SLOW) {
                        waiting.put(streams.getFirst(), () -> {
                            if (!closed.contains(executable)) {
                                super.launch(executable, graph, bindings, streams);
                            }
                        });
                    } else {
                        super.launch(executable, graph, bindings, streams);
                    }
                }

                @Override
                Enqueue enqueue(StreamDriver stream, Command command) {
                    release(stream);
                    return super.enqueue(stream, command);
                }

                @Override
                void synchronize(StreamDriver stream) {
                    release(stream);
                    super.synchronize(stream);
                }

                @Override
                void close(GraphExecutable executable) {
                    closed.add(executable);
                    super.close(executable);
                }
            }),
            rewritten("GRF-027", "nodes of high priority do not wait", new Rewrite() {
                @Override
                boolean keeps(CommandGraph graph, int node, int dependency) {
                    return graph.priority(node) != Priority.HIGH;
                }
            }),
            rewritten("GRF-028", "nodes of the seventh lane and up do not wait", new Rewrite() {
                @Override
                boolean keeps(CommandGraph graph, int node, int dependency) {
                    return graph.lane(node) < 6;
                }
            }),
            rewritten("GRF-029", "nodes beyond the 512th are left out", new Rewrite() {
                @Override
                Command command(CommandGraph graph, int node) {
                    return switch (graph.command(node)) {
                        case Command.Fill fill
                        when node >= 512 -> new Command.Fill(fill.destination().columnRange(0, 0), fill.bits());
                        case Command.Copy copy
                        when node >= 512 ->
                            new Command.Copy(
                                    copy.destination().columnRange(0, 0),
                                    copy.source().columnRange(0, 0),
                                    copy.method());
                        case Command other -> other;
                    };
                }
            }),
            Mutant.of("GRF-030", "a graph that is launched while another is in flight is lost", () -> new Mutation() {
                private int inFlight;

                @Override
                void launch(
                        GraphExecutable executable,
                        CommandGraph graph,
                        GraphBindings bindings,
                        List<StreamDriver> streams) {
                    boolean counts =
                            graph.size() == 1 && graph.slots().getFirst().bytes() == 65_536;
                    if (!counts || ++inFlight == 1) {
                        super.launch(executable, graph, bindings, streams);
                    }
                }
            }),
            Mutant.of("GRF-031", "a graph multiplies a type that the device does not list", () -> new Mutation() {
                @Override
                DeviceProperties properties(DeviceDriver device) {
                    DeviceProperties whole = device.properties();
                    Set<ElementType> types = EnumSet.copyOf(whole.gemmTypes());
                    Map<ElementType, Double> rates = new HashMap<>(whole.peakFlops());
                    types.remove(ElementType.FP8_E5M2_FNUZ);
                    rates.remove(ElementType.FP8_E5M2_FNUZ);
                    return Properties.with(whole, rates, types, whole.busId());
                }
            }),
            acceptedBy(
                    "GRF-032", "compute on memory of other devices is taken", ErrorCode.WRONG_DEVICE, "uses memory of"),
            acceptedBy(
                    "GRF-033", "copies between two other devices are taken", ErrorCode.WRONG_DEVICE, "and copies from"),
            acceptedBy(
                    "GRF-034",
                    "collectives that lack a part are taken",
                    ErrorCode.COLLECTIVE_MISMATCH,
                    "needs one part"),
            acceptedBy("GRF-035", "parts that disagree are taken", ErrorCode.COLLECTIVE_MISMATCH, "but"),
            Mutant.of("GRF-036", "timelines begin at 0 with every node", () -> new Mutation() {
                @Override
                Optional<Timeline> lastTimeline(GraphExecutable executable) {
                    return super.lastTimeline(executable).map(GraphMutants::allAtOnce);
                }
            }),
            Mutant.of("GRF-037", "failures of nodes are swallowed", () -> new Mutation() {
                private final Set<StreamDriver> launched = identities();

                @Override
                void launch(
                        GraphExecutable executable,
                        CommandGraph graph,
                        GraphBindings bindings,
                        List<StreamDriver> streams) {
                    launched.addAll(streams);
                    super.launch(executable, graph, bindings, streams);
                }

                @Override
                void synchronize(StreamDriver stream) {
                    try {
                        super.synchronize(stream);
                    } catch (AcceleratorException failure) {
                        if (!launched.contains(stream)) {
                            throw failure;
                        }
                    }
                }
            }),
            Mutant.of("GRF-038", "parts of a buffer are taken for the whole", () -> new Mutation() {
                private Platform platform;

                @Override
                PlatformDriver open(AcceleratorProvider provider, PlatformUri uri) {
                    PlatformDriver driver = super.open(provider, uri);
                    platform = new Platform(uri, driver);
                    return driver;
                }

                @Override
                void launch(
                        GraphExecutable executable,
                        CommandGraph graph,
                        GraphBindings bindings,
                        List<StreamDriver> streams) {
                    if (graph.size() != 1 || graph.slots().getFirst().bytes() != SHORT) {
                        super.launch(executable, graph, bindings, streams);
                        return;
                    }
                    Buffer first = bindings.buffer(0);
                    Buffer second = bindings.buffer(1);
                    boolean parts = first != null
                            && second != null
                            && !first.equals(second)
                            && first.memory().equals(second.memory());
                    if (!parts) {
                        super.launch(executable, graph, bindings, streams);
                        return;
                    }
                    // Both parts lie at the start of the buffer, as if nobody had looked at their offsets.
                    Buffer whole = platform.device(first.device().ordinal()).adopt(first.memory(), buffer -> {});
                    GraphBindings wrong = new GraphBindings(graph)
                            .bind(graph.slots().get(0), whole.suballocate(0, SHORT, part -> {}))
                            .bind(graph.slots().get(1), second);
                    super.launch(executable, graph, wrong, streams);
                }
            }));

    private GraphMutants() {}

    private static <T> Set<T> identities() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    private static Timeline allAtOnce(Timeline right) {
        int size = right.graph().size();
        double[] starts = new double[size];
        double[] ends = new double[size];
        Arrays.setAll(ends, right::durationNanos);
        return new Timeline(
                right.graph(), right.figures(), starts, ends, right.makespanNanos(), right.resources(), List.of());
    }

    /** How a graph is changed before it is prepared. */
    abstract static class Rewrite {
        Command command(CommandGraph graph, int node) {
            return graph.command(node);
        }

        int lane(CommandGraph graph, int node) {
            return graph.lane(node);
        }

        boolean keeps(CommandGraph graph, int node, int dependency) {
            return true;
        }

        final CommandGraph apply(CommandGraph graph) {
            CommandGraph.Builder builder = CommandGraph.builder(graph.deviceCount());
            for (Slot slot : graph.slots()) {
                builder.slot(slot.device(), slot.name(), slot.bytes(), slot.role());
            }
            for (int node = 0; node < graph.size(); node++) {
                int number = node;
                int[] kept = Arrays.stream(graph.dependencies(node))
                        .filter(dependency -> keeps(graph, number, dependency))
                        .toArray();
                builder.add(
                        graph.device(node),
                        lane(graph, node),
                        graph.priority(node),
                        command(graph, node),
                        graph.label(node),
                        kept);
            }
            return builder.build();
        }
    }

    private static Mutant rewritten(String rule, String what, Rewrite rewrite) {
        return Mutant.of(rule, what, () -> new Rewriting(rewrite));
    }

    /** A mutation that runs other graphs than it was given. */
    static final class Rewriting extends Mutation {
        private final Rewrite rewrite;
        private final IdentityHashMap<GraphExecutable, CommandGraph> others = new IdentityHashMap<>();
        private final IdentityHashMap<GraphExecutable, CommandGraph> given = new IdentityHashMap<>();

        Rewriting(Rewrite rewrite) {
            this.rewrite = rewrite;
        }

        @Override
        GraphExecutable instantiate(GraphDriver graphs, CommandGraph graph, List<DeviceDriver> devices) {
            CommandGraph other = rewrite.apply(graph);
            GraphExecutable executable = super.instantiate(graphs, other, devices);
            others.put(executable, other);
            given.put(executable, graph);
            return executable;
        }

        @Override
        void launch(
                GraphExecutable executable, CommandGraph graph, GraphBindings bindings, List<StreamDriver> streams) {
            CommandGraph other = others.get(executable);
            if (!bindings.graph().equals(given.get(executable))) {
                throw AcceleratorException.invalid("launch graph", "the bindings belong to another graph");
            }
            GraphBindings rebound = new GraphBindings(other);
            for (Slot slot : other.slots()) {
                Buffer buffer = bindings.buffer(slot.index());
                if (buffer != null) {
                    rebound.bind(slot, buffer);
                }
            }
            super.launch(executable, other, rebound, streams);
        }
    }

    /** Graphs that are refused and taken nevertheless; they do nothing. */
    private static Mutant accepted(String rule, String what, BiPredicate<CommandGraph, List<DeviceDriver>> which) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            GraphExecutable instantiate(GraphDriver graphs, CommandGraph graph, List<DeviceDriver> devices) {
                return which.test(graph, devices) ? new Idle() : super.instantiate(graphs, graph, devices);
            }
        });
    }

    private static Mutant acceptedBy(String rule, String what, ErrorCode code, String words) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            GraphExecutable instantiate(GraphDriver graphs, CommandGraph graph, List<DeviceDriver> devices) {
                try {
                    return super.instantiate(graphs, graph, devices);
                } catch (AcceleratorException refusal) {
                    return swallowed(refusal, code, words, new Idle());
                }
            }
        });
    }

    /** Launches that are refused, which nobody is told. */
    private static Mutant launched(String rule, String what, ErrorCode code, String words) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            void launch(
                    GraphExecutable executable,
                    CommandGraph graph,
                    GraphBindings bindings,
                    List<StreamDriver> streams) {
                try {
                    super.launch(executable, graph, bindings, streams);
                } catch (AcceleratorException refusal) {
                    swallowed(refusal, code, words, executable);
                }
            }
        });
    }

    private static <T> T swallowed(AcceleratorException refusal, ErrorCode code, String words, T instead) {
        if (refusal.code() == code && refusal.getMessage().contains(words)) {
            return instead;
        }
        throw refusal;
    }

    private static final class Idle implements GraphExecutable {
        @Override
        public void launch(GraphBindings bindings, List<? extends StreamDriver> streams) {
            // Does nothing.
        }

        @Override
        public Optional<Timeline> lastTimeline() {
            return Optional.empty();
        }

        @Override
        public void close() {
            // Nothing to close.
        }
    }

    /** Runs graphs on streams of their own, which lack one of the two joints with the caller's. */
    private static final class Aside extends Mutation {
        private final Predicate<CommandGraph> which;
        private final boolean waits;
        private final boolean isWaitedFor;
        private final IdentityHashMap<StreamDriver, StreamDriver> aside = new IdentityHashMap<>();

        Aside(Predicate<CommandGraph> which, boolean waits, boolean isWaitedFor) {
            this.which = which;
            this.waits = waits;
            this.isWaitedFor = isWaitedFor;
        }

        @Override
        void launch(
                GraphExecutable executable, CommandGraph graph, GraphBindings bindings, List<StreamDriver> streams) {
            if (!which.test(graph)) {
                super.launch(executable, graph, bindings, streams);
                return;
            }
            List<StreamDriver> others = new ArrayList<>();
            for (StreamDriver stream : streams) {
                StreamDriver other =
                        aside.computeIfAbsent(stream, key -> key.device().createStream(StreamOptions.defaults()));
                if (waits) {
                    join(stream, other);
                }
                others.add(other);
            }
            super.launch(executable, graph, bindings, others);
            if (isWaitedFor) {
                for (int i = 0; i < others.size(); i++) {
                    join(others.get(i), streams.get(i));
                }
            }
        }

        private static void join(StreamDriver before, StreamDriver after) {
            EventDriver event = before.device().createEvent(EventOptions.untimed());
            before.record(event);
            after.waitFor(event);
            event.close();
        }

        @Override
        void synchronize(StreamDriver stream) {
            StreamDriver other = aside.get(stream);
            try {
                if (other != null) {
                    other.synchronize();
                }
            } finally {
                super.synchronize(stream);
            }
        }

        @Override
        void close(StreamDriver stream) {
            StreamDriver other = aside.remove(stream);
            if (other != null) {
                try {
                    other.synchronize();
                } catch (AcceleratorException told) {
                    // The caller's own stream has told it.
                }
                other.close();
            }
            super.close(stream);
        }
    }
}

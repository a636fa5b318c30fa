// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.mutants;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CollectiveKind;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.EventOptions;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.StreamOptions;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.conformance.reference.Codec;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.EventDriver;
import io.weft.spi.StreamDriver;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Mutants that break a rule about collectives. Counts single out the collectives of one proof. */
final class CollectiveMutants {
    private static final int COUNT = 96;

    static final List<Mutant> ALL = List.of(
            edited("COL-002", "the last element of a reduction is off", CollectiveMutants::sum, lastOff(0)),
            edited(
                    "COL-003",
                    "the first two blocks are exchanged",
                    of(CollectiveKind.ALL_GATHER, COUNT),
                    CollectiveMutants::exchanged),
            edited("COL-004", "a block's last element is off", of(CollectiveKind.REDUCE_SCATTER, COUNT), lastOff(0)),
            edited(
                    "COL-005",
                    "the last element from root 1 is off",
                    part -> of(CollectiveKind.BROADCAST, COUNT).test(part) && part.root() == 1,
                    lastOff(0)),
            edited(
                    "COL-006",
                    "the last element at root 1 is off",
                    part -> of(CollectiveKind.REDUCE, COUNT).test(part) && part.root() == 1,
                    lastOff(1)),
            edited(
                    "COL-007",
                    "the first two blocks are exchanged",
                    of(CollectiveKind.ALL_TO_ALL, COUNT),
                    CollectiveMutants::exchanged),
            edited(
                    "COL-008",
                    "blocks of different sizes are one element off",
                    part -> part.kind() == CollectiveKind.ALL_TO_ALL_V
                            && part.receive().elements() > 2,
                    (part, bits) -> {
                        int[] moved = bits.clone();
                        System.arraycopy(bits, 0, moved, 1, bits.length - 1);
                        moved[0] = bits[bits.length - 1];
                        return moved;
                    }),
            edited(
                    "COL-009",
                    "the first two blocks at root 1 are exchanged",
                    part -> of(CollectiveKind.GATHER, COUNT).test(part) && part.root() == 1,
                    CollectiveMutants::exchanged),
            edited(
                    "COL-010",
                    "the last element from root 1 is off",
                    part -> of(CollectiveKind.SCATTER, COUNT).test(part) && part.root() == 1,
                    lastOff(0)),
            edited(
                    "COL-011",
                    "transfers over three ranks lose their last element",
                    part -> part.kind() == CollectiveKind.RECEIVE
                            && part.ranks() == 8
                            && (part.rank() - part.root() + 8) % 8 == 3,
                    (part, bits) -> Faults.lastOff(bits)),
            groups("COL-012", "barriers are not carried out", group -> {
                boolean all = group.stream().allMatch(part -> part.command().kind() == CollectiveKind.BARRIER);
                return all && isWhole(group) ? List.of() : group;
            }),
            edited(
                    "COL-013",
                    "int8 maxima over three ranks are off",
                    part -> part.ranks() == 3
                            && part.count() == 40
                            && part.type() == ElementType.INT8
                            && part.op().kind() == ReduceOp.Kind.MAX,
                    lastOff(2)),
            edited(
                    "COL-014",
                    "bf16 gathers over five ranks lose an element",
                    part -> of(CollectiveKind.ALL_GATHER, 40).test(part)
                            && part.ranks() == 5
                            && part.type() == ElementType.BF16,
                    lastOff(3)),
            edited(
                    "COL-015",
                    "the last of 1021 elements is lost",
                    part -> of(CollectiveKind.ALL_GATHER, 1021).test(part) && part.type() == ElementType.BF16,
                    lastOff(1)),
            edited(
                    "COL-016",
                    "the element behind 256 KiB is lost",
                    part -> part.kind() == CollectiveKind.ALL_REDUCE && part.count() == 65_537,
                    (part, bits) -> {
                        int[] lost = bits.clone();
                        lost[65_536] = 0;
                        return lost;
                    }),
            Mutant.of("COL-017", "maxima in graphs are minima", CollectiveMutants::minimaInGraphs),
            edited(
                    "COL-018",
                    "floating averages divide the sum",
                    part -> part.kind().reduces()
                            && part.op().kind() == ReduceOp.Kind.AVG
                            && part.type().isFloating(),
                    null),
            edited(
                    "COL-019",
                    "integer averages are rounded down",
                    part -> part.kind().reduces()
                            && part.op().kind() == ReduceOp.Kind.AVG
                            && !part.type().isFloating(),
                    null),
            groups("COL-020", "the first rank's factor counts for all", group -> {
                if (!isWhole(group)) {
                    return group;
                }
                List<CollectiveDriver.Part> changed = new ArrayList<>();
                ReduceOp first = null;
                for (CollectiveDriver.Part part : group) {
                    Command.Collective command = part.command();
                    if (command.op().kind() == ReduceOp.Kind.SCALED_SUM) {
                        first = command.rank() == 0 ? command.op() : first;
                        changed.add(new CollectiveDriver.Part(withOp(command, first), part.stream()));
                    } else {
                        changed.add(part);
                    }
                }
                return changed;
            }),
            edited(
                    "COL-021",
                    "the least int8 is taken for the one above it",
                    part -> of(CollectiveKind.ALL_REDUCE, 32).test(part)
                            && part.type() == ElementType.INT8
                            && part.op().kind() == ReduceOp.Kind.MIN,
                    (part, bits) -> {
                        int[] wrong = bits.clone();
                        for (int i = 0; i < wrong.length; i++) {
                            wrong[i] = wrong[i] == 0x80 ? 0x81 : wrong[i];
                        }
                        return wrong;
                    }),
            edited(
                    "COL-022",
                    "the second rank adds up in another order",
                    part -> of(CollectiveKind.ALL_REDUCE, 5000).test(part) && part.rank() == 1,
                    (part, bits) -> largestOff(bits, 1)),
            Mutant.of(
                    "COL-023",
                    "every reduction differs in its last bit",
                    () -> new Editing(
                            part -> of(CollectiveKind.ALL_REDUCE, 1000).test(part)) {
                        private int count;

                        @Override
                        int[] edit(Command.Collective part, int[] bits, List<int[]> sends) {
                            return largestOff(bits, (count++ / part.ranks()) & 1);
                        }
                    }),
            refused(
                    "COL-024",
                    "counts of 0 are refused",
                    part -> !part.kind().pointToPoint()
                            && part.kind() != CollectiveKind.BARRIER
                            && part.kind() != CollectiveKind.ALL_TO_ALL_V
                            && part.count() == 0),
            groups(
                    "COL-025",
                    "transfers of 0 elements are left out",
                    group -> group.stream()
                            .filter(part -> !part.command().kind().pointToPoint()
                                    || part.command().count() > 0)
                            .toList()),
            groups("COL-026", "receives from one peer are served in reverse", CollectiveMutants::receivesReversed),
            Mutant.of("COL-027", "an exchange of two ranks is issued call by call", () -> new Mutation() {
                @Override
                void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                    if (group.size() == 4 && exchanges(group)) {
                        group.forEach(part -> communicator.enqueue(List.of(part)));
                    } else {
                        super.enqueue(communicator, group);
                    }
                }
            }),
            refused(
                    "COL-028",
                    "a rank cannot send to itself",
                    part -> part.kind() == CollectiveKind.RECEIVE && part.root() == part.rank()),
            swallowed("COL-029", "a lonely send to itself is taken", ErrorCode.INVALID_ARGUMENT, "itself"),
            edited("COL-030", "reductions in place are off", inPlace(CollectiveKind.ALL_REDUCE), lastOff(0)),
            edited("COL-031", "gathers in place are off", inPlace(CollectiveKind.ALL_GATHER), lastOff(0)),
            edited(
                    "COL-032",
                    "scattered reductions in place are off",
                    inPlace(CollectiveKind.REDUCE_SCATTER),
                    lastOff(0)),
            edited(
                    "COL-033",
                    "reductions to one rank in place are off",
                    part -> inPlace(CollectiveKind.REDUCE).test(part) && part.rank() == part.root(),
                    (part, bits) -> Faults.lastOff(bits)),
            edited(
                    "COL-034",
                    "gathers to one rank in place are off",
                    part -> inPlace(CollectiveKind.GATHER).test(part) && part.rank() == part.root(),
                    (part, bits) -> Faults.lastOff(bits)),
            Mutant.of(
                    "COL-035",
                    "gathers spoil what they send",
                    () -> new Spoiling(
                            part -> of(CollectiveKind.ALL_GATHER, COUNT).test(part) && apart(part),
                            Command.Collective::send)),
            Mutant.of(
                    "COL-036",
                    "reductions write to every receive view",
                    () -> new Spoiling(
                            part -> of(CollectiveKind.REDUCE, COUNT).test(part)
                                    && part.rank() != part.root()
                                    && part.receive() != null,
                            Command.Collective::receive)),
            silent(
                    "COL-037",
                    "different kinds are not told",
                    group -> differ(group, part -> part.kind().name())
                            && group.stream()
                                    .noneMatch(part -> part.command().kind().pointToPoint())),
            silent(
                    "COL-038",
                    "different counts are not told",
                    group -> group.size() == 3
                            && differ(group, Command.Collective::count)
                            && !differ(group, part -> part.kind().name())),
            silent(
                    "COL-039",
                    "different types are not told",
                    group -> differ(group, Command.Collective::type)
                            && group.stream()
                                    .noneMatch(part -> part.command().type().isFp8())
                            && group.stream()
                                    .noneMatch(part -> part.command().kind().pointToPoint())),
            silent(
                    "COL-040",
                    "different reductions are not told",
                    group -> group.size() == 3
                            && isWhole(group)
                            && differ(group, part -> part.op().kind())
                            && !differ(group, part -> part.kind().name())),
            silent(
                    "COL-041",
                    "different roots are not told",
                    group -> group.size() == 3
                            && group.stream().allMatch(part -> part.command().kind() == CollectiveKind.BROADCAST)
                            && differ(group, Command.Collective::root)),
            silent(
                    "COL-042",
                    "different 8-bit encodings are not told",
                    group -> differ(group, Command.Collective::type)
                            && group.stream()
                                    .allMatch(part -> part.command().type().isFp8())),
            silent(
                    "COL-043",
                    "transfers of different counts are not told",
                    group -> group.size() == 2
                            && group.stream()
                                    .allMatch(part -> part.command().kind().pointToPoint()
                                            && part.command().count() > 0)
                            && differ(group, Command.Collective::count)),
            swallowed("COL-044", "counts that do not fit are not told", ErrorCode.COLLECTIVE_MISMATCH, "which expects"),
            Mutant.of("COL-045", "asynchronous errors are forgotten", () -> new Mutation() {
                @Override
                Optional<AcceleratorException> asyncError(CommunicatorDriver communicator) {
                    return Optional.empty();
                }
            }),
            Mutant.of("COL-046", "\"in progress\" is taken for a failure", () -> new Mutation() {
                @Override
                Optional<AcceleratorException> asyncError(CommunicatorDriver communicator) {
                    Optional<AcceleratorException> known = super.asyncError(communicator);
                    return known.isPresent()
                            ? known
                            : Optional.of(new AcceleratorException(ErrorCode.VENDOR, "collective", "in progress"));
                }
            }),
            retold(
                    "COL-047",
                    "circles of communicators are told as an internal fault",
                    "in a circle",
                    ErrorCode.INTERNAL),
            Mutant.of(
                    "COL-048",
                    "a communicator that meets another one in flight loses its operation",
                    () -> new Mutation() {
                        private CommunicatorDriver last;

                        @Override
                        void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                            boolean counts = isWhole(group)
                                    && sum(group.getFirst().command())
                                    && apart(group.getFirst().command());
                            boolean meets = counts && last != null && !last.equals(communicator);
                            last = counts ? communicator : last;
                            if (!meets) {
                                super.enqueue(communicator, group);
                            }
                        }

                        @Override
                        void synchronize(StreamDriver stream) {
                            last = null;
                            super.synchronize(stream);
                        }
                    }),
            retold("COL-049", "nobody says which rank is missing", "lacks rank 1", ErrorCode.TIMEOUT),
            Mutant.of("COL-050", "an abort frees nobody", () -> new Mutation() {
                @Override
                void abort(CommunicatorDriver communicator) {
                    // Does nothing.
                }
            }),
            swallowed("COL-051", "aborted communicators take operations", ErrorCode.ABORTED, "was aborted"),
            Mutant.of("COL-052", "an abort ends all communicators", () -> new Mutation() {
                private final List<CommunicatorDriver> all = new ArrayList<>();

                @Override
                CommunicatorDriver join(
                        CollectiveDriver collectives, byte[] uniqueId, int size, Map<Integer, DeviceDriver> ranks) {
                    CommunicatorDriver made = super.join(collectives, uniqueId, size, ranks);
                    all.add(made);
                    return made;
                }

                @Override
                void close(CommunicatorDriver communicator) {
                    all.remove(communicator);
                    super.close(communicator);
                }

                @Override
                void abort(CommunicatorDriver communicator) {
                    all.forEach(CommunicatorDriver::abort);
                    super.abort(communicator);
                }
            }),
            joined("COL-053", "a device is taken for two ranks", "one rank only"),
            joined("COL-054", "a rank joins twice", "has joined already"),
            joined("COL-055", "ranks join with different sizes", "joins with a size"),
            joined("COL-056", "any id is taken", "unique id"),
            Mutant.of("COL-057", "unique ids repeat when they are asked for quickly", () -> new Mutation() {
                private byte[] last;
                private int asked;

                @Override
                byte[] newUniqueId(CollectiveDriver collectives) {
                    if (++asked < 4) {
                        last = super.newUniqueId(collectives);
                    }
                    return last.clone();
                }

                @Override
                CommunicatorDriver join(
                        CollectiveDriver collectives, byte[] uniqueId, int size, Map<Integer, DeviceDriver> ranks) {
                    asked = 0;
                    return super.join(collectives, uniqueId, size, ranks);
                }
            }),
            split("COL-058", "colours are forgotten", (colors, keys) -> {
                Map<Integer, Integer> one = new HashMap<>(colors);
                one.replaceAll((rank, color) -> Math.min(color, 0));
                return Map.entry(one, keys);
            }),
            split("COL-059", "keys are forgotten", (colors, keys) -> Map.entry(colors, Map.of())),
            split("COL-060", "negative colours are colours", (colors, keys) -> {
                Map<Integer, Integer> all = new HashMap<>(colors);
                all.replaceAll((rank, color) -> Math.max(color, 0));
                return Map.entry(all, keys);
            }),
            Mutant.of("COL-061", "blocks are gathered in the order of ordinals", () -> new Mutation() {
                @Override
                void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                    super.enqueue(communicator, group);
                    List<CollectiveDriver.Part> gathers = group.stream()
                            .filter(part -> of(CollectiveKind.ALL_GATHER, COUNT).test(part.command()))
                            .toList();
                    if (gathers.size() < 2 || !isWhole(group)) {
                        return;
                    }
                    group.forEach(part -> part.stream().synchronize());
                    List<CollectiveDriver.Part> sorted = gathers.stream()
                            .sorted(Comparator.comparingInt(part -> Faults.device(part.stream())))
                            .toList();
                    for (CollectiveDriver.Part part : gathers) {
                        int[] bits = Faults.read(part.command().receive());
                        int[] turned = bits.clone();
                        for (int i = 0; i < sorted.size(); i++) {
                            int from = sorted.get(i).command().rank();
                            System.arraycopy(bits, from * COUNT, turned, i * COUNT, COUNT);
                        }
                        Faults.write(part.command().receive(), turned);
                    }
                }
            }),
            Mutant.of("COL-062", "parts from other threads are refused", () -> new Mutation() {
                @Override
                void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                    Command.Collective first = group.getFirst().command();
                    if (group.size() == 1
                            && first.ranks() == 4
                            && sum(first)
                            && Thread.currentThread().getName().startsWith("conformance rank")) {
                        throw new AcceleratorException(
                                ErrorCode.VENDOR, "collective", "the device's context belongs to another thread");
                    }
                    super.enqueue(communicator, group);
                }
            }),
            Mutant.of("COL-063", "gathers do not wait for their streams", () -> new Aside(16, false, true)),
            Mutant.of("COL-064", "streams do not wait for gathers", () -> new Aside(1 << 16, true, false)),
            groups("COL-065", "gathers overtake reductions of their group", group -> {
                boolean both = isWhole(group)
                        && group.stream()
                                .anyMatch(part -> part.command().kind() == CollectiveKind.ALL_REDUCE
                                        && part.command().count() == 4096);
                return !both
                        ? group
                        : group.stream()
                                .sorted(Comparator.comparing(
                                        part -> part.command().kind() == CollectiveKind.ALL_REDUCE))
                                .toList();
            }),
            Mutant.of("COL-066", "closing a communicator ends what is in flight", () -> new Mutation() {
                @Override
                void close(CommunicatorDriver communicator) {
                    communicator.abort();
                    super.close(communicator);
                }
            }),
            groups(
                    "COL-067",
                    "parts on streams of other priorities are forgotten",
                    group -> group.size() == 1 && group.getFirst().stream().effectivePriority() != Priority.NORMAL
                            ? List.of()
                            : group));

    private CollectiveMutants() {}

    // Which parts.

    private static boolean sum(Command.Collective part) {
        return of(CollectiveKind.ALL_REDUCE, COUNT).test(part) && part.op().kind() == ReduceOp.Kind.SUM;
    }

    private static Predicate<Command.Collective> of(CollectiveKind kind, long count) {
        return part -> part.kind() == kind && part.count() == count;
    }

    /** Whether all ranks' parts are in one group, so that it can be waited for. */
    private static boolean isWhole(List<CollectiveDriver.Part> group) {
        if (group.isEmpty()) {
            return false;
        }
        Set<Integer> ranks = group.stream().map(part -> part.command().rank()).collect(Collectors.toSet());
        return ranks.size() == group.getFirst().command().ranks();
    }

    private static boolean differ(List<CollectiveDriver.Part> group, Function<Command.Collective, Object> what) {
        return isWhole(group)
                && group.size() == group.getFirst().command().ranks()
                && group.stream()
                                .map(part -> Optional.ofNullable(what.apply(part.command())))
                                .distinct()
                                .count()
                        > 1;
    }

    private static boolean apart(Command.Collective part) {
        return part.send() != null
                && part.receive() != null
                && !((Buffer) part.send().memory())
                        .memory()
                        .equals(((Buffer) part.receive().memory()).memory());
    }

    private static Predicate<Command.Collective> inPlace(CollectiveKind kind) {
        return part -> part.kind() == kind
                && part.send() != null
                && part.receive() != null
                && part.send().memory().equals(part.receive().memory())
                && part.send().offset() < part.receive().end()
                && part.receive().offset() < part.send().end();
    }

    private static boolean exchanges(List<CollectiveDriver.Part> group) {
        long receives = group.stream()
                .filter(part -> part.command().kind() == CollectiveKind.RECEIVE)
                .map(part -> part.command().rank())
                .distinct()
                .count();
        return receives == 2
                && group.stream()
                        .allMatch(part -> part.command().kind().pointToPoint()
                                && part.command().root() != part.command().rank());
    }

    private static Command.Collective withOp(Command.Collective part, ReduceOp op) {
        return new Command.Collective(
                part.kind(),
                op,
                part.rank(),
                part.ranks(),
                part.root(),
                part.send(),
                part.receive(),
                part.sendCounts(),
                part.receiveCounts(),
                part.key());
    }

    // What goes wrong.

    private static BiFunction<Command.Collective, int[], int[]> lastOff(int rank) {
        return (part, bits) -> part.rank() == Math.min(rank, part.ranks() - 1) ? Faults.lastOff(bits) : bits;
    }

    private static int[] exchanged(Command.Collective part, int[] bits) {
        if (part.ranks() < 2) {
            return bits;
        }
        int block = bits.length / part.ranks();
        int[] turned = bits.clone();
        System.arraycopy(bits, 0, turned, block, block);
        System.arraycopy(bits, block, turned, 0, block);
        return turned;
    }

    /** Changes the last bit of the largest element, where the tolerance has room for it. */
    private static int[] largestOff(int[] bits, int by) {
        int largest = 0;
        for (int i = 1; i < bits.length; i++) {
            if (Math.abs(Float.intBitsToFloat(bits[i])) > Math.abs(Float.intBitsToFloat(bits[largest]))) {
                largest = i;
            }
        }
        int[] other = bits.clone();
        other[largest] ^= by;
        return other;
    }

    private static List<CollectiveDriver.Part> receivesReversed(List<CollectiveDriver.Part> group) {
        List<CollectiveDriver.Part> receives = group.stream()
                .filter(part -> part.command().kind() == CollectiveKind.RECEIVE
                        && part.command().root() != part.command().rank())
                .toList();
        if (receives.size() < 3
                || receives.stream()
                                .map(part -> part.command().rank())
                                .distinct()
                                .count()
                        > 1) {
            return group;
        }
        List<CollectiveDriver.Part> others = new ArrayList<>(group);
        others.removeAll(receives);
        others.addAll(receives.reversed());
        return others;
    }

    private static Mutation minimaInGraphs() {
        return new GraphMutants.Rewriting(new GraphMutants.Rewrite() {
            @Override
            Command command(CommandGraph graph, int node) {
                return graph.command(node) instanceof Command.Collective part
                                && part.op().kind() == ReduceOp.Kind.MAX
                                && part.type() == ElementType.INT32
                        ? withOp(part, ReduceOp.MIN)
                        : graph.command(node);
            }
        });
    }

    /** Changes results of whole groups. */
    private abstract static class Editing extends Mutation {
        private final Predicate<Command.Collective> which;

        Editing(Predicate<Command.Collective> which) {
            this.which = which;
        }

        abstract int[] edit(Command.Collective part, int[] bits, List<int[]> sends);

        @Override
        void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
            boolean counts = isWhole(group) && group.stream().anyMatch(part -> which.test(part.command()));
            Map<Integer, List<int[]>> sends = counts ? sends(group) : Map.of();
            super.enqueue(communicator, group);
            if (!counts) {
                return;
            }
            Map<Integer, Integer> seen = new HashMap<>();
            group.forEach(part -> part.stream().synchronize());
            for (CollectiveDriver.Part part : group) {
                int number = seen.merge(part.command().rank(), 1, Integer::sum) - 1;
                BufferView view = part.command().receive();
                if (view == null || view.isEmpty() || !which.test(part.command())) {
                    continue;
                }
                Faults.write(view, edit(part.command(), Faults.read(view), sends.getOrDefault(number, List.of())));
            }
        }

        /** What all ranks send to the collective of a number. */
        private static Map<Integer, List<int[]>> sends(List<CollectiveDriver.Part> group) {
            Map<Integer, Integer> seen = new HashMap<>();
            Map<Integer, List<int[]>> sends = new HashMap<>();
            group.forEach(part -> part.stream().synchronize());
            for (CollectiveDriver.Part part : group) {
                int number = seen.merge(part.command().rank(), 1, Integer::sum) - 1;
                if (part.command().send() != null && part.command().op().kind() == ReduceOp.Kind.AVG) {
                    sends.computeIfAbsent(number, key -> new ArrayList<>())
                            .add(Faults.read(part.command().send()));
                }
            }
            return sends;
        }
    }

    private static Mutant edited(
            String rule,
            String what,
            Predicate<Command.Collective> which,
            BiFunction<Command.Collective, int[], int[]> edit) {
        return Mutant.of(rule, what, () -> new Editing(which) {
            @Override
            int[] edit(Command.Collective part, int[] bits, List<int[]> sends) {
                return edit == null ? divided(part, bits, sends) : edit.apply(part, bits);
            }
        });
    }

    /** An average by dividing the sum: exactly for floats, downwards for integers. */
    private static int[] divided(Command.Collective part, int[] bits, List<int[]> sends) {
        Codec codec = Codec.of(part.type());
        int[] result = new int[bits.length];
        int start = part.kind() == CollectiveKind.REDUCE_SCATTER ? part.rank() * bits.length : 0;
        for (int i = 0; i < bits.length; i++) {
            double sum = 0;
            for (int[] send : sends) {
                sum += codec.decode(send[start + i]);
            }
            double average = sum / sends.size();
            result[i] = codec.encode(part.type().isFloating() ? average : Math.floor(average));
        }
        return result;
    }

    private static Mutant groups(String rule, String what, UnaryOperator<List<CollectiveDriver.Part>> change) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                super.enqueue(communicator, change.apply(group));
            }
        });
    }

    /** Groups that are not carried out, which nobody is told. */
    private static Mutant silent(String rule, String what, Predicate<List<CollectiveDriver.Part>> which) {
        return groups(rule, what, group -> which.test(group) ? List.of() : group);
    }

    private static Mutant refused(String rule, String what, Predicate<Command.Collective> which) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                if (group.stream().anyMatch(part -> which.test(part.command()))) {
                    throw new AcceleratorException(ErrorCode.VENDOR, "collective", "the library does not like this");
                }
                super.enqueue(communicator, group);
            }
        });
    }

    /** Refusals of groups that nobody is told. */
    private static Mutant swallowed(String rule, String what, ErrorCode code, String words) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
                try {
                    super.enqueue(communicator, group);
                } catch (AcceleratorException refusal) {
                    if (refusal.code() != code || !refusal.getMessage().contains(words)) {
                        throw refusal;
                    }
                    hidden.put(communicator, refusal);
                }
            }

            private final IdentityHashMap<CommunicatorDriver, AcceleratorException> hidden = new IdentityHashMap<>();

            @Override
            void synchronize(StreamDriver stream) {
                try {
                    super.synchronize(stream);
                } catch (AcceleratorException failure) {
                    if (hidden.isEmpty() || !failure.getMessage().contains(words)) {
                        throw failure;
                    }
                }
            }

            @Override
            Optional<AcceleratorException> asyncError(CommunicatorDriver communicator) {
                return hidden.containsKey(communicator) ? Optional.empty() : super.asyncError(communicator);
            }
        });
    }

    /** Failures of waiting that are told in other words. */
    private static Mutant retold(String rule, String what, String words, ErrorCode code) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            void synchronize(StreamDriver stream) {
                try {
                    super.synchronize(stream);
                } catch (AcceleratorException failure) {
                    throw failure.getMessage().contains(words)
                            ? new AcceleratorException(code, "synchronize", "something went wrong")
                            : failure;
                }
            }
        });
    }

    /** Ranks that are refused and join nevertheless, each a communicator of its own. */
    private static Mutant joined(String rule, String what, String words) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            CommunicatorDriver join(
                    CollectiveDriver collectives, byte[] uniqueId, int size, Map<Integer, DeviceDriver> ranks) {
                try {
                    return super.join(collectives, uniqueId, size, ranks);
                } catch (AcceleratorException refusal) {
                    if (!refusal.getMessage().contains(words)) {
                        throw refusal;
                    }
                    return collectives.join(
                            collectives.newUniqueId(),
                            1,
                            Map.of(0, new HashSet<>(ranks.values()).iterator().next()));
                }
            }
        });
    }

    private static Mutant split(
            String rule,
            String what,
            BiFunction<
                            Map<Integer, Integer>,
                            Map<Integer, Integer>,
                            Map.Entry<Map<Integer, Integer>, Map<Integer, Integer>>>
                    change) {
        return Mutant.of(rule, what, () -> new Mutation() {
            @Override
            Map<Integer, CommunicatorDriver.Membership> split(
                    CommunicatorDriver communicator, Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
                Map.Entry<Map<Integer, Integer>, Map<Integer, Integer>> changed = change.apply(colors, keys);
                return super.split(communicator, changed.getKey(), changed.getValue());
            }
        });
    }

    /** Clears the first element of a view that should stay as it is. */
    private static final class Spoiling extends Mutation {
        private final Predicate<Command.Collective> which;
        private final Function<Command.Collective, BufferView> what;

        Spoiling(Predicate<Command.Collective> which, Function<Command.Collective, BufferView> what) {
            this.which = which;
            this.what = what;
        }

        @Override
        void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
            super.enqueue(communicator, group);
            if (!isWhole(group)) {
                return;
            }
            for (CollectiveDriver.Part part : group) {
                if (which.test(part.command())) {
                    part.stream()
                            .enqueue(new Command.Fill(what.apply(part.command()).columnRange(0, 1), 0));
                }
            }
        }
    }

    /** Runs gathers of one count on streams of their own, which lack one of the two joints with the callers'. */
    private static final class Aside extends Mutation {
        private final long count;
        private final boolean waits;
        private final boolean isWaitedFor;
        private final IdentityHashMap<StreamDriver, StreamDriver> aside = new IdentityHashMap<>();

        Aside(long count, boolean waits, boolean isWaitedFor) {
            this.count = count;
            this.waits = waits;
            this.isWaitedFor = isWaitedFor;
        }

        @Override
        void enqueue(CommunicatorDriver communicator, List<CollectiveDriver.Part> group) {
            if (!isWhole(group)
                    || !group.stream()
                            .allMatch(
                                    part -> of(CollectiveKind.ALL_GATHER, count).test(part.command()))) {
                super.enqueue(communicator, group);
                return;
            }
            List<CollectiveDriver.Part> others = new ArrayList<>();
            for (CollectiveDriver.Part part : group) {
                StreamDriver other = aside.computeIfAbsent(
                        part.stream(), key -> key.device().createStream(StreamOptions.defaults()));
                if (waits) {
                    join(part.stream(), other);
                }
                others.add(new CollectiveDriver.Part(part.command(), other));
            }
            super.enqueue(communicator, others);
            if (isWaitedFor) {
                for (int i = 0; i < others.size(); i++) {
                    join(others.get(i).stream(), group.get(i).stream());
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
            if (other != null) {
                other.synchronize();
            }
            super.synchronize(stream);
        }

        @Override
        void close(StreamDriver stream) {
            StreamDriver other = aside.remove(stream);
            if (other != null) {
                other.close();
            }
            super.close(stream);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.graph;

import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.CollectiveKind;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.MatrixLayout;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.graph.Slot;
import io.weft.conformance.reference.Codec;
import io.weft.conformance.reference.Collectives;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Draws random graphs that a platform must be able to run: every kind of command, odd shapes, pitches and offsets, several devices, lanes and priorities. Numbers stay small
 * and whole, so that every result is determined to the last bit; a command that would be rounded on the way is not taken. Not for several threads.
 */
final class RandomGraphs {
    private static final int MOST_DEVICES = 3;
    private static final int MOST_LANES = 3;
    private static final int MOST_UNITS = 14;
    private static final List<ElementType> TYPES = List.of(
            ElementType.FP32,
            ElementType.FP32,
            ElementType.FP16,
            ElementType.BF16,
            ElementType.INT32,
            ElementType.INT8,
            ElementType.FP8_E4M3);

    private final Platform platform;
    private final RandomGenerator random;
    private final long seed;
    private final int devices;
    private final Set<ElementType> products;
    private final List<Slot> slots = new ArrayList<>();
    private final List<ElementType> slotTypes = new ArrayList<>();
    private int keys;

    private RandomGraphs(Platform platform, RandomGenerator random, long seed) {
        this.platform = platform;
        this.random = random;
        this.seed = seed;
        this.devices =
                1 + random.nextInt(Math.min(MOST_DEVICES, platform.devices().size()));
        this.products = new HashSet<>(platform.device(0).properties().gemmTypes());
        platform.devices()
                .subList(0, devices)
                .forEach(device -> products.retainAll(device.properties().gemmTypes()));
    }

    /**
     * Draws one graph.
     *
     * @param seed of the slots' content
     */
    static GraphDraft next(Platform platform, RandomGenerator random, long seed) {
        return new RandomGraphs(platform, random, seed).draw();
    }

    private GraphDraft draw() {
        GraphDraft draft = new GraphDraft(devices, List.of(), List.of());
        int units = 1 + random.nextInt(MOST_UNITS);
        for (int unit = 0; unit < units; unit++) {
            List<GraphDraft.Node> more = unit(draft.nodes().size());
            List<GraphDraft.Node> all = new ArrayList<>(draft.nodes());
            all.addAll(more);
            GraphDraft longer = new GraphDraft(devices, slots, all);
            if (longer.inexact(seed).isEmpty()) {
                draft = longer;
            }
        }
        return draft.tight();
    }

    private List<GraphDraft.Node> unit(int before) {
        int choice = random.nextInt(100);
        if (choice < 15 && platform.has(Capability.COLLECTIVES)) {
            return collective(before);
        }
        int device = random.nextInt(devices);
        Command command;
        if (choice < 40) {
            command = copy(device);
        } else if (choice < 60) {
            command = strided(device);
        } else if (choice < 70) {
            command = fill(device);
        } else if (choice < 85 && !products.isEmpty()) {
            command = gemm(device);
        } else {
            command = reduce(device);
        }
        return List.of(node(device, command, before));
    }

    private GraphDraft.Node node(int device, Command command, int before) {
        Set<Integer> more = before > 0 && random.nextInt(6) == 0 ? Set.of(random.nextInt(before)) : Set.of();
        Priority priority = switch (random.nextInt(4)) {
            case 0 -> Priority.HIGH;
            case 1 -> Priority.LOW;
            default -> Priority.NORMAL;
        };
        return new GraphDraft.Node(device, random.nextInt(MOST_LANES), priority, command, more);
    }

    private ElementType type() {
        return TYPES.get(random.nextInt(TYPES.size()));
    }

    private CopyMethod method() {
        CopyMethod[] all = CopyMethod.values();
        return all[random.nextInt(all.length)];
    }

    /** A slot of a device and type with room for some elements, other than some; an old one where possible. */
    private Slot slot(int device, ElementType type, long elements, Set<Slot> except) {
        List<Slot> fitting = new ArrayList<>();
        for (Slot slot : slots) {
            if (slot.device() == device
                    && slotTypes.get(slot.index()) == type
                    && slot.bytes() >= elements * type.bytes()
                    && !except.contains(slot)) {
                fitting.add(slot);
            }
        }
        if (!fitting.isEmpty() && random.nextInt(4) > 0) {
            return fitting.get(random.nextInt(fitting.size()));
        }
        long size = Math.max(1, elements + random.nextInt(24)) * type.bytes();
        Slot made = new Slot(slots.size(), device, "s" + slots.size(), size, Slot.Role.OUTPUT);
        slots.add(made);
        slotTypes.add(type);
        return made;
    }

    /** Elements that a slot has. */
    private long elements(Slot slot) {
        return slot.bytes() / slotTypes.get(slot.index()).bytes();
    }

    private BufferView vector(Slot slot, long count) {
        ElementType type = slotTypes.get(slot.index());
        long offset = random.nextLong(elements(slot) - count + 1);
        return BufferView.vector(slot, offset * type.bytes(), count, type);
    }

    /** A matrix with a random pitch, in a slot with room for it. */
    private BufferView matrix(
            int device, ElementType type, long rows, long columns, MatrixLayout layout, Set<Slot> except) {
        long minor = layout == MatrixLayout.ROW_MAJOR ? columns : rows;
        long major = layout == MatrixLayout.ROW_MAJOR ? rows : columns;
        long pitch = minor + (random.nextBoolean() ? random.nextInt(5) : 0);
        Slot slot = slot(device, type, pitch * major, except);
        long offset = random.nextLong(elements(slot) - pitch * major + 1);
        return new BufferView(slot, offset * type.bytes(), rows, columns, pitch, layout, type);
    }

    private MatrixLayout layout() {
        return random.nextInt(4) == 0 ? MatrixLayout.COLUMN_MAJOR : MatrixLayout.ROW_MAJOR;
    }

    /** The other end of a copy of a device: itself or one that it can reach both ways. */
    private int partner(int device) {
        int other = random.nextInt(devices);
        boolean reachable = other == device
                || (platform.topology().link(device, other).copyable()
                        && platform.topology().link(other, device).copyable());
        return reachable ? other : device;
    }

    private Command copy(int device) {
        ElementType type = type();
        int count = random.nextInt(40);
        int other = partner(device);
        boolean pull = random.nextBoolean();
        Slot from = slot(pull ? other : device, type, count, Set.of());
        Slot to = slot(pull ? device : other, type, count, Set.of(from));
        return new Command.Copy(vector(to, count), vector(from, count), method());
    }

    private Command strided(int device) {
        ElementType type = type();
        long rows = 1L + random.nextInt(6);
        long columns = 1L + random.nextInt(9);
        MatrixLayout layout = layout();
        int other = partner(device);
        boolean pull = random.nextBoolean();
        BufferView from = matrix(pull ? other : device, type, rows, columns, layout, Set.of());
        BufferView to = matrix(pull ? device : other, type, rows, columns, layout, Set.of((Slot) from.memory()));
        return new Command.CopyStrided(to, from, method());
    }

    private Command fill(int device) {
        ElementType type = type();
        BufferView view = matrix(device, type, 1 + random.nextInt(4), 1 + random.nextInt(9), layout(), Set.of());
        return new Command.Fill(view, Codec.of(type).encode(1 + random.nextInt(5)));
    }

    private Command reduce(int device) {
        ElementType type = type();
        long rows = 1L + random.nextInt(4);
        long columns = 1L + random.nextInt(9);
        BufferView to = matrix(device, type, rows, columns, MatrixLayout.ROW_MAJOR, Set.of());
        int inputs = 1 + random.nextInt(4);
        List<BufferView> views = new ArrayList<>();
        for (int i = 0; i < inputs; i++) {
            views.add(
                    random.nextInt(5) == 0
                            ? to
                            : matrix(device, type, rows, columns, MatrixLayout.ROW_MAJOR, Set.of((Slot) to.memory())));
        }
        return new Command.Reduce(to, views, op(type, inputs));
    }

    private ReduceOp op(ElementType type, int inputs) {
        boolean exactAverage = !type.isFloating() || Integer.bitCount(inputs) == 1;
        return switch (random.nextInt(6)) {
            case 0 -> ReduceOp.MIN;
            case 1 -> ReduceOp.MAX;
            case 2 -> ReduceOp.PROD;
            case 3 -> exactAverage ? ReduceOp.AVG : ReduceOp.SUM;
            case 4 -> ReduceOp.scaledSum(random.nextBoolean() ? 2 : -1);
            default -> ReduceOp.SUM;
        };
    }

    private Command gemm(int device) {
        List<ElementType> types =
                products.stream().filter(TYPES::contains).sorted().toList();
        if (types.isEmpty()) {
            return fill(device);
        }
        ElementType type = types.get(random.nextInt(types.size()));
        ElementType target =
                type == ElementType.INT8 ? ElementType.INT32 : random.nextInt(3) == 0 ? ElementType.FP32 : type;
        long m = 1L + random.nextInt(7);
        long n = 1L + random.nextInt(7);
        long k = 1L + random.nextInt(7);
        boolean transposeA = random.nextInt(3) == 0;
        boolean transposeB = random.nextInt(3) == 0;
        BufferView c = matrix(device, target, m, n, layout(), Set.of());
        Set<Slot> except = Set.of((Slot) c.memory());
        BufferView a = matrix(device, type, transposeA ? k : m, transposeA ? m : k, layout(), except);
        BufferView b = matrix(device, type, transposeB ? n : k, transposeB ? k : n, layout(), except);
        float alpha = random.nextInt(3) == 0 ? 2 : random.nextInt(3) == 0 ? -1 : 1;
        float beta = random.nextInt(3);
        return new Command.Gemm(c, a, b, transposeA, transposeB, alpha, beta, 1, 0, 0, 0);
    }

    private List<GraphDraft.Node> collective(int before) {
        List<CollectiveKind> kinds = List.of(
                CollectiveKind.ALL_REDUCE,
                CollectiveKind.ALL_GATHER,
                CollectiveKind.REDUCE_SCATTER,
                CollectiveKind.BROADCAST,
                CollectiveKind.REDUCE,
                CollectiveKind.ALL_TO_ALL,
                CollectiveKind.GATHER,
                CollectiveKind.SCATTER,
                CollectiveKind.BARRIER,
                CollectiveKind.SEND);
        CollectiveKind kind = kinds.get(random.nextInt(kinds.size()));
        ElementType drawn = type();
        // A collective library may reduce the 8-bit floats of its chip alone, which are those that the chip multiplies.
        ElementType type = kind.reduces() && drawn.isFp8() && !products.contains(drawn) ? ElementType.BF16 : drawn;
        int count = random.nextInt(12);
        int root = random.nextInt(devices);
        ReduceOp op = kind.reduces() ? op(type, devices) : ReduceOp.SUM;
        int key = keys++;
        List<GraphDraft.Node> nodes = new ArrayList<>();
        if (kind == CollectiveKind.SEND) {
            if (devices == 1) {
                kind = CollectiveKind.BARRIER;
            } else {
                return transfer(type, count, root, key, before);
            }
        }
        for (int rank = 0; rank < devices; rank++) {
            boolean isRoot = rank == root;
            boolean sends = switch (kind) {
                case BARRIER -> false;
                case BROADCAST, SCATTER -> isRoot;
                default -> true;
            };
            boolean receives = switch (kind) {
                case BARRIER -> false;
                case REDUCE, GATHER -> isRoot;
                default -> true;
            };
            BufferView send = null;
            if (sends) {
                long elements = (long) count * Collectives.sendFactor(kind, devices);
                send = vector(slot(rank, type, elements, Set.of()), elements);
            }
            BufferView receive = null;
            if (receives) {
                long elements = (long) count * Collectives.receiveFactor(kind, devices);
                Set<Slot> except = send == null ? Set.of() : Set.of((Slot) send.memory());
                boolean inPlace = kind == CollectiveKind.ALL_REDUCE && random.nextInt(4) == 0;
                receive = inPlace ? send : vector(slot(rank, type, elements, except), elements);
            }
            int named = kind.rooted() ? root : 0;
            nodes.add(node(rank, part(kind, op, rank, devices, named, send, receive, key), before));
        }
        return nodes;
    }

    private List<GraphDraft.Node> transfer(ElementType type, int count, int from, int key, int before) {
        int to = (from + 1 + random.nextInt(devices - 1)) % devices;
        BufferView send = vector(slot(from, type, count, Set.of()), count);
        BufferView receive = vector(slot(to, type, count, Set.of()), count);
        return List.of(
                node(from, part(CollectiveKind.SEND, ReduceOp.SUM, from, devices, to, send, null, key), before),
                node(to, part(CollectiveKind.RECEIVE, ReduceOp.SUM, to, devices, from, null, receive, key), before));
    }

    private static Command part(
            CollectiveKind kind,
            ReduceOp op,
            int rank,
            int ranks,
            int root,
            BufferView send,
            BufferView receive,
            int key) {
        return new Command.Collective(kind, op, rank, ranks, root, send, receive, List.of(), List.of(), key);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.api.graph;

import io.weft.api.AcceleratorException;
import io.weft.api.Priority;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * The one form in which work passes between scheduler and hardware: commands, each with a device, a lane, a priority and its dependencies.
 *
 * <p>Rules. Nodes are numbered in issue order, and a node depends on lower numbers only, so a graph has no cycle. Nodes of one lane of one device run in
 * issue order, one after the other, like work on a stream; nodes of different lanes are ordered by dependencies alone. Devices are indices (ranks) that are
 * bound to real devices when the graph runs; operands are {@link Slot}s, bound to buffers likewise. The parts of one collective carry one key, at most one
 * part for each device.
 *
 * <p>Immutable and safe for any thread. Flat arrays keep it small: a schedule on 8 devices has about a thousand nodes.
 */
public final class CommandGraph {
    private final int deviceCount;
    private final List<Slot> slots;
    private final Command[] commands;
    private final int[] devices;
    private final int[] lanes;
    private final Priority[] priorities;
    private final int[] dependencyStart;
    private final int[] dependencies;
    private final String[] labels;
    private final int laneCount;

    private CommandGraph(Builder builder) {
        int size = builder.size;
        deviceCount = builder.deviceCount;
        slots = Collections.unmodifiableList(new ArrayList<>(builder.slots));
        commands = Arrays.copyOf(builder.commands, size);
        devices = Arrays.copyOf(builder.devices, size);
        lanes = Arrays.copyOf(builder.lanes, size);
        priorities = Arrays.copyOf(builder.priorities, size);
        dependencyStart = Arrays.copyOf(builder.dependencyStart, size + 1);
        dependencies = Arrays.copyOf(builder.dependencies, dependencyStart[size]);
        labels = Arrays.copyOf(builder.labels, size);
        laneCount = builder.laneCount;
    }

    /** Starts a graph over this many devices. */
    public static Builder builder(int deviceCount) {
        return new Builder(deviceCount);
    }

    /** Number of devices (ranks) it speaks of. */
    public int deviceCount() {
        return deviceCount;
    }

    /** One more than the highest lane used on any device; 0 for an empty graph. */
    public int laneCount() {
        return laneCount;
    }

    /** All slots, by index. */
    public List<Slot> slots() {
        return slots;
    }

    /** Number of nodes. */
    public int size() {
        return commands.length;
    }

    /** The command of a node. */
    public Command command(int node) {
        return commands[node];
    }

    /** The device (rank) of a node. */
    public int device(int node) {
        return devices[node];
    }

    /** The lane of a node on its device. */
    public int lane(int node) {
        return lanes[node];
    }

    /** The priority of a node. */
    public Priority priority(int node) {
        return priorities[node];
    }

    /** What the node does, for people, such as {@code gemm 3}. */
    public String label(int node) {
        return labels[node];
    }

    /** Number of explicit dependencies of a node; lane order comes on top. */
    public int dependencyCount(int node) {
        return dependencyStart[node + 1] - dependencyStart[node];
    }

    /** The i-th dependency of a node, a lower node number. */
    public int dependency(int node, int i) {
        return dependencies[dependencyStart[node] + i];
    }

    /** The dependencies of a node, as a fresh array. */
    public int[] dependencies(int node) {
        return Arrays.copyOfRange(dependencies, dependencyStart[node], dependencyStart[node + 1]);
    }

    /** A graph with the same slots and nodes in which one dependency is missing. For tests that prove a check can fail. */
    public CommandGraph withoutDependency(int node, int dependency) {
        Builder builder = builder(deviceCount);
        builder.slots.addAll(slots);
        boolean found = false;
        for (int i = 0; i < size(); i++) {
            int[] kept = dependencies(i);
            if (i == node) {
                int before = kept.length;
                kept = Arrays.stream(kept).filter(d -> d != dependency).toArray();
                found = kept.length < before;
            }
            builder.add(devices[i], lanes[i], priority(i), commands[i], labels[i], kept);
        }
        if (!found) {
            throw AcceleratorException.invalid("graph", "node " + node + " does not depend on node " + dependency);
        }
        return builder.build();
    }

    @Override
    public String toString() {
        return "CommandGraph[" + size() + " nodes, " + deviceCount + " devices, " + slots.size() + " slots]";
    }

    /** Builds a graph node by node, in issue order. Not for several threads at once. */
    public static final class Builder {
        private final int deviceCount;
        private final List<Slot> slots = new ArrayList<>();
        private Command[] commands = new Command[64];
        private int[] devices = new int[64];
        private int[] lanes = new int[64];
        private Priority[] priorities = new Priority[64];
        private String[] labels = new String[64];
        private int[] dependencyStart = new int[65];
        private int[] dependencies = new int[128];
        private int size;
        private int laneCount;

        private Builder(int deviceCount) {
            if (deviceCount < 1) {
                throw AcceleratorException.invalid("graph", "at least one device is needed, not " + deviceCount);
            }
            this.deviceCount = deviceCount;
        }

        /** Adds a slot owned by a device. */
        public Slot slot(int device, String name, long bytes, Slot.Role role) {
            checkDevice(device);
            if (bytes < 0) {
                throw AcceleratorException.invalid("graph", "slot " + name + " cannot have " + bytes + " bytes");
            }
            Slot slot = new Slot(slots.size(), device, name, bytes, role);
            slots.add(slot);
            return slot;
        }

        /**
         * Adds a node.
         *
         * @param device index of the device that runs it
         * @param lane lane on that device, 0 or more
         * @param priority hint
         * @param command what to do; all its memories must be slots of this graph
         * @param label for people
         * @param dependsOn lower node numbers; negative entries and repeats are ignored, so that a caller may pass "no node" as -1
         * @return the node's number
         */
        public int add(int device, int lane, Priority priority, Command command, String label, int... dependsOn) {
            checkDevice(device);
            if (lane < 0) {
                throw AcceleratorException.invalid("graph", "lane " + lane + " must not be negative");
            }
            checkSlots(command);
            grow(dependsOn.length);
            int node = size;
            int at = dependencyStart[node];
            for (int dependency : dependsOn) {
                if (dependency >= node) {
                    throw AcceleratorException.invalid(
                            "graph", "node " + node + " cannot depend on node " + dependency + ", which comes later");
                }
                if (dependency >= 0 && !contains(dependencyStart[node], at, dependency)) {
                    dependencies[at++] = dependency;
                }
            }
            commands[node] = Objects.requireNonNull(command);
            devices[node] = device;
            lanes[node] = lane;
            priorities[node] = Objects.requireNonNull(priority);
            labels[node] = Objects.requireNonNull(label);
            size++;
            dependencyStart[size] = at;
            laneCount = Math.max(laneCount, lane + 1);
            return node;
        }

        /** Number of nodes so far. */
        public int size() {
            return size;
        }

        /** The finished graph; the builder may go on. */
        public CommandGraph build() {
            return new CommandGraph(this);
        }

        private boolean contains(int from, int to, int dependency) {
            for (int i = from; i < to; i++) {
                if (dependencies[i] == dependency) {
                    return true;
                }
            }
            return false;
        }

        private void checkDevice(int device) {
            if (device < 0 || device >= deviceCount) {
                throw AcceleratorException.invalid(
                        "graph", "device " + device + " must lie in 0.." + (deviceCount - 1));
            }
        }

        private void checkSlots(Command command) {
            switch (command) {
                case Command.Copy c -> {
                    checkSlot(c.destination());
                    checkSlot(c.source());
                }
                case Command.Gemm g -> {
                    checkSlot(g.a());
                    checkSlot(g.b());
                    checkSlot(g.c());
                }
                default -> {
                    command.reads().forEach(this::checkSlot);
                    command.writes().forEach(this::checkSlot);
                }
            }
        }

        private void checkSlot(io.weft.api.BufferView view) {
            if (!(view.memory() instanceof Slot slot)
                    || slot.index() >= slots.size()
                    || !slots.get(slot.index()).equals(slot)) {
                throw AcceleratorException.invalid("graph", "a command's operand is not a slot of this graph");
            }
        }

        private void grow(int extraDependencies) {
            if (size == commands.length) {
                int capacity = size * 2;
                commands = Arrays.copyOf(commands, capacity);
                devices = Arrays.copyOf(devices, capacity);
                lanes = Arrays.copyOf(lanes, capacity);
                priorities = Arrays.copyOf(priorities, capacity);
                labels = Arrays.copyOf(labels, capacity);
                dependencyStart = Arrays.copyOf(dependencyStart, capacity + 1);
            }
            int needed = dependencyStart[size] + extraDependencies;
            if (needed > dependencies.length) {
                dependencies = Arrays.copyOf(dependencies, Math.max(needed, dependencies.length * 2));
            }
        }
    }
}

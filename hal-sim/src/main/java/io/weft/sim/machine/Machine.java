// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.DeviceProperties;
import io.weft.api.topology.Link;
import io.weft.api.topology.LinkKind;
import io.weft.api.topology.Topology;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A machine: devices, the links between them, and the collective library's choices. Immutable and safe for any thread.
 *
 * <p>Vertices are numbered: devices by ordinal from 0, then switches. A directed link is numbered {@code 2 * link} for the way from its {@code from} to its
 * {@code to}, and one more for the way back.
 */
public final class Machine {
    /** Most devices of a machine. */
    public static final int MAX_DEVICES = 65_536;

    /** Most devices for which the full matrix of paths is made. */
    public static final int MAX_TOPOLOGY_DEVICES = 4_096;

    private final String name;
    private final String description;
    private final String vendor;
    private final List<DeviceModel> devices;
    private final List<String> switches;
    private final List<LinkModel> links;
    private final Map<CollectiveKind, CollectiveModel> collectives;
    private final List<CollectiveModel> collectiveModels;
    private final double forwardingEfficiency;
    private final double forwardingDuplexEfficiency;
    private final List<int[]> fixedRoutes;
    private final CopyRules copyRules;
    private final List<int[]> rings;
    private final Router router;
    private final Route[][] routes;
    private final int nodes;

    private Machine(Builder builder) {
        name = builder.name;
        description = builder.description;
        vendor = builder.vendor;
        devices = List.copyOf(builder.devices);
        switches = List.copyOf(builder.switches);
        links = List.copyOf(builder.links);
        forwardingEfficiency = builder.forwardingEfficiency;
        collectiveModels = List.copyOf(builder.collectives);
        collectives = new EnumMap<>(CollectiveKind.class);
        for (CollectiveKind kind : CollectiveKind.values()) {
            collectives.put(kind, choose(builder.collectives, kind));
        }
        forwardingDuplexEfficiency = builder.forwardingDuplexEfficiency;
        fixedRoutes = List.copyOf(builder.fixedRoutes);
        copyRules = builder.copyRules;
        rings = List.copyOf(builder.rings);
        router = new Router(
                devices.size(),
                devices.size() + switches.size(),
                links,
                forwardingEfficiency,
                forwardingDuplexEfficiency,
                fixedRoutes);
        routes = new Route[devices.size()][];
        Set<Integer> servers = new HashSet<>();
        devices.forEach(device -> servers.add(device.node()));
        nodes = servers.size();
    }

    private static CollectiveModel choose(List<CollectiveModel> models, CollectiveKind kind) {
        CollectiveModel general = null;
        for (CollectiveModel model : models) {
            if (model.kinds().contains(kind)) {
                return model;
            }
            if (model.kinds().isEmpty()) {
                general = model;
            }
        }
        if (general == null) {
            throw AcceleratorException.invalid(
                    "machine",
                    "no entry of 'collectives' serves " + kind + "; one without 'operations' serves all others");
        }
        return general;
    }

    /** Starts a machine. */
    public static Builder builder(String name) {
        return new Builder(name);
    }

    /**
     * Starts a machine that is like this one, apart from devices and collectives, which the caller gives.
     *
     * @param devices as many as this one has
     * @param models the collective library's choices
     */
    public Builder with(List<DeviceModel> devices, List<CollectiveModel> models) {
        if (devices.size() != deviceCount()) {
            throw AcceleratorException.invalid(
                    "machine", devices.size() + " devices cannot take the places of " + deviceCount());
        }
        Builder builder = new Builder(name)
                .description(description)
                .vendor(vendor)
                .forwardingEfficiency(forwardingEfficiency)
                .forwardingDuplexEfficiency(forwardingDuplexEfficiency)
                .copyRules(copyRules);
        devices.forEach(builder::device);
        switches.forEach(builder::switchNode);
        links.forEach(builder::link);
        fixedRoutes.forEach(builder::route);
        rings.forEach(builder::ring);
        models.forEach(builder::collective);
        return builder;
    }

    /** Its name, such as {@code mesh-8}. */
    public String name() {
        return name;
    }

    /** One sentence about it. */
    public String description() {
        return description;
    }

    /** Who makes it, as the document says; empty when it is nobody's. */
    public String vendor() {
        return vendor;
    }

    /** Number of devices. */
    public int deviceCount() {
        return devices.size();
    }

    /** A device. */
    public DeviceModel device(int ordinal) {
        return devices.get(ordinal);
    }

    /** All devices by ordinal. */
    public List<DeviceModel> devices() {
        return devices;
    }

    /** Names of the switches; switch i is vertex {@code deviceCount() + i}. */
    public List<String> switches() {
        return switches;
    }

    /** All links. */
    public List<LinkModel> links() {
        return links;
    }

    /** Number of servers. */
    public int nodes() {
        return nodes;
    }

    /** Share of a path's bandwidth that is left when it leads through other devices. */
    public double forwardingEfficiency() {
        return forwardingEfficiency;
    }

    /** The collective library's choices, as they were given. */
    public List<CollectiveModel> collectiveModels() {
        return collectiveModels;
    }

    /** Share of what both directions of a link reach together that is left to data that are forwarded by other devices. */
    public double forwardingDuplexEfficiency() {
        return forwardingDuplexEfficiency;
    }

    /** Paths that the hardware's tables prescribe, each as its devices from source to destination; every one stands here in both directions. */
    public List<List<Integer>> fixedRoutes() {
        return fixedRoutes.stream()
                .map(path -> java.util.Arrays.stream(path).boxed().toList())
                .toList();
    }

    /** Number of rings that the collective library has laid; 0 when it takes strides instead: ring c then joins each rank with the one c + 1 places on. */
    public int rings() {
        return rings.size();
    }

    /** The device at a place of a ring. */
    public int ringDevice(int ring, int place) {
        return rings.get(ring)[place];
    }

    /** Who carries copies out. */
    public CopyRules copyRules() {
        return copyRules;
    }

    /** What the collective library does for an operation. */
    public CollectiveModel collective(CollectiveKind kind) {
        return collectives.get(kind);
    }

    /** Bytes/s of payload over a directed link. */
    public double linkCapacity(int directed) {
        return router.capacity(directed);
    }

    /** The vertex from which a directed link leads. */
    public int linkSource(int directed) {
        return router.source(directed);
    }

    /** The vertex to which a directed link leads. */
    public int linkTarget(int directed) {
        return router.target(directed);
    }

    /** The name of a vertex, for people: {@code 3} for device 3, or the switch's name. */
    public String vertexName(int vertex) {
        return vertex < devices.size() ? Integer.toString(vertex) : switches.get(vertex - devices.size());
    }

    /** The path from one device to another; of kind SELF to itself. */
    public Route route(int from, int to) {
        Route[] row = routes[from];
        if (row == null) {
            row = new Route[devices.size()];
            routes[from] = row;
        }
        Route route = row[to];
        if (route == null) {
            route = router.route(from, to);
            row[to] = route;
        }
        return route;
    }

    /**
     * The matrix of paths in the API's terms.
     *
     * @throws AcceleratorException UNSUPPORTED beyond {@value #MAX_TOPOLOGY_DEVICES} devices
     */
    public Topology topology() {
        int n = devices.size();
        if (n > MAX_TOPOLOGY_DEVICES) {
            throw new AcceleratorException(
                    io.weft.api.ErrorCode.UNSUPPORTED,
                    "topology",
                    "the matrix of paths is made for at most " + MAX_TOPOLOGY_DEVICES + " devices, and " + name
                            + " has " + n);
        }
        List<Link> matrix = new ArrayList<>(n * n);
        for (int from = 0; from < n; from++) {
            for (int to = 0; to < n; to++) {
                matrix.add(apiLink(from, to));
            }
        }
        return new Topology(
                n, matrix, devices.stream().mapToInt(DeviceModel::numaNode).toArray());
    }

    private Link apiLink(int from, int to) {
        if (from == to) {
            double local = devices.get(from).memory().reachableBandwidth() / 2 / 1e9;
            return new Link(from, to, LinkKind.SELF, "memory", local, 0, 0, 1, true, true);
        }
        Route route = route(from, to);
        return new Link(
                from,
                to,
                route.kind(),
                route.name(),
                route.bandwidth() / 1e9,
                route.latencyNanos(),
                route.hops(),
                route.width(),
                route.copyable(),
                route.addressable());
    }

    /** What a device is, in the API's terms. */
    public DeviceProperties properties(int ordinal) {
        DeviceModel device = devices.get(ordinal);
        Map<String, String> extra = new LinkedHashMap<>(device.extra());
        extra.put("clock", device.clockGhz() + " GHz");
        extra.put("fp8", device.fp8().name().toLowerCase(java.util.Locale.ROOT));
        extra.put("server", Integer.toString(device.node()));
        return new DeviceProperties(
                ordinal,
                device.name(),
                device.architecture(),
                device.computeUnits(),
                device.memory().bytes(),
                device.memory().bandwidth(),
                device.gemm().peakFlops(),
                device.gemm().peakFlops().keySet(),
                device.copyEngines().count(),
                device.kernels().hardwareQueues(),
                device.kernels().priorities(),
                device.memory().allocationAlignment(),
                device.busId(),
                device.numaNode(),
                extra);
    }

    @Override
    public String toString() {
        return "Machine[" + name + ", " + devices.size() + " devices, " + links.size() + " links]";
    }

    /** Puts a machine together. Numbers are checked where a machine cannot work without; documents are checked more closely by their reader. */
    public static final class Builder {
        private final String name;
        private final List<DeviceModel> devices = new ArrayList<>();
        private final List<String> switches = new ArrayList<>();
        private final List<LinkModel> links = new ArrayList<>();
        private final Set<Joined> joined = new HashSet<>();
        private final List<CollectiveModel> collectives = new ArrayList<>();
        private String description = "";
        private String vendor = "";
        private double forwardingEfficiency = 1;
        private double forwardingDuplexEfficiency = 1;
        private final List<int[]> fixedRoutes = new ArrayList<>();
        private CopyRules copyRules = new DocumentCopyRules();
        private final List<int[]> rings = new ArrayList<>();

        private record Joined(int low, int high, LinkKind kind) {}

        private Builder(String name) {
            this.name = name;
        }

        /** One sentence about it. */
        public Builder description(String text) {
            description = text;
            return this;
        }

        /** Who makes it. */
        public Builder vendor(String text) {
            vendor = text;
            return this;
        }

        /** Share of a path's bandwidth that is left when it leads through other devices; 1 by default. */
        public Builder forwardingEfficiency(double share) {
            forwardingEfficiency = share;
            return this;
        }

        /** Share of what both directions of a link reach together that is left to data that are forwarded by other devices; 1 by default. */
        public Builder forwardingDuplexEfficiency(double share) {
            forwardingDuplexEfficiency = share;
            return this;
        }

        /**
         * Prescribes the path between two devices, in both directions, where the hardware does not take the one with the fewest hops. Comes after the links.
         *
         * @param path devices from one end to the other, each joined with the next
         */
        public Builder route(int... path) {
            if (path.length < 2
                    || Set.copyOf(java.util.Arrays.stream(path).boxed().toList())
                                    .size()
                            < path.length) {
                throw AcceleratorException.invalid("machine", "a route needs two or more different devices");
            }
            for (int i = 0; i + 1 < path.length; i++) {
                int low = Math.min(path[i], path[i + 1]);
                int high = Math.max(path[i], path[i + 1]);
                if (joined.stream().noneMatch(pair -> pair.low == low && pair.high == high)) {
                    throw AcceleratorException.invalid(
                            "machine",
                            "a route leads from " + path[i] + " to " + path[i + 1] + ", which no link joins");
                }
            }
            if (fixedRoutes.stream().anyMatch(known -> java.util.Arrays.equals(known, path))) {
                return this;
            }
            int[] back = new int[path.length];
            for (int i = 0; i < path.length; i++) {
                back[i] = path[path.length - 1 - i];
            }
            fixedRoutes.add(path.clone());
            fixedRoutes.add(back);
            return this;
        }

        /**
         * Adds a device; all devices come before the first switch.
         *
         * @return its ordinal
         */
        public int device(DeviceModel device) {
            if (!switches.isEmpty()) {
                throw AcceleratorException.invalid("machine", "devices must be added before switches");
            }
            if (devices.size() == MAX_DEVICES) {
                throw AcceleratorException.invalid("machine", "a machine has at most " + MAX_DEVICES + " devices");
            }
            long alignment = device.memory().allocationAlignment();
            if (alignment < 128 || Long.bitCount(alignment) != 1) {
                throw AcceleratorException.invalid(
                        "machine", "the allocation alignment must be a power of two of at least 128, not " + alignment);
            }
            devices.add(device);
            return devices.size() - 1;
        }

        /**
         * Adds a switch.
         *
         * @return its vertex number
         */
        public int switchNode(String switchName) {
            if (switches.contains(switchName)) {
                throw AcceleratorException.invalid("machine", "there are two switches named '" + switchName + "'");
            }
            switches.add(switchName);
            return devices.size() + switches.size() - 1;
        }

        /** Number of devices so far. */
        public int deviceCount() {
            return devices.size();
        }

        /** Adds a link. Its ends must differ, exist, and not be joined by a link of the same kind already (use its width). */
        public Builder link(LinkModel link) {
            int vertices = devices.size() + switches.size();
            for (int end : new int[] {link.from(), link.to()}) {
                if (end < 0 || end >= vertices) {
                    throw AcceleratorException.invalid(
                            "machine",
                            "a link ends at " + end + "; there are devices 0.." + (devices.size() - 1) + " and "
                                    + switches.size() + " switches");
                }
            }
            if (link.from() == link.to()) {
                throw AcceleratorException.invalid("machine", "a link joins vertex " + link.from() + " with itself");
            }
            int low = Math.min(link.from(), link.to());
            int high = Math.max(link.from(), link.to());
            if (!joined.add(new Joined(low, high, link.kind()))) {
                throw AcceleratorException.invalid(
                        "machine",
                        "two " + link.kind() + " links join " + vertex(link.from()) + " and " + vertex(link.to())
                                + "; parallel links are one link with a width");
            }
            links.add(link);
            return this;
        }

        private String vertex(int v) {
            return v < devices.size() ? "device " + v : "switch " + switches.get(v - devices.size());
        }

        /** Sets who carries copies out; by default what documents say. A document that is written of the machine does not hold them. */
        public Builder copyRules(CopyRules rules) {
            copyRules = java.util.Objects.requireNonNull(rules);
            return this;
        }

        /**
         * Lays a ring that ring algorithms follow in place of strides, one channel for each ring; comes after the devices. Members of a smaller communicator
         * keep the ring's order. A document that is written of the machine does not hold it.
         *
         * @param order every device once
         */
        public Builder ring(int... order) {
            if (order.length != devices.size()
                    || java.util.Arrays.stream(order)
                                    .filter(device -> device >= 0 && device < devices.size())
                                    .distinct()
                                    .count()
                            != order.length) {
                throw AcceleratorException.invalid(
                        "machine", "a ring must lead through each of the " + devices.size() + " devices once");
            }
            rings.add(order.clone());
            return this;
        }

        /** Adds the collective library's choices for some operations. */
        public Builder collective(CollectiveModel model) {
            collectives.add(model);
            return this;
        }

        /** The finished machine. */
        public Machine build() {
            if (devices.isEmpty()) {
                throw AcceleratorException.invalid("machine", "a machine needs at least one device");
            }
            Machine machine = new Machine(this);
            int lost = machine.router.unreachable();
            if (lost >= 0) {
                throw AcceleratorException.invalid("machine", "no path of links leads from device 0 to device " + lost);
            }
            return machine;
        }
    }
}

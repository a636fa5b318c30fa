// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Priority;
import io.weft.api.graph.Command;
import io.weft.api.topology.LinkKind;
import io.weft.sim.engine.ActivitySpec;
import io.weft.sim.engine.VirtualTime;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.KernelModel;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.Route;
import java.util.List;

/**
 * What a command takes: who carries it out, how much it moves over which resource, and the fixed times around it.
 *
 * <p><b>Shares.</b> Work is bytes. An activity's share weight is its rate when alone, times its priority's weight; so activities of equal priority that meet on a full
 * resource all slow down by the same factor, whatever they are (a GEMM that wants 1 TB/s of memory and a copy that wants 50 GB/s), which is what
 * memory controllers and dispatchers do. Priorities weigh {@value #LOW}, {@value #NORMAL} and {@value #HIGH}. A copy by engine weighs {@value #ENGINE} whatever
 * its priority: engines know none, and a memory controller that is fair to its clients serves the few requests of an engine in full before the many of a
 * kernel.
 *
 * <p>One object for each runtime; not for several threads at once. Results stand in its fields until the next call, so that nothing is allocated.
 */
final class CommandCosts {
    /** Who carries a command out. */
    enum Carrier {
        /** Nothing to do: it moves no byte. */
        NOTHING,
        /** A kernel: a hardware queue and compute units. */
        KERNEL,
        /** A copy engine. */
        ENGINE
    }

    static final int LOW = 1;
    static final int NORMAL = 4;
    static final int HIGH = 16;
    static final int ENGINE = 32;

    private static final int PLANS = 512;
    private static final double SECONDS_PER_NANO = 1e-9;

    private final Machine machine;
    private final MachineResources resources;
    private final MemoryPlaces places;
    private final GemmPlan[] plans = new GemmPlan[PLANS];
    private final ElementType[] planTypes = new ElementType[PLANS];
    private final long[] planKeys = new long[PLANS * 4];

    // What the last call of fill found.
    long latencyPs;
    long tailPs;
    double aloneRate;
    double work;
    /** Share weight. */
    double weight;

    /** Compute units held when alone. */
    double units;

    private double rateCap;

    CommandCosts(Machine machine, MachineResources resources, MemoryPlaces places) {
        this.machine = machine;
        this.resources = resources;
        this.places = places;
    }

    int place(BufferView view) {
        int place = places.place(view.memory());
        if (place < MemoryPlaces.HOST || place >= machine.deviceCount()) {
            throw new AcceleratorException(
                    ErrorCode.WRONG_DEVICE,
                    "simulate",
                    "an operand lives on device " + place + " of a machine with " + machine.deviceCount() + " devices");
        }
        return place;
    }

    /** Refuses what a device cannot do before it is queued: an element type that it does not multiply, or memory that nothing can reach. */
    void requireSupported(Command command, int device) {
        if (command instanceof Command.Gemm g) {
            DeviceModel model = machine.device(device);
            ElementType type = g.a().type();
            if (!model.multiplies(type)) {
                throw new AcceleratorException(
                        ErrorCode.UNSUPPORTED,
                        "gemm",
                        "device " + device + " (" + model.name() + ") does not multiply " + type + "; it multiplies "
                                + model.gemm().peakFlops().keySet().stream()
                                        .sorted()
                                        .toList());
            }
        }
    }

    /** Who carries a command out. Collectives are kernels. */
    Carrier carrier(Command command, int device) {
        return switch (command) {
            case Command.Copy c -> copyCarrier(c.destination(), c.source(), c.method(), device);
            case Command.CopyStrided c -> copyCarrier(c.destination(), c.source(), c.method(), device);
            case Command.Gemm g -> g.c().isEmpty() ? Carrier.NOTHING : Carrier.KERNEL;
            case Command.Fill f -> f.destination().isEmpty() ? Carrier.NOTHING : Carrier.KERNEL;
            case Command.Reduce r -> r.destination().isEmpty() ? Carrier.NOTHING : Carrier.KERNEL;
            case Command.Collective c -> Carrier.KERNEL;
        };
    }

    private Carrier copyCarrier(BufferView destination, BufferView source, CopyMethod method, int device) {
        if (source.isEmpty()) {
            return Carrier.NOTHING;
        }
        int from = place(source);
        int to = place(destination);
        boolean network =
                from != to && from >= 0 && to >= 0 && machine.route(from, to).kind() == LinkKind.NETWORK;
        if (network) {
            return Carrier.ENGINE; // the network card reads and writes by itself
        }
        if (machine.device(device).copyEngines().count() == 0) {
            return Carrier.KERNEL;
        }
        return machine.copyRules().byEngine(machine, device, from, to, source.bytes(), method)
                ? Carrier.ENGINE
                : Carrier.KERNEL;
    }

    /** The server of the engine that a device uses for a copy. */
    int engineServer(Command command, int device) {
        BufferView destination =
                command instanceof Command.Copy c ? c.destination() : ((Command.CopyStrided) command).destination();
        BufferView source = command instanceof Command.Copy c ? c.source() : ((Command.CopyStrided) command).source();
        int from = place(source);
        int to = place(destination);
        if (from >= 0 && to >= 0 && from != to && machine.route(from, to).kind() == LinkKind.NETWORK) {
            return resources.networkServer(device);
        }
        return resources.engineServer(device, machine.copyRules().engine(machine, device, from, to));
    }

    int weight(Priority priority, int device) {
        int known = machine.device(device).kernels().priorities();
        return switch (priority) {
            case HIGH -> known >= 2 ? HIGH : NORMAL;
            case LOW -> known >= 3 ? LOW : NORMAL;
            case NORMAL -> NORMAL;
        };
    }

    /**
     * Fills a form with what a command other than a collective takes, its latency and tail apart, which stand in {@link #latencyPs} and {@link #tailPs}.
     */
    void fill(ActivitySpec spec, Command command, int device, Priority priority, Carrier carrier) {
        spec.clear();
        tailPs = 0;
        units = 0;
        rateCap = Double.POSITIVE_INFINITY;
        DeviceModel model = machine.device(device);
        latencyPs = VirtualTime.fromNs(
                carrier == Carrier.ENGINE
                        ? model.copyEngines().setupNanos()
                        : model.kernels().startNanos());
        switch (command) {
            case Command.Copy c ->
                copy(spec, device, c.destination(), c.source(), 1, c.source().bytes(), carrier);
            case Command.CopyStrided c -> strided(spec, device, c, carrier);
            case Command.Gemm g -> gemm(spec, device, g);
            case Command.Fill f -> {
                work = f.destination().bytes();
                access(spec, device, f.destination(), 1, true);
                elementwise(model.kernels(), work);
            }
            case Command.Reduce r -> reduce(spec, device, r);
            case Command.Collective c -> throw new IllegalArgumentException("a collective is planned as a whole");
        }
        spec.work(work);
        aloneRate = rateCap;
        for (int i = 0; i < spec.uses(); i++) {
            aloneRate = Math.min(aloneRate, resources.capacity(spec.resource(i)) / spec.amount(i));
        }
        if (units > 0) {
            spec.use(resources.compute(device), units / aloneRate);
        }
        spec.rateCap(aloneRate);
        weight = aloneRate * (carrier == Carrier.ENGINE ? ENGINE : weight(priority, device));
        spec.weight(weight);
    }

    /** ps that a command other than a collective takes alone, from its start to its end. */
    long alonePs(ActivitySpec spec, Command command, int device, Priority priority) {
        Carrier carrier = carrier(command, device);
        if (carrier == Carrier.NOTHING) {
            return 0;
        }
        fill(spec, command, device, priority, carrier);
        return latencyPs + (long) Math.rint(work / aloneRate * VirtualTime.PS_PER_S) + tailPs;
    }

    private void strided(ActivitySpec spec, int device, Command.CopyStrided c, Carrier carrier) {
        BufferView source = c.source();
        if (source.isContiguous() && c.destination().isContiguous()) {
            copy(spec, device, c.destination(), source, 1, source.bytes(), carrier);
            return;
        }
        boolean rowMajor = source.layout() == io.weft.api.MatrixLayout.ROW_MAJOR;
        double row = (double) (rowMajor ? source.columns() : source.rows())
                * source.type().bytes();
        DeviceModel model = machine.device(device);
        double lost = carrier == Carrier.ENGINE
                ? model.copyEngines().rowOverheadBytes()
                : model.kernels().rowOverheadBytes();
        copy(spec, device, c.destination(), source, row / (row + lost), source.bytes(), carrier);
    }

    private void copy(
            ActivitySpec spec,
            int device,
            BufferView destination,
            BufferView source,
            double efficiency,
            long bytes,
            Carrier carrier) {
        int from = place(source);
        int to = place(destination);
        DeviceModel model = machine.device(device);
        work = (double) bytes;
        transfer(spec, from, to, 1);
        if (carrier == Carrier.ENGINE) {
            boolean network = from >= 0
                    && to >= 0
                    && from != to
                    && machine.route(from, to).kind() == LinkKind.NETWORK;
            if (!network) {
                rateCap = Math.min(rateCap, machine.copyRules().bandwidth(machine, device, from, to));
                work = machine.copyRules().moved(source.offset(), destination.offset(), bytes);
            }
        } else if (from == to) {
            elementwise(model.kernels(), 2 * work);
            rateCap /= 2; // each byte is traffic twice
        } else {
            units = model.kernels().peerCopyUnits();
            rateCap = Math.min(rateCap, units * model.kernels().bandwidthPerUnit());
        }
        rateCap *= efficiency;
        if (efficiency < 1) {
            double reachable = rateCap;
            for (int i = 0; i < spec.uses(); i++) {
                reachable = Math.min(reachable, resources.capacity(spec.resource(i)) / spec.amount(i) * efficiency);
            }
            rateCap = reachable;
        }
    }

    /** Memory at both ends and everything between. */
    private void transfer(ActivitySpec spec, int from, int to, double amount) {
        if (from >= 0) {
            spec.use(resources.memory(from), amount);
        }
        if (to >= 0) {
            spec.use(resources.memory(to), amount);
        }
        if (from == to) {
            return;
        }
        if (from == MemoryPlaces.HOST) {
            spec.use(resources.fromHost(to), amount);
            tailPs = VirtualTime.fromNs(machine.device(to).hostLink().latencyNanos());
        } else if (to == MemoryPlaces.HOST) {
            spec.use(resources.toHost(from), amount);
            tailPs = VirtualTime.fromNs(machine.device(from).hostLink().latencyNanos());
        } else {
            overRoute(spec, machine.route(from, to), amount);
        }
    }

    private void overRoute(ActivitySpec spec, Route route, double amount) {
        if (!route.copyable()) {
            throw new AcceleratorException(
                    ErrorCode.PEER_ACCESS,
                    "simulate",
                    "no path for copies leads from device " + route.from() + " to device " + route.to());
        }
        for (int i = 0; i < route.length(); i++) {
            spec.use(resources.link(route.link(i)), amount);
            int duplex = resources.duplex(route.link(i));
            if (duplex >= 0) {
                spec.use(duplex, amount * route.duplexWeight());
            }
        }
        rateCap = Math.min(rateCap, route.bandwidth() / amount);
        tailPs = Math.max(tailPs, VirtualTime.fromNs(route.latencyNanos()));
    }

    /** A kernel's access to a view, {@code amount} bytes for each unit of work. */
    private void access(ActivitySpec spec, int device, BufferView view, double amount, boolean writes) {
        int place = place(view);
        if (place == device) {
            spec.use(resources.memory(device), amount);
            return;
        }
        if (place >= 0) {
            Route route = writes ? machine.route(device, place) : machine.route(place, device);
            if (!route.addressable()) {
                throw new AcceleratorException(
                        ErrorCode.PEER_ACCESS,
                        "simulate",
                        "a kernel of device " + device + " cannot address the memory of device " + place);
            }
            spec.use(resources.memory(place), amount);
            overRoute(spec, route, amount);
        } else {
            spec.use(writes ? resources.toHost(device) : resources.fromHost(device), amount);
        }
    }

    private void reduce(ActivitySpec spec, int device, Command.Reduce r) {
        BufferView destination = r.destination();
        double bytes = destination.bytes();
        work = bytes;
        List<BufferView> inputs = r.inputs();
        boolean oneByOne = !destination.isContiguous();
        double traffic = 1; // bytes for each byte of the result
        for (int i = 0; i < inputs.size(); i++) {
            BufferView input = inputs.get(i);
            double amount = input.bytes() / bytes;
            access(spec, device, input, amount, false);
            traffic += amount;
            oneByOne |= !input.isContiguous() || input.type() != destination.type();
        }
        access(spec, device, destination, 1, true);
        KernelModel kernels = machine.device(device).kernels();
        double before = rateCap;
        rateCap = Double.POSITIVE_INFINITY;
        elementwise(kernels, traffic * bytes);
        rateCap = Math.min(before, rateCap / traffic);
        if (oneByOne && kernels.elementNanos() > 0) {
            units = kernels.maxUnits(); // a thread for each element fills a device soon
            double elements = (inputs.size() + 1.0) / destination.type().bytes(); // for each byte of the result
            rateCap = Math.min(rateCap, units / (elements * kernels.elementNanos() * SECONDS_PER_NANO));
        }
    }

    /** Compute units of a kernel that does little but move data, and the traffic that they can drive. */
    private void elementwise(KernelModel kernels, double traffic) {
        units = Math.clamp(Math.ceil(traffic / kernels.bytesPerUnit()), 1, kernels.maxUnits());
        rateCap = Math.min(rateCap, units * kernels.bandwidthPerUnit());
    }

    private void gemm(ActivitySpec spec, int device, Command.Gemm g) {
        DeviceModel model = machine.device(device);
        ElementType type = g.a().type();
        GemmPlan plan = plan(model, device, type, g);
        work = plan.bytes();
        access(spec, device, g.a(), plan.readA() / work, false);
        access(spec, device, g.b(), plan.readB() / work, false);
        access(spec, device, g.c(), plan.trafficC() / work, true);
        units = plan.units();
        rateCap = Math.min(rateCap, work / plan.waveSeconds());
    }

    private GemmPlan plan(DeviceModel model, int device, ElementType type, Command.Gemm g) {
        long m = g.m();
        long n = g.n();
        long k = g.k();
        int bytesC = g.c().type().bytes();
        long rest = ((long) g.batch() << 24) | ((long) device << 4) | (bytesC << 1) | (g.beta() == 0 ? 0 : 1);
        long mixed = (m * 0x9E3779B97F4A7C15L ^ n) * 0xC2B2AE3D27D4EB4FL ^ k * 0x165667B19E3779F9L ^ rest;
        int hash = Long.hashCode(mixed * 0x27D4EB2F165667C5L);
        int at = (hash ^ hash >>> 16) & (PLANS - 1);
        GemmPlan plan = plans[at];
        int key = at * 4;
        if (plan == null
                || planTypes[at] != type
                || planKeys[key] != m
                || planKeys[key + 1] != n
                || planKeys[key + 2] != k
                || planKeys[key + 3] != rest) {
            plan = GemmPlan.choose(model, type, bytesC, m, n, k, g.batch(), g.beta() != 0);
            plans[at] = plan;
            planTypes[at] = type;
            planKeys[key] = m;
            planKeys[key + 1] = n;
            planKeys[key + 2] = k;
            planKeys[key + 3] = rest;
        }
        return plan;
    }
}

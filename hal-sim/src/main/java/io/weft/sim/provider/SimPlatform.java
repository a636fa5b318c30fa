// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.Capability;
import io.weft.api.ErrorCode;
import io.weft.api.Figures;
import io.weft.api.PlatformProperties;
import io.weft.api.PlatformUri;
import io.weft.api.topology.Link;
import io.weft.api.topology.Topology;
import io.weft.sim.calibrate.MachineFitter;
import io.weft.sim.compute.ComputePool;
import io.weft.sim.execute.Effects;
import io.weft.sim.machine.Machine;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.FaultDriver;
import io.weft.spi.GraphDriver;
import io.weft.spi.ModelFitter;
import io.weft.spi.PerformanceModel;
import io.weft.spi.PlatformDriver;
import io.weft.spi.SymmetricMemoryDriver;
import io.weft.spi.VirtualMemoryDriver;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** An open simulated platform. One lock guards all of it; see the package for threads and clocks. */
final class SimPlatform implements PlatformDriver, SimFaults {
    private final PlatformUri uri;
    private final Machine machine;
    private final SimOptions options;
    private final VendorRules rules;
    private final PlatformProperties properties;
    private final Set<Capability> capabilities;
    private final Topology topology;
    private final HostMemoryBudget hostMemory;
    private final ReentrantLock lock = new ReentrantLock();
    private final Rendezvous rendezvous;
    private final Effects effects = new Effects(ComputePool.shared());
    private final Data data;
    private final DeviceTime time;
    private final List<SimDevice> devices = new ArrayList<>();
    private final Set<CommunicatorState> communicators = new LinkedHashSet<>();
    private final Map<Class<?>, Object> extensions = new LinkedHashMap<>();
    private long communicatorsMade;
    private boolean closed;

    SimPlatform(PlatformUri uri, Machine machine, SimOptions options, VendorRules rules) {
        this.uri = uri;
        this.machine = machine;
        this.options = options;
        this.rules = rules;
        int count = options.devices() == 0 ? machine.deviceCount() : options.devices();
        this.hostMemory = HostMemoryBudget.process().within(options.hostMemory());
        this.rendezvous = new Rendezvous(lock, options.stallMillis());
        this.data = new Data(options.functional(), effects);
        this.time = new DeviceTime(machine, rendezvous::progressed);
        for (int i = 0; i < count; i++) {
            devices.add(new SimDevice(this, i, machine.properties(i), machine.device(i)));
        }
        this.topology = part(machine.topology(), count);
        this.properties = new PlatformProperties(
                machine.name(),
                machine.vendor().isEmpty() ? "Weft" : machine.vendor(),
                Figures.MODEL,
                Map.of("mode", options.functional() ? "functional" : "timing"));
        this.capabilities = declare();
        extensions.put(FaultDriver.class, this);
        extensions.put(SimFaults.class, this);
        extensions.put(CollectiveDriver.class, new SimCollectives(this));
        extensions.put(SymmetricMemoryDriver.class, new SimSymmetricMemory(rules.windowAlignment()));
        extensions.put(VirtualMemoryDriver.class, new SimVirtualMemory(this));
        extensions.put(GraphDriver.class, new SimGraphDriver(this));
        extensions.put(PerformanceModel.class, new SimPerformanceModel(machine, count));
        extensions.put(ModelFitter.class, new MachineFitter());
    }

    private static Topology part(Topology whole, int count) {
        if (count == whole.devices()) {
            return whole;
        }
        List<Link> links = new ArrayList<>();
        int[] numaNodes = new int[count];
        for (int from = 0; from < count; from++) {
            numaNodes[from] = whole.numaNode(from);
            for (int to = 0; to < count; to++) {
                links.add(whole.link(from, to));
            }
        }
        return new Topology(count, links, numaNodes);
    }

    private Set<Capability> declare() {
        Set<Capability> declared = EnumSet.of(
                Capability.COLLECTIVES,
                Capability.COMMUNICATOR_OPTIONS,
                Capability.SYMMETRIC_MEMORY,
                Capability.VIRTUAL_MEMORY,
                Capability.DEVICE_GRAPHS,
                Capability.PERFORMANCE_MODEL,
                Capability.EVENT_TIMING,
                Capability.FAULT_INJECTION);
        if (options.functional()) {
            declared.add(Capability.STORAGE);
        }
        if (devices.stream().allMatch(device -> device.properties().priorities() > 1)) {
            declared.add(Capability.STREAM_PRIORITIES);
        }
        if (devices.stream().allMatch(device -> device.properties().copyEngines() > 0)) {
            declared.add(Capability.COPY_ENGINES);
        }
        if (anyPair(Link::copyable)) {
            declared.add(Capability.PEER_COPY);
        }
        if (anyPair(Link::addressable)) {
            declared.add(Capability.PEER_ACCESS);
        }
        return declared;
    }

    private boolean anyPair(Predicate<Link> wanted) {
        for (int from = 0; from < devices.size(); from++) {
            for (int to = 0; to < devices.size(); to++) {
                if (from != to && wanted.test(topology.link(from, to))) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public PlatformProperties properties() {
        return properties;
    }

    @Override
    public List<? extends DeviceDriver> devices() {
        return devices;
    }

    @Override
    public Topology topology() {
        return topology;
    }

    @Override
    public Set<Capability> capabilities() {
        return capabilities;
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        return Optional.ofNullable(extensions.get(type)).map(type::cast);
    }

    @Override
    public long nanoTime() {
        lock.lock();
        try {
            long latest = time.nowPs();
            for (SimDevice device : devices) {
                latest = Math.max(latest, device.issuePs());
            }
            return latest / 1000;
        } finally {
            lock.unlock();
        }
    }

    /** NUMA nodes of the hosts: those near a device, in ascending order; empty when the machine does not say. */
    SortedSet<Integer> numaNodes() {
        SortedSet<Integer> nodes = new TreeSet<>();
        for (int device = 0; device < machine.deviceCount(); device++) {
            int node = machine.properties(device).numaNode();
            if (node >= 0) {
                nodes.add(node);
            }
        }
        return nodes;
    }

    Machine machine() {
        return machine;
    }

    SimOptions options() {
        return options;
    }

    HostMemoryBudget hostMemory() {
        return hostMemory;
    }

    Effects effects() {
        return effects;
    }

    Data data() {
        return data;
    }

    DeviceTime time() {
        return time;
    }

    // The lock.

    /** Begins a call. */
    void enter(String operation) {
        lock.lock();
        if (closed) {
            lock.unlock();
            throw new AcceleratorException(ErrorCode.CLOSED, operation, "platform " + uri + " was closed before");
        }
        rendezvous.here();
    }

    /** Begins a call that only lets go of something, which is allowed after the platform was closed. */
    void enterToClose() {
        lock.lock();
    }

    /** Ends a call. Whatever has completed in it is in memory from now on. */
    void leave() {
        try {
            if (!closed) {
                effects.flush();
            }
        } finally {
            lock.unlock();
        }
    }

    // Waiting.

    /** Something was issued that may let others go on. */
    void progressed() {
        rendezvous.progressed();
    }

    /**
     * The host waits for work, or until it is clear that its stream has failed for good.
     *
     * @param device whose issuing thread waits
     * @param work null for none
     * @throws AcceleratorException TIMEOUT or COLLECTIVE_MISMATCH when it can never be complete, saying why
     */
    void await(String operation, SimDevice device, Work work) {
        device.issueEvent();
        while (work != null && !time.advanceUntil(work)) {
            if (work.stream().failure() != null) {
                break; // What is left behind a failure may never end; the caller reports the failure.
            }
            stalled(operation, work);
        }
        time.advanceTo(device.issuePs());
    }

    /** The host looks whether work is complete, which costs it a moment. */
    boolean poll(SimDevice device, Work work) {
        time.advanceTo(device.issueEvent());
        if (work == null || work.isDone()) {
            return true;
        }
        // A program that only polls must not do so for ever when nothing can happen any more.
        if (time.isQuiet() && work.stream().failure() == null && rendezvous.isHopeless()) {
            throw explain("query", work);
        }
        return false;
    }

    /** Completes work as far as it can be completed; says nothing when it cannot. */
    void drain(SimDevice device, Work work) {
        if (closed) {
            return;
        }
        device.issueEvent();
        if (work != null) {
            time.advanceUntil(work);
        }
        time.advanceTo(device.issuePs());
    }

    private void stalled(String operation, Work work) {
        long before = rendezvous.progress();
        awaitOthers(() -> rendezvous.progress() != before, () -> explain(operation, work));
    }

    /** Why a wait cannot end. Where the vendor's library has a time limit, virtual time passes up to it first, as it would for whoever waits. */
    private AcceleratorException explain(String operation, Work work) {
        AcceleratorException plain = Stall.explain(operation, work, communicators);
        if (plain.code() != ErrorCode.TIMEOUT) {
            return rules.told(plain);
        }
        CollectiveCall first = null;
        for (CommunicatorState communicator : communicators) {
            for (CollectiveCall call : communicator.pending()) {
                if (!call.isComplete() && (first == null || call.firstArrivalPs() < first.firstArrivalPs())) {
                    first = call;
                }
            }
        }
        return first == null ? plain : first.communicator().overdue(plain, first);
    }

    /** Waits in real time for what only another thread can do. */
    void awaitOthers(BooleanSupplier done, Supplier<AcceleratorException> hopeless) {
        effects.flush();
        rendezvous.await(
                () -> {
                    if (closed) {
                        throw new AcceleratorException(
                                ErrorCode.CLOSED, "wait", "platform " + uri + " was closed meanwhile");
                    }
                    return done.getAsBoolean();
                },
                hopeless);
    }

    /** The host copies bytes to or from a device itself, beside all streams. */
    void hostCopy(SimDevice device, long bytes, double bandwidth) {
        double nanos = device.model().launch().issueCopyNanos()
                + device.model().hostLink().latencyNanos()
                + bytes / bandwidth * 1e9;
        time.advanceTo(device.issue(nanos));
    }

    // Communicators.

    VendorRules rules() {
        return rules;
    }

    /** A number for a new communicator. */
    long nextCommunicator() {
        return ++communicatorsMade;
    }

    void register(CommunicatorState communicator) {
        communicators.add(communicator);
        progressed();
    }

    void unregister(CommunicatorState communicator) {
        communicators.remove(communicator);
    }

    // Faults.

    @Override
    public void failCommand(int device, int nth, AcceleratorException cause) {
        enter("fail command");
        try {
            if (nth < 1) {
                throw AcceleratorException.invalid("fail command", "the number of a command counts from 1, not " + nth);
            }
            device(device).faults().plan(nth, cause);
        } finally {
            leave();
        }
    }

    @Override
    public void loseDevice(int device) {
        enter("lose device");
        try {
            AcceleratorException cause = new AcceleratorException(
                    ErrorCode.DEVICE_LOST,
                    "device",
                    "device " + device + " is gone",
                    "close the platform and open it again",
                    null,
                    null);
            SimDevice lost = device(device);
            lost.lose(cause);
            List.copyOf(communicators).forEach(communicator -> communicator.lose(lost, cause));
            progressed();
        } finally {
            leave();
        }
    }

    private SimDevice device(int ordinal) {
        if (ordinal < 0 || ordinal >= devices.size()) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND, "device", "device " + ordinal + " must lie in 0.." + (devices.size() - 1));
        }
        return devices.get(ordinal);
    }

    @Override
    public String toString() {
        return uri.toString();
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                effects.clear();
                devices.forEach(SimDevice::releaseAll);
                communicators.clear();
                progressed();
            }
        } finally {
            lock.unlock();
        }
    }
}

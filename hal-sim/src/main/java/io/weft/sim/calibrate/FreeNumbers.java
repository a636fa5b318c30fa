// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.calibrate;

import io.weft.api.CollectiveKind;
import io.weft.sim.machine.CollectiveModel;
import io.weft.sim.machine.CollectiveRange;
import io.weft.sim.machine.CopyEngineModel;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.GemmModel;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MemoryModel;
import io.weft.sim.machine.TileModel;
import io.weft.spi.ModelFitter.Probe;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.ToDoubleFunction;

/**
 * The numbers of a machine that are fitted, in the order in which they can be told apart. What device 0 is, all of its kind are. Sizes, counts and nominal bandwidths come from data sheets and are not free; a share times a nominal
 * number is one number, and the share is the one that is fitted.
 */
final class FreeNumbers {
    private static final double GIGA = 1e9;
    private static final double MOST_NANOS = 1e7;
    private static final double MOST_WEIGHT = 1000;

    /** Numbers that are fitted together, and what they are fitted to. */
    record Stage(List<FreeNumber> numbers, Set<Probe> probes) {}

    private FreeNumbers() {}

    static List<Stage> of(Machine machine) {
        return List.of(
                new Stage(launch(), EnumSet.of(Probe.LAUNCH)),
                new Stage(local(), EnumSet.of(Probe.LOCAL)),
                // Kernels tell what links carry where engines are slower, and the other way round.
                new Stage(copies(machine), EnumSet.of(Probe.COPY, Probe.KERNEL_COPY)),
                // Where both disagree, as kernels that do not fill a link do, engines count: schedules copy by engine.
                new Stage(copies(machine), EnumSet.of(Probe.COPY)),
                new Stage(gemm(machine), EnumSet.of(Probe.GEMM)),
                new Stage(List.of(accumulate()), EnumSet.of(Probe.GEMM_ACCUMULATE)),
                new Stage(List.of(concurrency(), earlierWeight()), EnumSet.of(Probe.GEMM_PAIR)),
                new Stage(List.of(element()), EnumSet.of(Probe.REDUCE)),
                new Stage(List.of(peerCopyUnits(machine)), EnumSet.of(Probe.KERNEL_COPY, Probe.GEMM_BESIDE_COPY)),
                new Stage(collectives(machine), EnumSet.of(Probe.COLLECTIVE)));
    }

    // Parts.

    private static FreeNumber number(
            String key,
            double unit,
            double low,
            double high,
            double scale,
            ToDoubleFunction<DeviceModel> read,
            BiFunction<DeviceModel, Double, DeviceModel> write) {
        return new FreeNumber(
                "devices[0]." + key,
                unit,
                true,
                low,
                high,
                scale,
                machine -> read.applyAsDouble(machine.device(0)),
                (machine, value) ->
                        MachineEdit.devices(machine, machine.device(0), device -> write.apply(device, value)));
    }

    private static FreeNumber nanos(
            String key, ToDoubleFunction<DeviceModel> read, BiFunction<DeviceModel, Double, DeviceModel> write) {
        return number(key, 1, 0, MOST_NANOS, 100, read, write);
    }

    private static FreeNumber share(
            String key, ToDoubleFunction<DeviceModel> read, BiFunction<DeviceModel, Double, DeviceModel> write) {
        return number(key, 1, 1e-3, 1, 0.01, read, write);
    }

    private static List<FreeNumber> launch() {
        return List.of(
                nanos(
                        "launch.graph_ns",
                        d -> d.launch().graphNanos(),
                        (d, v) -> MachineEdit.with(d, d.launch().withGraphNanos(v))),
                nanos(
                        "launch.graph_device_ns",
                        d -> d.launch().graphDeviceNanos(),
                        (d, v) -> MachineEdit.with(d, d.launch().withGraphDeviceNanos(v))),
                nanos(
                        "launch.graph_lane_ns",
                        d -> d.launch().graphLaneNanos(),
                        (d, v) -> MachineEdit.with(d, d.launch().withGraphLaneNanos(v))),
                nanos(
                        "launch.signal_ns",
                        d -> d.launch().signalNanos(),
                        (d, v) -> MachineEdit.with(d, d.launch().withSignalNanos(v))),
                nanos(
                        "kernels.start_ns",
                        d -> d.kernels().startNanos(),
                        (d, v) -> MachineEdit.with(d, d.kernels().withStartNanos(v))));
    }

    private static List<FreeNumber> copies(Machine machine) {
        List<FreeNumber> numbers = new ArrayList<>();
        numbers.add(nanos(
                "copy_engines.setup_ns",
                d -> d.copyEngines().setupNanos(),
                (d, v) -> MachineEdit.with(
                        d, engines(d.copyEngines(), d.copyEngines().bandwidth(), v))));
        numbers.add(number(
                "copy_engines.bandwidth_gb_per_s",
                GIGA,
                1e6,
                1e15,
                1e6,
                d -> d.copyEngines().bandwidth(),
                (d, v) -> MachineEdit.with(
                        d, engines(d.copyEngines(), v, d.copyEngines().setupNanos()))));
        List<Integer> kinds = new ArrayList<>();
        List<LinkModel> links = machine.links();
        for (int i = 0; i < links.size(); i++) {
            int at = i;
            if (kinds.stream().noneMatch(kind -> MachineEdit.sameKind(links.get(kind), links.get(at)))) {
                kinds.add(at);
            }
        }
        for (int kind : kinds) {
            numbers.add(link(
                    kind,
                    "efficiency",
                    1e-3,
                    1,
                    0.01,
                    LinkModel::efficiency,
                    (l, v) -> link(l, v, l.duplexEfficiency(), l.latencyNanos())));
            numbers.add(link(
                    kind,
                    "duplex_efficiency",
                    0.5,
                    1,
                    0.01,
                    LinkModel::duplexEfficiency,
                    (l, v) -> link(l, l.efficiency(), v, l.latencyNanos())));
            numbers.add(link(
                    kind,
                    "latency_ns",
                    0,
                    MOST_NANOS,
                    100,
                    LinkModel::latencyNanos,
                    (l, v) -> link(l, l.efficiency(), l.duplexEfficiency(), v)));
        }
        return numbers;
    }

    private static FreeNumber link(
            int kind,
            String name,
            double low,
            double high,
            double scale,
            ToDoubleFunction<LinkModel> read,
            BiFunction<LinkModel, Double, LinkModel> write) {
        return new FreeNumber(
                "links[" + kind + "]." + name,
                1,
                true,
                low,
                high,
                scale,
                machine -> read.applyAsDouble(machine.links().get(kind)),
                (machine, value) ->
                        MachineEdit.links(machine, machine.links().get(kind), link -> write.apply(link, value)));
    }

    private static LinkModel link(LinkModel l, double efficiency, double duplex, double latency) {
        return new LinkModel(
                l.kind(),
                l.name(),
                l.from(),
                l.to(),
                l.bandwidth(),
                l.reverseBandwidth(),
                efficiency,
                duplex,
                latency,
                l.width(),
                l.copyable(),
                l.addressable());
    }

    private static CopyEngineModel engines(CopyEngineModel e, double bandwidth, double setup) {
        return new CopyEngineModel(
                e.count(), e.hostEngines(), bandwidth, setup, e.autoFromBytes(), e.rowOverheadBytes(), e.map());
    }

    private static List<FreeNumber> local() {
        return List.of(
                number(
                        "kernels.bandwidth_gb_per_s_per_unit",
                        GIGA,
                        1e6,
                        1e13,
                        1e6,
                        d -> d.kernels().bandwidthPerUnit(),
                        (d, v) -> MachineEdit.with(d, d.kernels().withBandwidthPerUnit(v))),
                share("memory.efficiency", d -> d.memory().efficiency(), (d, v) -> {
                    MemoryModel m = d.memory();
                    return MachineEdit.with(
                            d, new MemoryModel(m.bytes(), m.bandwidth(), v, m.cacheBytes(), m.allocationAlignment()));
                }));
    }

    private static FreeNumber earlierWeight() {
        return number(
                "kernels.earlier_weight",
                1,
                1,
                MOST_WEIGHT,
                1,
                d -> d.kernels().earlierWeight(),
                (d, v) -> MachineEdit.with(d, d.kernels().withEarlierWeight(v)));
    }

    private static FreeNumber peerCopyUnits(Machine machine) {
        return new FreeNumber(
                "devices[0].kernels.peer_copy_units",
                1,
                false,
                1,
                machine.device(0).computeUnits(),
                1,
                m -> m.device(0).kernels().peerCopyUnits(),
                (m, value) -> MachineEdit.devices(
                        m,
                        m.device(0),
                        d -> MachineEdit.with(d, d.kernels().withPeerCopyUnits((int) Math.rint(value)))));
    }

    private static List<FreeNumber> gemm(Machine machine) {
        List<FreeNumber> numbers = new ArrayList<>();
        List<TileModel> tiles = machine.device(0).gemm().tiles();
        for (int i = 0; i < tiles.size(); i++) {
            int tile = i;
            numbers.add(share(
                    "compute.tiles[" + i + "].efficiency",
                    d -> d.gemm().tiles().get(tile).efficiency(),
                    (d, v) -> MachineEdit.with(d, tile(d.gemm(), tile, v))));
        }
        numbers.add(new FreeNumber(
                "devices[0].compute.prologue_k",
                1,
                false,
                0,
                1 << 14,
                16,
                m -> m.device(0).gemm().prologueK(),
                (m, value) -> MachineEdit.devices(
                        m, m.device(0), d -> MachineEdit.with(d, d.gemm().withPrologueK((int) Math.rint(value))))));
        numbers.add(number(
                "compute.split_k_exposed",
                1,
                0,
                1,
                0.1,
                d -> d.gemm().splitKExposed(),
                (d, v) -> MachineEdit.with(d, d.gemm().withSplitKExposed(v))));
        numbers.add(share(
                "compute.wave_quantisation",
                d -> d.gemm().waveQuantisation(),
                (d, v) -> MachineEdit.with(d, d.gemm().withWaveQuantisation(v))));
        return numbers;
    }

    private static GemmModel tile(GemmModel g, int index, double efficiency) {
        List<TileModel> tiles = new ArrayList<>(g.tiles());
        TileModel old = tiles.get(index);
        tiles.set(index, new TileModel(old.rows(), old.columns(), efficiency));
        return g.withTiles(tiles);
    }

    private static FreeNumber accumulate() {
        return number(
                "compute.accumulate_ns_per_kib",
                1,
                0,
                MOST_NANOS,
                1,
                d -> d.gemm().accumulateNanosPerKib(),
                (d, v) -> MachineEdit.with(d, d.gemm().withAccumulateNanosPerKib(v)));
    }

    private static FreeNumber element() {
        return number(
                "kernels.element_ns",
                1,
                0,
                MOST_NANOS,
                0.01,
                d -> d.kernels().elementNanos(),
                (d, v) -> MachineEdit.with(d, d.kernels().withElementNanos(v)));
    }

    private static FreeNumber concurrency() {
        return share(
                "compute.concurrency_efficiency",
                d -> d.gemm().concurrencyEfficiency(),
                (d, v) -> MachineEdit.with(d, d.gemm().withConcurrencyEfficiency(v)));
    }

    // Collectives.

    /** Gives operations that are measured an entry of their own, so that each can have its own numbers. */
    static Machine separated(Machine machine, Set<CollectiveKind> measured) {
        List<CollectiveModel> models = new ArrayList<>();
        for (CollectiveKind kind : CollectiveKind.values()) {
            CollectiveModel model = machine.collective(kind);
            if (measured.contains(kind) && !model.kinds().equals(Set.of(kind))) {
                models.add(new CollectiveModel(Set.of(kind), model.ranges(), model.fastest()));
            }
        }
        if (models.isEmpty()) {
            return machine;
        }
        for (CollectiveModel model : machine.collectiveModels()) {
            Set<CollectiveKind> left = EnumSet.noneOf(CollectiveKind.class);
            left.addAll(model.kinds());
            models.forEach(own -> left.removeAll(own.kinds()));
            if (!left.isEmpty() || model.kinds().isEmpty()) {
                models.add(new CollectiveModel(left, model.ranges(), model.fastest()));
            }
        }
        return MachineEdit.collectives(machine, models);
    }

    private static List<FreeNumber> collectives(Machine machine) {
        List<FreeNumber> numbers = new ArrayList<>();
        List<CollectiveModel> models = machine.collectiveModels();
        for (int i = 0; i < models.size(); i++) {
            for (int j = 0; j < models.get(i).ranges().size(); j++) {
                numbers.add(range(
                        i,
                        j,
                        "base_ns",
                        0,
                        MOST_NANOS,
                        100,
                        CollectiveRange::baseNanos,
                        (r, v) -> r.with(v, r.efficiency())));
                numbers.add(range(
                        i,
                        j,
                        "efficiency",
                        1e-3,
                        1,
                        0.01,
                        CollectiveRange::efficiency,
                        (r, v) -> r.with(r.baseNanos(), v)));
            }
        }
        return numbers;
    }

    private static FreeNumber range(
            int entry,
            int range,
            String name,
            double low,
            double high,
            double scale,
            ToDoubleFunction<CollectiveRange> read,
            BiFunction<CollectiveRange, Double, CollectiveRange> write) {
        return new FreeNumber(
                "collectives[" + entry + "].ranges[" + range + "]." + name,
                1,
                true,
                low,
                high,
                scale,
                machine -> read.applyAsDouble(
                        machine.collectiveModels().get(entry).ranges().get(range)),
                (machine, value) -> {
                    List<CollectiveModel> models = new ArrayList<>(machine.collectiveModels());
                    CollectiveModel model = models.get(entry);
                    List<CollectiveRange> ranges = new ArrayList<>(model.ranges());
                    ranges.set(range, write.apply(ranges.get(range), value));
                    models.set(entry, new CollectiveModel(model.kinds(), ranges, model.fastest()));
                    return MachineEdit.collectives(machine, models);
                });
    }
}

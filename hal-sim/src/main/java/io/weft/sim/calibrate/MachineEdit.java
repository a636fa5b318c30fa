// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.calibrate;

import io.weft.sim.machine.CollectiveModel;
import io.weft.sim.machine.CopyEngineModel;
import io.weft.sim.machine.DeviceModel;
import io.weft.sim.machine.GemmModel;
import io.weft.sim.machine.KernelModel;
import io.weft.sim.machine.LaunchModel;
import io.weft.sim.machine.LinkModel;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MemoryModel;
import java.util.List;
import java.util.function.UnaryOperator;

/** Machines that differ from another in some parts. */
final class MachineEdit {
    private MachineEdit() {}

    private static Machine rebuild(
            Machine machine,
            String name,
            UnaryOperator<DeviceModel> device,
            UnaryOperator<LinkModel> link,
            List<CollectiveModel> collectives) {
        Machine.Builder builder = Machine.builder(name)
                .description(machine.description())
                .vendor(machine.vendor())
                .forwardingEfficiency(machine.forwardingEfficiency())
                .forwardingDuplexEfficiency(machine.forwardingDuplexEfficiency());
        machine.devices().forEach(each -> builder.device(device.apply(each)));
        machine.switches().forEach(builder::switchNode);
        machine.links().forEach(each -> builder.link(link.apply(each)));
        machine.fixedRoutes()
                .forEach(path ->
                        builder.route(path.stream().mapToInt(Integer::intValue).toArray()));
        collectives.forEach(builder::collective);
        return builder.build();
    }

    static Machine named(Machine machine, String name) {
        return rebuild(machine, name, each -> each, each -> each, machine.collectiveModels());
    }

    /** Changes the devices that are alike to a given one. */
    static Machine devices(Machine machine, DeviceModel like, UnaryOperator<DeviceModel> change) {
        return rebuild(
                machine,
                machine.name(),
                each -> sameKind(each, like) ? change.apply(each) : each,
                each -> each,
                machine.collectiveModels());
    }

    /** Changes the links whose numbers are those of a given one. */
    static Machine links(Machine machine, LinkModel like, UnaryOperator<LinkModel> change) {
        return rebuild(
                machine,
                machine.name(),
                each -> each,
                each -> sameKind(each, like) ? change.apply(each) : each,
                machine.collectiveModels());
    }

    static Machine collectives(Machine machine, List<CollectiveModel> collectives) {
        return rebuild(machine, machine.name(), each -> each, each -> each, collectives);
    }

    private static boolean sameKind(DeviceModel a, DeviceModel b) {
        return a.name().equals(b.name())
                && a.architecture().equals(b.architecture())
                && a.computeUnits() == b.computeUnits()
                && a.gemm().equals(b.gemm())
                && a.memory().equals(b.memory())
                && a.copyEngines().equals(b.copyEngines())
                && a.kernels().equals(b.kernels())
                && a.launch().equals(b.launch());
    }

    static boolean sameKind(LinkModel a, LinkModel b) {
        return a.kind() == b.kind()
                && a.bandwidth() == b.bandwidth()
                && a.reverseBandwidth() == b.reverseBandwidth()
                && a.efficiency() == b.efficiency()
                && a.duplexEfficiency() == b.duplexEfficiency()
                && a.latencyNanos() == b.latencyNanos()
                && a.width() == b.width();
    }

    // Parts of a device.

    static DeviceModel with(DeviceModel d, GemmModel gemm) {
        return with(d, gemm, d.memory(), d.copyEngines(), d.kernels(), d.launch());
    }

    static DeviceModel with(DeviceModel d, MemoryModel memory) {
        return with(d, d.gemm(), memory, d.copyEngines(), d.kernels(), d.launch());
    }

    static DeviceModel with(DeviceModel d, CopyEngineModel engines) {
        return with(d, d.gemm(), d.memory(), engines, d.kernels(), d.launch());
    }

    static DeviceModel with(DeviceModel d, KernelModel kernels) {
        return with(d, d.gemm(), d.memory(), d.copyEngines(), kernels, d.launch());
    }

    static DeviceModel with(DeviceModel d, LaunchModel launch) {
        return with(d, d.gemm(), d.memory(), d.copyEngines(), d.kernels(), launch);
    }

    private static DeviceModel with(
            DeviceModel d,
            GemmModel gemm,
            MemoryModel memory,
            CopyEngineModel engines,
            KernelModel kernels,
            LaunchModel launch) {
        return new DeviceModel(
                d.name(),
                d.architecture(),
                d.node(),
                d.numaNode(),
                d.busId(),
                d.computeUnits(),
                d.clockGhz(),
                gemm,
                memory,
                engines,
                kernels,
                launch,
                d.hostLink(),
                d.fp8(),
                d.extra());
    }
}

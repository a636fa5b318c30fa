// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.Finding;
import io.weft.api.PlatformUri;
import io.weft.ascend.acl.AclNative;
import io.weft.ascend.doctor.AscendEnvironmentCheck;
import io.weft.ascend.hccl.HcclFamily;
import io.weft.ascend.hccl.HcclPlatform;
import io.weft.ascend.mapping.MappingAdvice;
import io.weft.ascend.topology.AscendGraph;
import io.weft.ascend.topology.AscendTopologyReader;
import io.weft.sim.machine.Machine;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.EnvironmentCheck;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.SpiVersion;
import io.weft.spi.Target;
import io.weft.spi.TopologyReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The provider {@code ascend}. Its models and readers need no hardware, so it is always there. */
public final class AscendProvider implements AcceleratorProvider {
    private static final ProviderDescriptor DESCRIPTOR = new ProviderDescriptor(
            "ascend", "Huawei", "Huawei Ascend accelerators joined by HCCS and RoCE", "0.1.0", new SpiVersion(1, 0));

    private static final Target NATIVE =
            new Target("native", "the devices of this machine, through the vendor's own libraries");

    /** For the service loader; no side effect. */
    public AscendProvider() {}

    @Override
    public ProviderDescriptor descriptor() {
        return DESCRIPTOR;
    }

    @Override
    public Probe probe() {
        return new Probe.Available("machine models; figures are predicted, never measured");
    }

    @Override
    public List<Target> targets() {
        List<Target> targets = new ArrayList<>(AscendMachines.targets());
        targets.addAll(MachineOfRankTable.TARGETS);
        targets.add(NATIVE);
        return targets;
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        if (type == TopologyReader.class) {
            return Optional.of(type.cast(new AscendTopologyReader(AscendProvider::advice)));
        }
        if (type == EnvironmentCheck.class) {
            return Optional.of(type.cast(new AscendEnvironmentCheck()));
        }
        return Optional.empty();
    }

    /** How well ranks are placed, where there is a model to tell it by. */
    private static List<Finding> advice(AscendGraph graph) {
        return !graph.ranked()
                        || graph.npus().size() < 2
                        || AscendMachines.of(graph.generation()).isEmpty()
                ? List.of()
                : MappingAdvice.of(MachineOfGraph.machine(graph, "described", ""));
    }

    @Override
    public PlatformDriver open(PlatformUri uri) {
        if (uri.target().equals(NATIVE.name())) {
            return AclNative.open(uri);
        }
        Machine machine = AscendMachines.find(uri.target())
                .or(() -> MachineOfRankTable.find(uri.target()))
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.NOT_FOUND,
                        "open " + uri,
                        "there is no machine '" + uri.target() + "'; known are "
                                + targets().stream().map(Target::name).collect(Collectors.joining(", "))));
        return HcclPlatform.open(
                uri, machine, HcclFamily.ofDevice(machine.device(0).name()), new AscendMetrics());
    }
}

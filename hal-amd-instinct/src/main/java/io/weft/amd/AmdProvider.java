// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import io.weft.amd.doctor.AmdEnvironmentCheck;
import io.weft.amd.hip.HipNative;
import io.weft.amd.setting.AmdSettings;
import io.weft.amd.topology.AmdTopologyReader;
import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import io.weft.sim.machine.Machine;
import io.weft.sim.provider.MachinePlatform;
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

/** The provider {@code amd}. Its models and readers need no hardware, so it is always there; {@code amd:native} says what is missing when it is opened. */
public final class AmdProvider implements AcceleratorProvider {
    private static final ProviderDescriptor DESCRIPTOR = new ProviderDescriptor(
            "amd", "AMD", "AMD Instinct accelerators joined by xGMI", "0.1.0", new SpiVersion(1, 0));

    private static final Target NATIVE = new Target("native", "the AMD GPUs of this machine");

    /** For the service loader; no side effect. */
    public AmdProvider() {}

    @Override
    public ProviderDescriptor descriptor() {
        return DESCRIPTOR;
    }

    @Override
    public Probe probe() {
        return new Probe.Available("machine models, whose figures are predicted; native: " + HipNative.hardware());
    }

    @Override
    public List<Target> targets() {
        List<Target> targets = new ArrayList<>(AmdMachines.targets());
        targets.addAll(MachineOfFiles.TARGETS);
        targets.add(NATIVE);
        return targets;
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        if (type == TopologyReader.class) {
            return Optional.of(type.cast(new AmdTopologyReader()));
        }
        if (type == EnvironmentCheck.class) {
            return Optional.of(type.cast(new AmdEnvironmentCheck()));
        }
        return Optional.empty();
    }

    @Override
    public PlatformDriver open(PlatformUri uri) {
        if (uri.target().equals(NATIVE.name())) {
            return HipNative.open(uri);
        }
        AmdSettings settings = AmdSettings.of(uri, System::getenv);
        Machine machine = AmdMachines.document(uri.target())
                .map(document -> NodeModel.of(document, settings))
                .or(() -> MachineOfFiles.find(uri.target(), settings))
                .orElseThrow(() -> new AcceleratorException(
                        ErrorCode.NOT_FOUND,
                        "open " + uri,
                        "there is no machine '" + uri.target() + "'; known are "
                                + targets().stream().map(Target::name).collect(Collectors.joining(", "))));
        return new AmdPlatform(MachinePlatform.open(AmdSettings.rest(uri), machine), machine, settings);
    }
}

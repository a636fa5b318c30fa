// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import io.weft.amd.rccl.RcclCollectives;
import io.weft.amd.rccl.RcclTables;
import io.weft.amd.sdma.TransferModes;
import io.weft.amd.setting.AmdSettings;
import io.weft.api.Capability;
import io.weft.api.CollectiveKind;
import io.weft.api.PlatformProperties;
import io.weft.api.topology.Topology;
import io.weft.sim.machine.Machine;
import io.weft.spi.ChoiceTables;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.DeviceDriver;
import io.weft.spi.PlatformDriver;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A modelled node: the simulator's platform with RCCL's communicators, and tables of what is chosen. */
final class AmdPlatform implements PlatformDriver {
    private final PlatformDriver simulator;
    private final PlatformProperties properties;
    private final CollectiveDriver collectives;
    private final ChoiceTables tables;

    AmdPlatform(PlatformDriver simulator, Machine machine, AmdSettings settings) {
        this.simulator = simulator;
        PlatformProperties own = simulator.properties();
        Map<String, String> versions = new LinkedHashMap<>(own.versions());
        settings.values().forEach((setting, value) -> versions.put(setting.name(), value));
        properties = new PlatformProperties(own.machine(), own.vendor(), own.figures(), versions);
        collectives =
                new RcclCollectives(simulator.extension(CollectiveDriver.class).orElseThrow(), machine);
        int devices = simulator.devices().size();
        tables = new ChoiceTables() {
            @Override
            public List<Table> copies() {
                return TransferModes.tables(machine, devices);
            }

            @Override
            public List<Table> collectives(CollectiveKind kind, int ranks) {
                return RcclTables.tables(machine, kind, ranks);
            }
        };
    }

    @Override
    public PlatformProperties properties() {
        return properties;
    }

    @Override
    public List<? extends DeviceDriver> devices() {
        return simulator.devices();
    }

    @Override
    public Topology topology() {
        return simulator.topology();
    }

    @Override
    public Set<Capability> capabilities() {
        return simulator.capabilities();
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        if (type == CollectiveDriver.class) {
            return Optional.of(type.cast(collectives));
        }
        if (type == ChoiceTables.class) {
            return Optional.of(type.cast(tables));
        }
        return simulator.extension(type);
    }

    @Override
    public long nanoTime() {
        return simulator.nanoTime();
    }

    @Override
    public void close() {
        simulator.close();
    }
}

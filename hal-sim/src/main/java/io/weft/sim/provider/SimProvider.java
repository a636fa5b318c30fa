// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.PlatformUri;
import io.weft.sim.machine.MachineCatalog;
import io.weft.spi.AcceleratorProvider;
import io.weft.spi.PlatformDriver;
import io.weft.spi.Probe;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.SpiVersion;
import io.weft.spi.Target;
import java.util.List;

/** The provider {@code sim}. It needs no hardware, so it is always there. */
public final class SimProvider implements AcceleratorProvider {
    private static final ProviderDescriptor DESCRIPTOR = new ProviderDescriptor(
            "sim",
            "Weft",
            "Simulated machines: data on the host's cores, time from a machine model",
            "0.1.0",
            new SpiVersion(1, 0));

    /** Written down here, since a listing must not have to read machine documents; a test compares them. */
    private static final List<Target> TARGETS = List.of(
            new Target("mesh-8", "8 devices, each linked directly with every other"),
            new Target("ring-4", "4 devices in a ring"),
            new Target("switch-8", "8 devices behind one switch"),
            new Target("node-2x8", "2 servers of 8 devices each, joined by a network"),
            new Target("file=PATH", "any machine document"));

    /** For the service loader; no side effect. */
    public SimProvider() {}

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
        return TARGETS;
    }

    @Override
    public PlatformDriver open(PlatformUri uri) {
        return MachinePlatform.open(uri, MachineCatalog.open(uri.target()));
    }
}

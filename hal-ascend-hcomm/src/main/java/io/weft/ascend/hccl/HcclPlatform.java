// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.Capability;
import io.weft.api.PlatformProperties;
import io.weft.api.PlatformUri;
import io.weft.api.topology.Topology;
import io.weft.ascend.group.GroupStatistics;
import io.weft.sim.machine.Machine;
import io.weft.sim.provider.MachinePlatform;
import io.weft.spi.DeviceDriver;
import io.weft.spi.PlatformDriver;
import io.weft.spi.decorator.ObservedPlatform;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A machine model on which HCCL's rules hold. */
public final class HcclPlatform implements PlatformDriver, HcclMeters {
    private final PlatformDriver observed;
    private final HcclFamily family;
    private final HcclSettings settings;
    private final HcclRules rules;
    private final BudgetObserver budgets;
    private final HcclListener listener;

    private HcclPlatform(PlatformUri uri, Machine machine, HcclFamily family, HcclListener listener) {
        this.listener = listener;
        this.family = family;
        this.settings = HcclSettings.of(uri, family);
        this.rules = new HcclRules(family, settings, machine.deviceCount(), listener);
        this.budgets = new BudgetObserver(family, machine.deviceCount(), settings.composes());
        this.observed =
                new ObservedPlatform(MachinePlatform.open(HcclSettings.withoutOptions(uri), machine, rules), budgets);
    }

    /**
     * Opens a model.
     *
     * @param uri its options are those of the simulator and {@link HcclSettings#OPTIONS}
     * @param listener hears of groups and buffers; an extension of the platform by every type that it has
     * @return a driver, which the caller closes; it has the extension {@link HcclMeters}
     * @throws io.weft.api.AcceleratorException INVALID_ARGUMENT for an unknown option or a bad value, saying what is accepted
     */
    public static PlatformDriver open(PlatformUri uri, Machine machine, HcclFamily family, HcclListener listener) {
        return new HcclPlatform(uri, machine, family, listener);
    }

    @Override
    public PlatformProperties properties() {
        return observed.properties();
    }

    @Override
    public List<? extends DeviceDriver> devices() {
        return observed.devices();
    }

    @Override
    public Topology topology() {
        return observed.topology();
    }

    @Override
    public Set<Capability> capabilities() {
        return observed.capabilities();
    }

    @Override
    public <T> Optional<T> extension(Class<T> type) {
        if (type == HcclMeters.class) {
            return Optional.of(type.cast(this));
        }
        return type.isInstance(listener) && type.isInterface()
                ? Optional.of(type.cast(listener))
                : observed.extension(type);
    }

    @Override
    public long nanoTime() {
        return observed.nanoTime();
    }

    @Override
    public void close() {
        observed.close();
    }

    @Override
    public HcclFamily family() {
        return family;
    }

    @Override
    public HcclSettings settings() {
        return settings;
    }

    @Override
    public List<DeviceBudget> budgets() {
        return budgets.budgets().subList(0, observed.devices().size());
    }

    @Override
    public List<GroupStatistics> groups() {
        return rules.groups();
    }

    @Override
    public long bufferBytes(int device) {
        return rules.groups(device).size() * settings.communicatorBytes();
    }

    @Override
    public long longestGroupSwitchNanos() {
        return rules.longestSwitchNanos();
    }

    @Override
    public long composedParts() {
        return budgets.composed();
    }
}

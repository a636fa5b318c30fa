// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime;

import com.google.inject.AbstractModule;
import com.google.inject.Provides;
import io.weft.api.Accelerators;
import io.weft.api.DiscoveryOptions;
import io.weft.runtime.bench.CollectiveBench;
import io.weft.runtime.calibrate.Calibration;
import io.weft.runtime.overlap.OverlapBench;
import io.weft.runtime.plan.PlanService;
import io.weft.runtime.replay.ReplayService;
import io.weft.runtime.run.RunService;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.sweep.SweepService;
import io.weft.runtime.tuning.Selectors;
import jakarta.inject.Singleton;
import java.util.Set;

/** What depends on what. Everything is made on first use: a command that only lists settings loads no plugin. */
final class Wiring extends AbstractModule {
    private final EffectiveSettings settings;

    Wiring(EffectiveSettings settings) {
        this.settings = settings;
    }

    @Override
    protected void configure() {
        binder().requireExplicitBindings();
        bind(EffectiveSettings.class).toInstance(settings);
    }

    @Provides
    @Singleton
    DiscoveryOptions discoveryOptions(EffectiveSettings effective) {
        return new DiscoveryOptions(
                Set.copyOf(effective.value(Catalogue.PROVIDERS_DENY)),
                PluginFolders.of(effective),
                true,
                effective.value(Catalogue.DECORATORS));
    }

    @Provides
    @Singleton
    Accelerators accelerators(DiscoveryOptions options) {
        return Accelerators.discover(options);
    }

    @Provides
    @Singleton
    PlanService plans(EffectiveSettings effective) {
        return new PlanService(effective);
    }

    @Provides
    @Singleton
    SweepService sweeps(EffectiveSettings effective) {
        return new SweepService(effective);
    }

    @Provides
    @Singleton
    ReplayService replays() {
        return new ReplayService();
    }

    @Provides
    @Singleton
    CollectiveBench collectives() {
        return new CollectiveBench();
    }

    @Provides
    @Singleton
    RunService runs(Selectors selectors) {
        return new RunService(selectors);
    }

    @Provides
    @Singleton
    Selectors selectors(EffectiveSettings effective) {
        return new Selectors(effective);
    }

    @Provides
    @Singleton
    OverlapBench overlapBench(Selectors selectors) {
        return new OverlapBench(selectors);
    }

    @Provides
    @Singleton
    Calibration calibration(Selectors selectors) {
        return new Calibration(selectors);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime;

import com.google.inject.Guice;
import com.google.inject.Injector;
import com.google.inject.ProvisionException;
import com.google.inject.Stage;
import io.weft.api.AcceleratorException;
import io.weft.api.Accelerators;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.runtime.bench.CollectiveBench;
import io.weft.runtime.calibrate.Calibration;
import io.weft.runtime.metrics.ExposedCommunication;
import io.weft.runtime.metrics.MetricsEndpoint;
import io.weft.runtime.overlap.OverlapBench;
import io.weft.runtime.plan.PlanService;
import io.weft.runtime.replay.ReplayService;
import io.weft.runtime.run.RunService;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.runtime.sweep.SweepService;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A running Weft: settings, discovered backends, and the services over them. The one place where parts are put together.
 *
 * <p>Nothing is discovered before it is asked for. Platforms opened here are closed with it. Safe for any thread.
 */
public final class WeftRuntime implements AutoCloseable {
    private final Injector injector;
    private final List<Platform> opened = new ArrayList<>();
    private final Optional<MetricsEndpoint> metrics;
    private boolean closed;

    private WeftRuntime(Injector injector, Optional<MetricsEndpoint> metrics) {
        this.injector = injector;
        this.metrics = metrics;
    }

    /** Starts with these settings. The caller closes it. */
    public static WeftRuntime start(EffectiveSettings settings) {
        // Read once by Guice. Its generated classes would save nothing here, and making them prints a warning on JDK
        // 25.
        System.getProperties().putIfAbsent("guice_bytecode_gen_option", "DISABLED");
        Injector injector = Guice.createInjector(Stage.DEVELOPMENT, new Wiring(settings));
        long port = settings.value(Catalogue.METRICS_PORT);
        return new WeftRuntime(
                injector, port < 0 ? Optional.empty() : Optional.of(MetricsEndpoint.start(Math.toIntExact(port))));
    }

    /** The settings that hold. */
    public EffectiveSettings settings() {
        return get(EffectiveSettings.class);
    }

    /**
     * The backends that were found, each with its verdict; looked for on the first call.
     *
     * @throws AcceleratorException {@link ErrorCode#NOT_FOUND} when a setting names an unknown decorator
     */
    public Accelerators accelerators() {
        return get(Accelerators.class);
    }

    /**
     * Opens a platform, which is closed with this runtime unless it was closed before.
     *
     * @param uri such as {@code sim:mesh-8}
     * @throws AcceleratorException as {@link Accelerators#open(String)} says; {@link ErrorCode#CLOSED}
     */
    public Platform open(String uri) {
        requireOpen();
        Platform platform = accelerators().open(uri);
        synchronized (opened) {
            opened.add(platform);
        }
        metrics.ifPresent(endpoint -> endpoint.metrics().watch(platform));
        return platform;
    }

    /** Where what jobs of this runtime count is served; empty unless the setting {@code metrics.port} says where. */
    public Optional<MetricsEndpoint> metrics() {
        return metrics;
    }

    /** Plans models. */
    public PlanService plans() {
        return get(PlanService.class);
    }

    /** Plans whole spaces. */
    public SweepService sweeps() {
        return get(SweepService.class);
    }

    /** Replays recorded allocations. */
    public ReplayService replays() {
        return get(ReplayService.class);
    }

    /** Times collectives. */
    public CollectiveBench collectives() {
        return get(CollectiveBench.class);
    }

    /** Runs problems. */
    public RunService runs() {
        RunService runs = get(RunService.class);
        return metrics.map(endpoint -> runs.watchedBy(
                        timeline -> endpoint.metrics().exposedCommunication(ExposedCommunication.share(timeline))))
                .orElse(runs);
    }

    /** Times schedules. */
    public OverlapBench overlapBench() {
        return get(OverlapBench.class);
    }

    /** Measures platforms and has models fitted to them. */
    public Calibration calibration() {
        return get(Calibration.class);
    }

    private <T> T get(Class<T> type) {
        requireOpen();
        try {
            return injector.getInstance(type);
        } catch (ProvisionException failure) {
            // What went wrong, not that it went wrong while something was being put together.
            if (failure.getCause() instanceof AcceleratorException refusal) {
                throw refusal;
            }
            throw failure;
        }
    }

    private void requireOpen() {
        synchronized (opened) {
            if (closed) {
                throw new AcceleratorException(ErrorCode.CLOSED, "runtime", "this runtime was closed before");
            }
        }
    }

    /** Closes every platform opened here, the last one first. Closing twice is allowed. */
    @Override
    public void close() {
        List<Platform> toClose;
        synchronized (opened) {
            closed = true;
            toClose = List.copyOf(opened);
            opened.clear();
        }
        // Nobody may read a platform's counts while it goes.
        metrics.ifPresent(MetricsEndpoint::close);
        RuntimeException first = null;
        for (Platform platform : toClose.reversed()) {
            try {
                platform.close();
            } catch (RuntimeException failure) {
                if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}

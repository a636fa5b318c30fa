// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.tuning;

import io.weft.api.AcceleratorException;
import io.weft.api.Communicator;
import io.weft.api.Platform;
import io.weft.runtime.settings.Catalogue;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.scheduler.GemmTuner;
import io.weft.scheduler.HeuristicSelector;
import io.weft.scheduler.MeasuredSelector;
import io.weft.scheduler.ModelSelector;
import io.weft.scheduler.Selector;
import io.weft.scheduler.TuningFile;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Makes selectors by name: {@code heuristic}, {@code model}, {@code measured}, or {@code auto} for the model where a platform has one and rules where it has none. Safe for any thread. */
public final class Selectors {
    private final EffectiveSettings settings;
    private TuningFile file;

    /** Selectors under these settings. Opens no file before one is needed. */
    public Selectors(EffectiveSettings settings) {
        this.settings = settings;
    }

    /**
     * Checks a name before work starts.
     *
     * @throws AcceleratorException INVALID_ARGUMENT with the names that are accepted
     */
    public static void require(String how) {
        switch (how) {
            case "auto", "heuristic", "model", "measured" -> {
                // Known.
            }
            default ->
                throw AcceleratorException.invalid(
                        "select", "'" + how + "' is no selector; accepted are auto, heuristic, model, measured");
        }
    }

    /**
     * A selector.
     *
     * @param communicator whose ranks measured selection runs on; outlives the selector
     * @throws AcceleratorException INVALID_ARGUMENT for an unknown name; UNSUPPORTED when the platform has no model; BAD_DOCUMENT when the tuning file cannot be used
     */
    public Selector selector(String how, Communicator communicator) {
        require(how);
        Platform platform = communicator.platform();
        return switch (how) {
            case "heuristic" -> new HeuristicSelector(platform);
            case "model" -> new ModelSelector(platform);
            case "measured" ->
                new MeasuredSelector(
                        communicator, MeasuredSelector.guide(platform), file(), MeasuredSelector.Options.defaults());
            default -> MeasuredSelector.guide(platform);
        };
    }

    /** Chooses algorithms of products, and keeps the choices. */
    public GemmTuner gemmTuner(Communicator communicator) {
        GemmTuner tuner = new GemmTuner(communicator, TuningFile.inMemory());
        return tuner.isUseful() ? new GemmTuner(communicator, file()) : tuner;
    }

    /** The tuning file of this process. */
    public synchronized TuningFile file() {
        if (file == null) {
            Optional<Path> named = settings.value(Catalogue.TUNING_FILE);
            Path path = named.orElseGet(() -> cacheFile(System.getenv(), Path.of(System.getProperty("user.home"))));
            System.Logger log = System.getLogger("io.weft.tuning");
            file = TuningFile.open(path, named.isPresent(), warning -> log.log(System.Logger.Level.WARNING, warning));
        }
        return file;
    }

    /** {@code $XDG_CACHE_HOME/weft/tuning}; as that standard says, a relative or empty value counts as unset. */
    static Path cacheFile(Map<String, String> environment, Path home) {
        String base = environment.getOrDefault("XDG_CACHE_HOME", "");
        Path folder = base.startsWith("/") ? Path.of(base) : home.resolve(".cache");
        return folder.resolve("weft").resolve("tuning");
    }
}

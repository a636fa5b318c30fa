// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import io.weft.api.ElementType;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Every setting that Weft knows. A key that is not here is refused wherever it is given. */
public final class Catalogue {
    /** Names of decorators to wrap around every platform, innermost first. */
    public static final Setting<List<String>> DECORATORS = new Setting<>(
            "decorators", SettingType.names(), List.of(), "Decorators to wrap around every platform, innermost first.");

    /** Where what a job counts is served; -1 for nowhere. */
    public static final Setting<Long> METRICS_PORT = new Setting<>(
            "metrics.port",
            SettingType.wholeNumber(-1, 65_535),
            -1L,
            "Port on which this host alone can read /metrics while a job runs; 0 for any that is free, -1 for none.");

    /** The element type of a plan that names none. */
    public static final Setting<ElementType> PLAN_ELEMENT_TYPE = new Setting<>(
            "plan.element-type",
            SettingType.elementType(),
            ElementType.BF16,
            "Element type when --dtype is not given.");

    /** The selector of a plan that names none. */
    public static final Setting<String> PLAN_SELECT = new Setting<>(
            "plan.select",
            SettingType.oneOf("heuristic", "model", "all"),
            "model",
            "How a plan chooses when --select is not given.");

    /** Threads that estimate problems side by side; 0 for one for each processor. */
    public static final Setting<Long> PLAN_THREADS = new Setting<>(
            "plan.threads",
            SettingType.wholeNumber(0, 1024),
            0L,
            "Threads that estimate problems side by side; 0 for one for each processor.");

    /** More folders of plugins, beside the image's own. */
    public static final Setting<List<Path>> PLUGINS_PATH = new Setting<>(
            "plugins.path",
            SettingType.folders(),
            List.of(),
            "More folders of plugins, beside the one that comes with Weft; not accepted from a project file.",
            false);

    /** Whether progress is shown. */
    public static final Setting<String> PROGRESS = new Setting<>(
            "progress",
            SettingType.oneOf("auto", "always", "never"),
            "auto",
            "Whether long work shows its progress; 'auto' shows it on a terminal only.");

    /** Providers that are never loaded. */
    public static final Setting<List<String>> PROVIDERS_DENY = new Setting<>(
            "providers.deny",
            SettingType.names(),
            List.of(),
            "Ids, classes or file names of providers that are never loaded.");

    /** The seed of random data. */
    public static final Setting<Long> RUN_SEED = new Setting<>(
            "run.seed",
            SettingType.wholeNumber(0, Long.MAX_VALUE),
            1L,
            "Seed of random data when --seed is not given.");

    /** Chunks of each shard that schedules are tried with; empty lets the selector decide. */
    public static final Setting<List<Integer>> SCHEDULE_CHUNKS = new Setting<>(
            "schedule.chunks",
            SettingType.wholeNumbers(1, 4096),
            List.of(),
            "Chunks of each shard that schedules are tried with; empty lets the selector decide.");

    /** Streams of each device that schedules are tried with; empty lets the selector decide. */
    public static final Setting<List<Integer>> SCHEDULE_STREAMS = new Setting<>(
            "schedule.streams",
            SettingType.wholeNumbers(1, 64),
            List.of(),
            "Streams of each device that schedules are tried with; empty lets the selector decide.");

    /** Where measured selection keeps what it found. */
    public static final Setting<Optional<Path>> TUNING_FILE = new Setting<>(
            "tuning.file",
            SettingType.file(),
            Optional.empty(),
            "Where measured selection keeps what it found; nothing for the file 'weft/tuning' in the user's cache folder.");

    private static final List<Setting<?>> ALL = List.of(
            DECORATORS,
            METRICS_PORT,
            PLAN_ELEMENT_TYPE,
            PLAN_SELECT,
            PLAN_THREADS,
            PLUGINS_PATH,
            PROGRESS,
            PROVIDERS_DENY,
            RUN_SEED,
            SCHEDULE_CHUNKS,
            SCHEDULE_STREAMS,
            TUNING_FILE);

    private Catalogue() {}

    /** Every setting, by key. */
    public static List<Setting<?>> all() {
        return ALL;
    }

    /** The setting with a key. */
    public static Optional<Setting<?>> find(String key) {
        return ALL.stream().filter(setting -> setting.key().equals(key)).findFirst();
    }
}

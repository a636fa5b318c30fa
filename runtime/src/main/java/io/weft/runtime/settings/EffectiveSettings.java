// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The values that hold, each with its origin. Every value of every layer is checked when it is read, also one that a stronger layer
 * overrides, and an unknown key is refused: nothing that someone wrote is ignored in silence. Immutable and safe for any thread.
 */
public final class EffectiveSettings {
    /** Variables that installers set beside the launcher and that are no settings. */
    private static final List<String> LAUNCHER_VARIABLES = List.of("WEFT_HOME");

    /**
     * One setting as it holds.
     *
     * @param setting which
     * @param value its value
     * @param text its value as text
     * @param origin where it was given
     * @param <T> the value's type
     */
    public record Entry<T>(Setting<T> setting, T value, String text, Origin origin) {}

    private final Map<String, Entry<?>> entries;

    private EffectiveSettings(Map<String, Entry<?>> entries) {
        this.entries = entries;
    }

    /** The built-in defaults alone. */
    public static EffectiveSettings defaults() {
        return combine(new EnumMap<>(Layer.class));
    }

    /**
     * Reads all layers.
     *
     * @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT} naming the place, the key and what would be accepted
     */
    public static EffectiveSettings load(SettingsSources sources) {
        EnumMap<Layer, Map<String, Entry<?>>> layers = new EnumMap<>(Layer.class);
        List<Path> read = new ArrayList<>();
        addFile(Layer.SYSTEM, sources.systemFile(), sources.systemFileRequired(), read, layers);
        addFile(Layer.USER, sources.userFile(), false, read, layers);
        Optional<Path> project = projectFile(sources.workingDirectory());
        if (project.isPresent()) {
            addFile(Layer.PROJECT, project.get(), true, read, layers);
        }
        layers.put(Layer.ENVIRONMENT, environment(sources));
        layers.put(Layer.COMMAND_LINE, commandLine(sources));
        return combine(layers);
    }

    /** The value of a setting. */
    public <T> T value(Setting<T> setting) {
        return entry(setting).value();
    }

    /** A setting with its value and origin. */
    @SuppressWarnings("unchecked") // an entry is stored under the key of its own setting
    public <T> Entry<T> entry(Setting<T> setting) {
        return (Entry<T>) entries.get(setting.key());
    }

    /** Every setting, by key. */
    public List<Entry<?>> entries() {
        return List.copyOf(entries.values());
    }

    private static EffectiveSettings combine(EnumMap<Layer, Map<String, Entry<?>>> layers) {
        Map<String, Entry<?>> effective = new LinkedHashMap<>();
        for (Setting<?> setting : Catalogue.all()) {
            Entry<?> strongest = builtIn(setting);
            for (Map<String, Entry<?>> layer : layers.values()) { // an EnumMap walks from the weakest to the strongest
                strongest = layer.getOrDefault(setting.key(), strongest);
            }
            effective.put(setting.key(), strongest);
        }
        return new EffectiveSettings(effective);
    }

    private static <T> Entry<T> builtIn(Setting<T> setting) {
        return new Entry<>(setting, setting.defaultValue(), setting.defaultText(), Origin.BUILT_IN);
    }

    private static void addFile(
            Layer layer, Path file, boolean required, List<Path> read, Map<Layer, Map<String, Entry<?>>> layers) {
        if ((!required && Files.notExists(file)) || read.contains(file)) {
            return; // a project file that is the user's file is not read twice
        }
        if (required && Files.notExists(file)) {
            throw refusal(file + " does not exist; it was named by -D" + SettingsSources.SYSTEM_FILE_PROPERTY);
        }
        read.add(file);
        Map<String, Entry<?>> entries = new LinkedHashMap<>();
        Map<String, Integer> lines = new LinkedHashMap<>();
        for (SettingsFile.Entry line : SettingsFile.read(file)) {
            String place = file + ":" + line.line();
            Setting<?> setting = Catalogue.find(line.key())
                    .orElseThrow(() -> unknown(
                            place,
                            line.key(),
                            Catalogue.all().stream().map(Setting::key).toList()));
            if (layer == Layer.PROJECT && !setting.projectFile()) {
                throw refusal(place + ": '" + setting.key()
                        + "' is not accepted from a project file, because it makes Weft load code; accepted are the user file, "
                        + setting.variable() + " and -D");
            }
            Integer first = lines.putIfAbsent(setting.key(), line.line());
            if (first != null) {
                throw refusal(place + ": '" + setting.key() + "' was given before, in line " + first);
            }
            entries.put(setting.key(), parse(setting, line.value(), new Origin(layer, place), folderOf(file)));
        }
        layers.put(layer, entries);
    }

    private static Map<String, Entry<?>> environment(SettingsSources sources) {
        Map<String, Entry<?>> entries = new LinkedHashMap<>();
        for (Map.Entry<String, String> variable : sources.environment().entrySet()) {
            String name = variable.getKey();
            if (!name.startsWith("WEFT_") || LAUNCHER_VARIABLES.contains(name)) {
                continue;
            }
            Setting<?> setting = Catalogue.all().stream()
                    .filter(known -> known.variable().equals(name))
                    .findFirst()
                    .orElseThrow(() -> unknown(
                            "environment",
                            name,
                            Catalogue.all().stream().map(Setting::variable).toList()));
            entries.put(
                    setting.key(),
                    parse(
                            setting,
                            variable.getValue(),
                            new Origin(Layer.ENVIRONMENT, name),
                            sources.workingDirectory()));
        }
        return entries;
    }

    private static Map<String, Entry<?>> commandLine(SettingsSources sources) {
        Map<String, Entry<?>> entries = new LinkedHashMap<>();
        sources.commandLine().forEach((key, text) -> {
            Setting<?> setting = Catalogue.find(key)
                    .orElseThrow(() -> unknown(
                            "command line",
                            key,
                            Catalogue.all().stream().map(Setting::key).toList()));
            Origin origin = new Origin(Layer.COMMAND_LINE, "-D " + key);
            entries.put(key, parse(setting, text, origin, sources.workingDirectory()));
        });
        return entries;
    }

    private static <T> Entry<T> parse(Setting<T> setting, String text, Origin origin, Path base) {
        try {
            T value = setting.type().parse(text.strip(), base);
            return new Entry<>(setting, value, setting.type().format(value), origin);
        } catch (IllegalArgumentException failure) { // also NumberFormatException
            String name = origin.place().equals(setting.variable()) ? "" : " '" + setting.key() + "'";
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT,
                    "settings",
                    origin.place() + ":" + name + " cannot be '" + oneLine(text) + "'; accepted is "
                            + setting.accepted(),
                    failure);
        }
    }

    private static AcceleratorException unknown(String place, String name, List<String> known) {
        String advice = NearestName.of(name, known)
                .map(nearest -> "did you mean '" + nearest + "'?")
                .orElse("known are " + String.join(", ", known));
        return refusal(place + ": there is no setting '" + oneLine(name) + "'; " + advice);
    }

    private static AcceleratorException refusal(String message) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "settings", message);
    }

    /** A value in a message stays one short line whatever it holds. */
    private static String oneLine(String text) {
        String line = text.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= 80 ? line : line.substring(0, 80) + "...";
    }

    private static Path folderOf(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        return folder == null ? file.toAbsolutePath() : folder;
    }

    private static Optional<Path> projectFile(Path start) {
        for (Path folder = start.toAbsolutePath(); folder != null; folder = folder.getParent()) {
            Path file = folder.resolve(SettingsSources.FILE_NAME);
            if (!Files.notExists(file)) { // "cannot tell" counts as there, so that it is reported
                return Optional.of(file);
            }
        }
        return Optional.empty();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Where settings are read from.
 *
 * @param systemFile the machine's file
 * @param systemFileRequired whether it is an error when that file is not there, as when someone named it
 * @param userFile the user's file, which may not be there
 * @param workingDirectory where the search for a project file starts, and from which relative paths of variables and the command
 *     line count
 * @param environment the process's variables; only {@code WEFT_*} matters
 * @param commandLine {@code -D key=value} pairs in the order given
 */
public record SettingsSources(
        Path systemFile,
        boolean systemFileRequired,
        Path userFile,
        Path workingDirectory,
        Map<String, String> environment,
        Map<String, String> commandLine) {
    /** Name of a settings file in any folder. */
    public static final String FILE_NAME = "weft.properties";

    /** System property that names another system file. */
    public static final String SYSTEM_FILE_PROPERTY = "weft.settings.system";

    /** Where the system file is by the usual layout of a Unix machine. */
    private static final Path SYSTEM_FILE = Path.of("/etc/weft", FILE_NAME);

    public SettingsSources {
        Objects.requireNonNull(systemFile);
        Objects.requireNonNull(userFile);
        Objects.requireNonNull(workingDirectory);
        environment = Collections.unmodifiableMap(new TreeMap<>(environment));
        commandLine = Collections.unmodifiableMap(new LinkedHashMap<>(commandLine));
    }

    /** What this process was started with. */
    public static SettingsSources ofProcess(Map<String, String> commandLine) {
        String system = System.getProperty(SYSTEM_FILE_PROPERTY);
        return new SettingsSources(
                system == null ? SYSTEM_FILE : Path.of(system).toAbsolutePath(),
                system != null,
                userFile(System.getenv(), Path.of(System.getProperty("user.home"))),
                Path.of("").toAbsolutePath(),
                System.getenv(),
                commandLine);
    }

    /** {@code $XDG_CONFIG_HOME/weft/weft.properties}; as that standard says, a relative or empty value counts as unset. */
    static Path userFile(Map<String, String> environment, Path home) {
        String base = environment.getOrDefault("XDG_CONFIG_HOME", "");
        Path folder = base.startsWith("/") ? Path.of(base) : home.resolve(".config");
        return folder.resolve("weft").resolve(FILE_NAME);
    }
}

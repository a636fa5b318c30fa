// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The files of a machine: this one's, or those captured from another one into a folder, laid out as below its root. Reading is bounded, and what cannot be read is absent: a check
 * then says that it could not look. Safe for any thread.
 *
 * <p>Environments are those of processes: this one's variables when live, and every readable {@code proc/PID/environ}. A captured folder may also hold {@code environment.txt} or
 * several {@code environment-NAME.txt}, with a {@code NAME=VALUE} on each line, as {@code env} prints them.
 */
public final class HostFiles {
    /** Bytes of a file that are read; what checks look at is far smaller. */
    public static final int MAX_BYTES = 1 << 20;

    /** Entries of a folder that are listed. */
    public static final int MAX_ENTRIES = 65_536;

    private final Path root;
    private final Path real;
    private final boolean live;
    private final Map<String, String> own;

    private HostFiles(Path root, Path real, boolean live, Map<String, String> own) {
        this.root = root;
        this.real = real;
        this.live = live;
        this.own = Map.copyOf(own);
    }

    /** This machine and this process's environment. */
    public static HostFiles live() {
        return new HostFiles(Path.of("/"), Path.of("/"), true, System.getenv());
    }

    /**
     * Captured files.
     *
     * @throws AcceleratorException BAD_DOCUMENT when it is no folder
     */
    public static HostFiles captured(Path root) {
        if (!Files.isDirectory(root)) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT,
                    "captured files",
                    root + (Files.exists(root) ? " is a file" : " does not exist")
                            + "; accepted is a folder with a machine's files as below its root, such as sys/ and proc/");
        }
        try {
            return new HostFiles(root, root.toRealPath(), false, Map.of());
        } catch (IOException unreadable) {
            throw new AcceleratorException(
                    ErrorCode.BAD_DOCUMENT, "captured files", root + " cannot be read: " + unreadable.getMessage());
        }
    }

    /** Where the files are. */
    public Path root() {
        return root;
    }

    /** Whether this is the running machine. Permissions mean something only then. */
    public boolean isLive() {
        return live;
    }

    /** A file's place below the root, for messages. */
    public Path path(String relative) {
        return root.resolve(relative);
    }

    /** The place where links end; empty when there is nothing, or when a link of a captured folder leads out of it, to files of the wrong machine. */
    public Optional<Path> real(String relative) {
        try {
            Path place = root.resolve(relative).toRealPath();
            return Optional.of(place).filter(found -> found.startsWith(real));
        } catch (IOException | SecurityException | InvalidPathException absent) {
            return Optional.empty();
        }
    }

    /** Whether a file or folder is there. */
    public boolean exists(String relative) {
        return real(relative).isPresent();
    }

    /** A file's text without white space around it, cut at {@link #MAX_BYTES}; empty when it cannot be read. */
    public Optional<String> text(String relative) {
        return raw(relative).map(text -> text.replace('\0', ' ').strip());
    }

    /** Names in a folder in order, numbers by value; none when it cannot be read. */
    public List<String> list(String relative) {
        Optional<Path> folder = real(relative).filter(Files::isDirectory);
        if (folder.isEmpty()) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder.get())) {
            return entries.limit(MAX_ENTRIES)
                    .map(entry -> entry.getFileName().toString())
                    .sorted(HostFiles::byNumberThenName)
                    .toList();
        } catch (IOException | java.io.UncheckedIOException | SecurityException unreadable) {
            return List.of();
        }
    }

    private static int byNumberThenName(String a, String b) {
        boolean numbers = a.matches("\\d{1,18}") && b.matches("\\d{1,18}");
        return numbers ? Long.compare(Long.parseLong(a), Long.parseLong(b)) : a.compareTo(b);
    }

    /**
     * An environment and whose it is.
     *
     * @param owner this process, a process number, or the name of a captured one
     * @param variables by name
     */
    public record Environment(String owner, Map<String, String> variables) {
        public Environment {
            variables = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(variables));
        }

        /** A variable's value, empty when it is not set. */
        public Optional<String> value(String name) {
            return Optional.ofNullable(variables.get(name));
        }
    }

    /** Every environment that can be read, this process's or {@code environment.txt} first. */
    public List<Environment> environments() {
        List<Environment> found = new ArrayList<>();
        if (live) {
            found.add(new Environment("this process", own));
        } else {
            for (String name : list("")) {
                if (name.equals("environment.txt")) {
                    raw(name).ifPresent(text -> found.addFirst(new Environment(name, variables(text, "\\R"))));
                } else if (name.matches("environment-.+\\.txt")) {
                    raw(name).ifPresent(text -> found.add(new Environment(name, variables(text, "\\R"))));
                }
            }
        }
        String self = Long.toString(ProcessHandle.current().pid());
        for (String pid : list("proc")) {
            if (pid.matches("\\d+") && !(live && pid.equals(self))) {
                raw("proc/" + pid + "/environ")
                        .filter(text -> !text.isBlank())
                        .ifPresent(text -> found.add(new Environment("process " + pid, variables(text, "\\x00|\\R"))));
            }
        }
        return found;
    }

    private static Map<String, String> variables(String text, String separator) {
        Map<String, String> variables = new LinkedHashMap<>();
        for (String line : text.split(separator, -1)) {
            String entry = line.strip().replaceFirst("^(export|declare -x)\\s+", "");
            int equals = entry.indexOf('=');
            if (equals > 0) {
                String value = entry.substring(equals + 1);
                if (value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"")) {
                    value = value.substring(1, value.length() - 1);
                }
                variables.put(entry.substring(0, equals), value);
            }
        }
        return variables;
    }

    private Optional<String> raw(String relative) {
        // A device or pipe could block for ever; files of proc and sys count as regular ones.
        Optional<Path> file = real(relative).filter(Files::isRegularFile);
        if (file.isEmpty()) {
            return Optional.empty();
        }
        try (InputStream in = Files.newInputStream(file.get())) {
            return Optional.of(new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8));
        } catch (IOException | SecurityException unreadable) {
            return Optional.empty();
        }
    }
}

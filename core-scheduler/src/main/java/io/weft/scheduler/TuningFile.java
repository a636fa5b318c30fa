// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import io.weft.api.AcceleratorException;
import io.weft.api.Device;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * What was found by measuring, kept over processes: one line for each problem and for each product, under the platform on which it was measured. A platform is its devices, its machine's name, and the versions of driver and libraries; when any of
 * these changes, nothing of the old is used.
 *
 * <p><b>Safety.</b> A file is written beside and moved into place, so a reader sees the old one or the new one, and a process that is killed leaves the old one. Writers take a lock and take over what others have written since. Every line
 * has a checksum; a damaged line is left out and told once. A file that is no tuning file is refused and never written over.
 *
 * <p>Safe for any thread.
 */
public final class TuningFile {
    private static final String HEADER = "weft tuning file, format 1";
    private static final long MOST_BYTES = 64L << 20;
    private static final int PLATFORM_FIELDS = 3;
    private static final int ENTRY_FIELDS = 5;
    private static final int CHECKED_FROM = 1;

    /**
     * Measured times of one problem.
     *
     * @param date when, ISO 8601
     * @param us times by schedule's text form, fastest first; the choice is the first unless {@code choice} says otherwise
     * @param choice the schedule in use, which hysteresis may have kept although another is a little faster
     */
    record Entry(String date, Map<Schedule, Double> us, Schedule choice) {
        Entry {
            us = Collections.unmodifiableMap(new java.util.LinkedHashMap<>(us));
        }
    }

    private record Key(String kind, String platform, String subject) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            int byKind = kind.compareTo(other.kind);
            int byPlatform = byKind != 0 ? byKind : platform.compareTo(other.platform);
            return byPlatform != 0 ? byPlatform : subject.compareTo(other.subject);
        }
    }

    private record Line(String date, String value) {}

    private static final String PROBLEM = "problem";
    private static final String GEMM = "gemm";

    /** A process may not lock a file that it has locked already, so its threads take turns before they do. */
    private static final Object IN_PROCESS = new Object();

    private final Path path;
    private final boolean required;
    private final Consumer<String> warnings;
    private final Map<String, String> platforms = new TreeMap<>();
    private final Map<Key, Line> lines = new TreeMap<>();
    private boolean warned;
    private boolean unwritable;

    private TuningFile(Path path, boolean required, Consumer<String> warnings) {
        this.path = path;
        this.required = required;
        this.warnings = warnings;
    }

    /**
     * Opens a file, which need not exist yet.
     *
     * @param warnings hears in one line of damaged lines that are left out
     * @throws AcceleratorException BAD_DOCUMENT when it is no tuning file, or cannot be read
     */
    public static TuningFile open(Path path, Consumer<String> warnings) {
        return open(path, true, warnings);
    }

    /** The same; one that is not required and cannot be written is told of once, and what was found lasts as long as the process. */
    public static TuningFile open(Path path, boolean required, Consumer<String> warnings) {
        TuningFile file = new TuningFile(path, required, warnings);
        file.load();
        return file;
    }

    /** Nothing kept: for one process only. */
    public static TuningFile inMemory() {
        return new TuningFile(null, false, warning -> {});
    }

    /** The platform as the file knows it: what must be the same for times to hold. */
    public static String platform(Platform platform) {
        StringBuilder text = new StringBuilder(platform.figures().label())
                .append(' ')
                .append(platform.uri().provider())
                .append(' ')
                .append(platform.properties().machine());
        String last = "";
        int same = 0;
        for (Device device : platform.devices()) {
            String name =
                    device.properties().name() + " (" + device.properties().architecture() + ")";
            if (!name.equals(last)) {
                text.append(same > 1 ? " x" + same : "").append(", ").append(name);
                same = 0;
            }
            last = name;
            same++;
        }
        text.append(same > 1 ? " x" + same : "");
        platform.properties()
                .versions()
                .forEach((name, version) ->
                        text.append(", ").append(name).append(' ').append(version));
        return plain(text.toString());
    }

    // Asking.

    synchronized Optional<Entry> problem(String platform, OverlapProblem problem) {
        Line line = lines.get(new Key(PROBLEM, id(platform), problem.toString()));
        if (line == null) {
            return Optional.empty();
        }
        try {
            Map<Schedule, Double> us = new java.util.LinkedHashMap<>();
            Schedule choice = null;
            for (String part : line.value().split(";", -1)) {
                boolean chosen = part.startsWith("*");
                int colon = part.lastIndexOf(':');
                Schedule schedule = Schedule.parse(part.substring(chosen ? 1 : 0, colon));
                double time = Double.parseDouble(part.substring(colon + 1));
                if (!(time > 0) || Double.isInfinite(time)) {
                    return Optional.empty();
                }
                us.put(schedule, time);
                choice = chosen ? schedule : choice;
            }
            boolean whole = choice != null && us.containsKey(Schedule.serial());
            return whole ? Optional.of(new Entry(line.date(), us, choice)) : Optional.empty();
        } catch (AcceleratorException | IllegalArgumentException | IndexOutOfBoundsException unknown) {
            // Written by a version that knows other schedules: measured anew.
            return Optional.empty();
        }
    }

    synchronized Optional<String> gemm(String platform, String shape) {
        return Optional.ofNullable(lines.get(new Key(GEMM, id(platform), shape)))
                .map(Line::value);
    }

    /** Number of problems kept for a platform. */
    public synchronized int problems(String platform) {
        String id = id(platform);
        return (int) lines.keySet().stream()
                .filter(key -> key.kind().equals(PROBLEM) && key.platform().equals(id))
                .count();
    }

    // Telling.

    synchronized void put(String platform, OverlapProblem problem, Entry entry) {
        StringBuilder value = new StringBuilder();
        entry.us()
                .forEach((schedule, us) -> value.append(value.isEmpty() ? "" : ";")
                        .append(schedule.equals(entry.choice()) ? "*" : "")
                        .append(schedule)
                        .append(':')
                        .append(String.format(Locale.ROOT, "%.3f", us)));
        put(new Key(PROBLEM, id(platform), problem.toString()), platform, new Line(entry.date(), value.toString()));
    }

    synchronized void putGemm(String platform, String shape, String variant, String date) {
        put(new Key(GEMM, id(platform), shape), platform, new Line(date, plain(variant)));
    }

    private void put(Key key, String platform, Line line) {
        lines.put(key, line);
        platforms.put(key.platform(), platform);
        if (path != null && !unwritable) {
            save(key);
        }
    }

    /** A short name of a platform, the same in every process. */
    private static String id(String platform) {
        CRC32C crc = new CRC32C();
        crc.update(platform.getBytes(StandardCharsets.UTF_8));
        return String.format(Locale.ROOT, "%08x%04x", crc.getValue(), platform.length() & 0xFFFF);
    }

    private static String plain(String text) {
        return text.replaceAll("[\\p{Cntrl}]+", " ").strip();
    }

    // The file.

    private void load() {
        String text = text();
        if (text.isEmpty()) {
            return;
        }
        List<String> all = text.lines().toList();
        if (!all.getFirst().equals(HEADER)) {
            String found = all.getFirst().length() > 40 ? all.getFirst().substring(0, 40) + "..." : all.getFirst();
            throw refusal(
                    "is no tuning file: it begins with '" + plain(found) + "' and not with '" + HEADER
                            + "'; name another file or delete this one",
                    null);
        }
        int damaged = 0;
        int first = 0;
        Map<Key, Line> read = new TreeMap<>();
        for (int i = 1; i < all.size(); i++) {
            if (!all.get(i).isBlank() && !all.get(i).startsWith("#") && !take(all.get(i), read)) {
                first = damaged++ == 0 ? i + 1 : first;
            }
        }
        // A line whose platform is lost cannot be told from one of another platform.
        read.keySet().removeIf(key -> !platforms.containsKey(key.platform()));
        lines.putAll(read);
        if (damaged > 0 && !warned) {
            warned = true;
            warnings.accept(path + ":" + first + ": damaged; " + damaged + (damaged == 1 ? " line is" : " lines are")
                    + " left out and measured anew");
        }
    }

    private boolean take(String line, Map<Key, Line> read) {
        String[] fields = line.split("\t", -1);
        int checksum = fields.length - 1;
        if (checksum < CHECKED_FROM
                || !fields[checksum].equals(
                        checksum(line.substring(0, line.length() - fields[checksum].length() - 1)))) {
            return false;
        }
        if (fields[0].equals("platform") && fields.length == PLATFORM_FIELDS + 1) {
            boolean named = fields[1].equals(id(fields[2]));
            if (named) {
                platforms.put(fields[1], fields[2]);
            }
            return named;
        }
        boolean known = fields[0].equals(PROBLEM) || fields[0].equals(GEMM);
        if (known && fields.length == ENTRY_FIELDS + 1) {
            read.put(new Key(fields[0], fields[1], fields[2]), new Line(fields[3], fields[4]));
            return true;
        }
        return false;
    }

    private static String checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return String.format(Locale.ROOT, "%08x", crc.getValue());
    }

    private String text() {
        try {
            if (Files.isDirectory(path)) {
                throw refusal("is a directory; accepted is a tuning file or a name that is free", null);
            }
            byte[] bytes = Files.readAllBytes(path);
            if (bytes.length > MOST_BYTES) {
                throw refusal("has more than 64 MiB and is no tuning file", null);
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(java.nio.ByteBuffer.wrap(bytes))
                    .toString();
        } catch (NoSuchFileException missing) {
            return "";
        } catch (CharacterCodingException wrong) {
            throw refusal("is no tuning file: it is not UTF-8 text; name another file or delete this one", wrong);
        } catch (AccessDeniedException denied) {
            throw refusal("cannot be read: permission denied", denied);
        } catch (IOException failure) {
            if (required) {
                throw refusal("cannot be read: " + failure.getMessage(), failure);
            }
            unwritable = true;
            warnings.accept(
                    path + " cannot be read: " + failure.getMessage() + "; what is measured is forgotten at the end");
            return "";
        }
    }

    /** Takes over what others have written since, and writes everything with one line that is ours. */
    private void save(Key ours) {
        Line line = lines.get(ours);
        String platform = platforms.get(ours.platform());
        try {
            Path folder = path.toAbsolutePath().getParent();
            Files.createDirectories(folder);
            Path lock = folder.resolve("." + path.getFileName() + ".lock");
            synchronized (IN_PROCESS) {
                try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                        FileLock held = channel.lock()) {
                    if (held.isValid()) {
                        load();
                    }
                    lines.put(ours, line);
                    platforms.put(ours.platform(), platform);
                    replace(folder);
                }
            }
        } catch (IOException failure) {
            String why = "cannot be written: "
                    + (failure instanceof AccessDeniedException ? "permission denied" : failure.getMessage());
            if (required) {
                throw refusal(why, failure);
            }
            unwritable = true;
            warnings.accept(path + " " + why + "; what is measured is forgotten at the end");
        }
    }

    private void replace(Path folder) throws IOException {
        Path beside = folder.resolve(
                "." + path.getFileName() + "." + ProcessHandle.current().pid() + ".part");
        try {
            Files.write(beside, content().getBytes(StandardCharsets.UTF_8));
            Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(beside);
        }
    }

    private String content() {
        List<String> out = new ArrayList<>();
        out.add(HEADER);
        out.add("# Times that 'measured' selection found; delete the file to measure anew.");
        platforms.forEach((id, text) -> out.add(checked("platform\t" + id + "\t" + text)));
        lines.forEach((key, line) -> out.add(checked(
                key.kind() + "\t" + key.platform() + "\t" + key.subject() + "\t" + line.date() + "\t" + line.value())));
        return String.join("\n", out) + "\n";
    }

    private static String checked(String line) {
        return line + "\t" + checksum(line);
    }

    private AcceleratorException refusal(String what, Throwable cause) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "tuning", path + " " + what, cause);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import java.io.File;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How the text of a setting becomes a value. Immutable and safe for any thread.
 *
 * @param <T> the value's type
 */
public sealed interface SettingType<T> {
    /** What is accepted, as the end of the sentence "accepted is ...". */
    String accepted();

    /**
     * Reads a value.
     *
     * @param text as given, without surrounding blanks
     * @param base the folder from which relative paths count
     * @throws IllegalArgumentException when the text is not accepted; the caller adds key, place and {@link #accepted()}
     */
    T parse(String text, Path base);

    /** The text of a value, which {@link #parse} reads back. */
    String format(T value);

    /** A whole number within bounds. */
    static SettingType<Long> wholeNumber(long least, long most) {
        return new WholeNumber(least, most);
    }

    /** One of some words. */
    static SettingType<String> oneOf(String... words) {
        return new OneOf(List.of(words));
    }

    /** Yes or no. */
    static SettingType<Boolean> yesOrNo() {
        return new YesOrNo();
    }

    /** An element type by its label. */
    static SettingType<ElementType> elementType() {
        return new ElementTypeName();
    }

    /** Names between commas. */
    static SettingType<List<String>> names() {
        return new Names();
    }

    /** Whole numbers within bounds, between commas, each once. */
    static SettingType<List<Integer>> wholeNumbers(int least, int most) {
        return new WholeNumbers(least, most);
    }

    /** A file, which need not exist; nothing for none. */
    static SettingType<Optional<Path>> file() {
        return new AnyFile();
    }

    /** Existing folders between path separators. */
    static SettingType<List<Path>> folders() {
        return new Folders();
    }

    /** A whole number within bounds. */
    record WholeNumber(long least, long most) implements SettingType<Long> {
        @Override
        public String accepted() {
            return most == Long.MAX_VALUE
                    ? "a whole number from " + least
                    : "a whole number from " + least + " to " + most;
        }

        @Override
        public Long parse(String text, Path base) {
            long value = Long.parseLong(text);
            if (value < least || value > most) {
                throw new IllegalArgumentException(text);
            }
            return value;
        }

        @Override
        public String format(Long value) {
            return value.toString();
        }
    }

    /** One of some words. */
    record OneOf(List<String> words) implements SettingType<String> {
        @Override
        public String accepted() {
            return words.stream().map(word -> "'" + word + "'").collect(Collectors.joining(", ", "one of ", ""));
        }

        @Override
        public String parse(String text, Path base) {
            String word = text.toLowerCase(Locale.ROOT);
            if (!words.contains(word)) {
                throw new IllegalArgumentException(text);
            }
            return word;
        }

        @Override
        public String format(String value) {
            return value;
        }
    }

    /** Yes or no. */
    record YesOrNo() implements SettingType<Boolean> {
        @Override
        public String accepted() {
            return "'true' or 'false'";
        }

        @Override
        public Boolean parse(String text, Path base) {
            return switch (text.toLowerCase(Locale.ROOT)) {
                case "true", "yes", "on" -> true;
                case "false", "no", "off" -> false;
                default -> throw new IllegalArgumentException(text);
            };
        }

        @Override
        public String format(Boolean value) {
            return value.toString();
        }
    }

    /** An element type. */
    record ElementTypeName() implements SettingType<ElementType> {
        @Override
        public String accepted() {
            return Arrays.stream(ElementType.values())
                    .map(ElementType::label)
                    .collect(Collectors.joining(", ", "one of ", ""));
        }

        @Override
        public ElementType parse(String text, Path base) {
            try {
                return ElementType.parse(text);
            } catch (AcceleratorException refusal) {
                throw new IllegalArgumentException(text, refusal);
            }
        }

        @Override
        public String format(ElementType value) {
            return value.label();
        }
    }

    /** Names between commas. */
    record Names() implements SettingType<List<String>> {
        @Override
        public String accepted() {
            return "names between commas, each once";
        }

        @Override
        public List<String> parse(String text, Path base) {
            return List.copyOf(parts(text));
        }

        @Override
        public String format(List<String> value) {
            return String.join(",", value);
        }
    }

    /** Whole numbers between commas. */
    record WholeNumbers(int least, int most) implements SettingType<List<Integer>> {
        @Override
        public String accepted() {
            return "whole numbers from " + least + " to " + most + " between commas, each once";
        }

        @Override
        public List<Integer> parse(String text, Path base) {
            List<Integer> values = new ArrayList<>();
            for (String part : parts(text)) {
                int value = Integer.parseInt(part);
                if (value < least || value > most || values.contains(value)) {
                    throw new IllegalArgumentException(part);
                }
                values.add(value);
            }
            return List.copyOf(values);
        }

        @Override
        public String format(List<Integer> value) {
            return value.stream().map(String::valueOf).collect(Collectors.joining(","));
        }
    }

    /** A file, which need not exist. */
    record AnyFile() implements SettingType<Optional<Path>> {
        @Override
        public String accepted() {
            return "a file's name, or nothing";
        }

        @Override
        public Optional<Path> parse(String text, Path base) {
            try {
                return text.isEmpty() ? Optional.empty() : Optional.of(base.resolve(text));
            } catch (InvalidPathException noPath) {
                throw new IllegalArgumentException(text, noPath);
            }
        }

        @Override
        public String format(Optional<Path> value) {
            return value.map(Path::toString).orElse("");
        }
    }

    /** Existing folders. */
    record Folders() implements SettingType<List<Path>> {
        @Override
        public String accepted() {
            return "existing folders with '" + File.pathSeparator + "' between them";
        }

        @Override
        public List<Path> parse(String text, Path base) {
            List<Path> folders = new ArrayList<>();
            if (text.isEmpty()) {
                return List.of();
            }
            for (String part : text.split(File.pathSeparator, -1)) {
                folders.add(folder(part.strip(), base));
            }
            return List.copyOf(folders);
        }

        @Override
        public String format(List<Path> value) {
            return value.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        }

        private static Path folder(String text, Path base) {
            try {
                Path folder = base.resolve(text).normalize();
                if (text.isEmpty() || !java.nio.file.Files.isDirectory(folder)) {
                    throw new IllegalArgumentException(text);
                }
                return folder;
            } catch (InvalidPathException refusal) {
                throw new IllegalArgumentException(text, refusal);
            }
        }
    }

    private static Set<String> parts(String text) {
        Set<String> parts = new LinkedHashSet<>();
        if (text.isEmpty()) {
            return parts; // an empty list, as a stronger layer may wish
        }
        for (String part : text.split(",", -1)) {
            if (part.isBlank() || !parts.add(part.strip())) {
                throw new IllegalArgumentException(text);
            }
        }
        return parts;
    }
}

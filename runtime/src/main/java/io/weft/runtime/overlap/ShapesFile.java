// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.overlap;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.scheduler.OverlapProblem;
import io.weft.scheduler.Pattern;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Shapes to be timed, one a line: {@code M,N,K}, or a pattern before it ({@code all-gather-gemm 8192,5120,8192}) when it is meant for that pattern only. M counts the rows over all ranks, N and K what one device multiplies. What follows a
 * {@code #} is a name for people.
 */
public final class ShapesFile {
    private static final String SHIPPED = "overlap-shapes.txt";
    private static final long MOST_BYTES = 1 << 20;
    private static final int NUMBERS = 3;

    /**
     * One line.
     *
     * @param pattern the only pattern that it is meant for; empty for all
     * @param m rows over all ranks
     * @param n columns that one device multiplies
     * @param k length of the inner sum on one device
     * @param name for people; may be empty
     */
    public record Shape(Optional<Pattern> pattern, long m, long n, long k, String name) {
        /** Whether a problem has this shape. */
        boolean isOf(OverlapProblem problem) {
            return pattern.orElse(problem.pattern()) == problem.pattern()
                    && m == problem.m()
                    && n == problem.n()
                    && k == problem.k();
        }

        /** The shape as it is written, without its name. */
        String text() {
            return pattern.map(only -> only + " ").orElse("") + m + "," + n + "," + k;
        }
    }

    private ShapesFile() {}

    /** The shapes that ship with Weft: those of its own published figures, and the layers of two models of 70 thousand million weights on two devices. */
    public static List<Shape> shipped() {
        try (InputStream in = ShapesFile.class.getResourceAsStream(SHIPPED)) {
            return parse(SHIPPED, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * Reads a file.
     *
     * @throws AcceleratorException BAD_DOCUMENT with file, line, what was found and what is accepted
     */
    public static List<Shape> read(Path file) {
        try {
            if (Files.isDirectory(file)) {
                throw refusal(file + " is a directory; accepted is a file with one M,N,K a line", null);
            }
            if (Files.size(file) > MOST_BYTES) {
                throw refusal(file + " has more than 1 MiB; accepted is a file with one M,N,K a line", null);
            }
            return parse(file.toString(), Files.readString(file));
        } catch (NoSuchFileException failure) {
            throw refusal(file + " does not exist", failure);
        } catch (MalformedInputException failure) {
            throw refusal(file + " is not UTF-8 text; accepted is a file with one M,N,K a line", failure);
        } catch (IOException failure) {
            throw refusal(file + " cannot be read: " + failure.getMessage(), failure);
        }
    }

    /**
     * Reads shapes that were given one by one, which may be none.
     *
     * @param option what messages call them
     */
    public static List<Shape> parse(String option, List<String> given) {
        return given.isEmpty() ? List.of() : parse(option, String.join("\n", given));
    }

    /**
     * Reads lines that stand somewhere else than in a file.
     *
     * @param place what messages call it
     */
    public static List<Shape> parse(String place, String text) {
        List<Shape> shapes = new ArrayList<>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            int hash = line.indexOf('#');
            String shape = (hash < 0 ? line : line.substring(0, hash)).strip();
            String name = hash < 0 ? "" : line.substring(hash + 1).strip();
            if (!shape.isEmpty()) {
                shapes.add(shape(place + ":" + number, shape, name));
            }
        }
        if (shapes.isEmpty()) {
            throw refusal(place + " holds no shape; accepted is one M,N,K a line", null);
        }
        return shapes;
    }

    private static Shape shape(String at, String text, String name) {
        String numbers = text;
        Optional<Pattern> pattern = Optional.empty();
        if (Character.isLetter(text.charAt(0))) {
            int space = text.indexOf(' ');
            String first = space < 0 ? text : text.substring(0, space);
            try {
                pattern = Optional.of(Pattern.parse(first));
            } catch (AcceleratorException unknown) {
                throw refusal(at + ": " + unknown.detail(), unknown);
            }
            numbers = space < 0 ? "" : text.substring(space + 1);
        }
        String[] parts = numbers.split(",", -1);
        long[] values = new long[NUMBERS];
        boolean good = parts.length == NUMBERS;
        for (int i = 0; good && i < NUMBERS; i++) {
            try {
                values[i] = Long.parseLong(parts[i].strip());
                good = values[i] > 0;
            } catch (NumberFormatException notANumber) {
                good = false;
            }
        }
        if (!good) {
            throw refusal(at + ": '" + text + "' is no shape; accepted is M,N,K such as 8192,5120,8192", null);
        }
        return new Shape(pattern, values[0], values[1], values[2], name);
    }

    private static AcceleratorException refusal(String what, Throwable cause) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "shapes", what, cause);
    }
}

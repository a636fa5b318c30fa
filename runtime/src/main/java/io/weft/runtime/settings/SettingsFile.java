// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.configuration2.PropertiesConfiguration;
import org.apache.commons.configuration2.PropertiesConfiguration.PropertiesReader;
import org.apache.commons.configuration2.ex.ConfigurationException;
import org.apache.commons.configuration2.ex.ConfigurationRuntimeException;

/** Reads one settings file: UTF-8 text in the form of Java properties, without includes and without interpolation. */
final class SettingsFile {
    /** Far above any real file; keeps a mistaken path to a huge file from filling memory. */
    private static final long MOST_BYTES = 1 << 20;

    /** One {@code key = value} and the line where it starts, from 1. */
    record Entry(String key, String value, int line) {}

    private SettingsFile() {}

    /**
     * Reads every entry in the order of the file.
     *
     * @throws AcceleratorException {@link ErrorCode#BAD_DOCUMENT}
     */
    static List<Entry> read(Path file) {
        String text = text(file);
        List<Entry> entries = new ArrayList<>();
        PropertiesConfiguration properties = new PropertiesConfiguration();
        properties.setIncludesAllowed(false); // an included file would have no place in the layers
        properties.setIOFactory(new PropertiesConfiguration.DefaultIOFactory() {
            @Override
            public PropertiesReader createPropertiesReader(Reader in) {
                return new NumberedReader(in, entries);
            }
        });
        try {
            properties.read(new StringReader(text));
        } catch (ConfigurationException | ConfigurationRuntimeException | IOException failure) {
            throw refusal(file.toString(), "cannot be read as lines 'key = value': " + firstLine(failure), failure);
        }
        return entries;
    }

    /** Keeps the entries with their lines, which the configuration itself forgets. */
    private static final class NumberedReader extends PropertiesReader {
        private final List<Entry> entries;

        NumberedReader(Reader in, List<Entry> entries) {
            super(in);
            this.entries = entries;
        }

        @Override
        public boolean nextProperty() throws IOException {
            int before = getLineNumber();
            boolean found = super.nextProperty();
            if (found) {
                int line = before + getCommentLines().size() + 1;
                entries.add(new Entry(getPropertyName(), getPropertyValue(), line));
            }
            return found;
        }
    }

    private static String text(Path file) {
        byte[] bytes = bytes(file);
        String text;
        try {
            CharBuffer decoded = StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes));
            text = decoded.toString();
        } catch (CharacterCodingException failure) {
            throw refusal(file.toString(), "is not UTF-8 text; accepted are lines 'key = value' in UTF-8", failure);
        }
        int line = 1;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n') {
                line++;
            } else if (c < ' ' && c != '\t' && c != '\r' && c != '\f') {
                throw refusal(
                        file + ":" + line,
                        "is not text (character 0x%02x); accepted are lines 'key = value' in UTF-8".formatted((int) c),
                        null);
            }
        }
        return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    private static byte[] bytes(Path file) {
        if (Files.isDirectory(file)) {
            throw refusal(file.toString(), "is a directory; accepted is a file with lines 'key = value'", null);
        }
        try {
            long size = Files.size(file);
            if (size > MOST_BYTES) {
                throw refusal(file.toString(), "has " + size + " bytes; a settings file may have " + MOST_BYTES, null);
            }
            return Files.readAllBytes(file);
        } catch (AccessDeniedException failure) {
            throw refusal(file.toString(), "cannot be read: permission denied", failure);
        } catch (IOException failure) {
            throw refusal(file.toString(), "cannot be read: " + firstLine(failure), failure);
        }
    }

    private static String firstLine(Exception failure) {
        String message = failure.getMessage();
        return message == null
                ? failure.getClass().getSimpleName()
                : message.lines().findFirst().orElse("");
    }

    private static AcceleratorException refusal(String place, String what, Throwable cause) {
        return new AcceleratorException(ErrorCode.BAD_DOCUMENT, "settings", place + " " + what, cause);
    }
}

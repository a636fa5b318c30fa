// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.Capability;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * What a plugin's owner says about rules that do not hold: capabilities that the plugin will never have, and known failures, each with a reason, an issue, the devices or
 * drivers that it holds for, and a day on which it ends.
 *
 * @param unsupported capabilities that are missing for good
 * @param knownFailures rules that are broken for now
 */
public record Waivers(List<Unsupported> unsupported, List<KnownFailure> knownFailures) {
    /** Nothing is waived. */
    public static final Waivers NONE = new Waivers(List.of(), List.of());

    public Waivers {
        unsupported = List.copyOf(unsupported);
        knownFailures = List.copyOf(knownFailures);
    }

    /**
     * A capability that the plugin does not have.
     *
     * @param capability which; the platform must not declare it
     * @param reason why
     */
    public record Unsupported(Capability capability, String reason) {}

    /**
     * A rule that is known to be broken.
     *
     * @param rule its id
     * @param reason why
     * @param issue where it is followed up
     * @param device pattern over a device's name or architecture; matches when any device does
     * @param driver pattern over {@code name=version} of the platform's versions; matches when any version does
     * @param expires the last day on which it counts
     */
    public record KnownFailure(
            String rule, String reason, String issue, Pattern device, Pattern driver, LocalDate expires) {
        boolean isExpired(LocalDate today) {
            return today.isAfter(expires);
        }

        boolean matches(Environment environment) {
            boolean anyDevice = environment.devices().stream()
                    .anyMatch(name -> device.matcher(name).find());
            boolean anyDriver = driver.pattern().isEmpty()
                    || environment.versions().entrySet().stream()
                            .anyMatch(entry -> driver.matcher(entry.getKey() + "=" + entry.getValue())
                                    .find());
            return anyDevice && anyDriver;
        }
    }

    /**
     * Reads a waiver file.
     *
     * @throws UnusableInput naming the file, the entry, and what would be accepted
     */
    public static Waivers read(Path file, Catalogue catalogue) {
        try {
            return parse(file.toString(), Files.readString(file), catalogue);
        } catch (NoSuchFileException missing) {
            throw new UnusableInput("waivers: there is no file " + file, missing);
        } catch (CharacterCodingException binary) {
            throw new UnusableInput("waivers: " + file + " is no UTF-8 text", binary);
        } catch (IOException broken) {
            throw new UnusableInput("waivers: " + file + " cannot be read: " + broken.getMessage(), broken);
        }
    }

    /** Reads waivers from a text. */
    static Waivers parse(String name, String text, Catalogue catalogue) {
        Document document = Document.parse(name, text);
        List<Unsupported> unsupported = new ArrayList<>();
        for (Document entry : document.documents("unsupported")) {
            unsupported.add(new Unsupported(
                    entry.constant("capability", Capability.class, UnaryOperator.identity()), entry.text("reason")));
            entry.refuseOthers();
        }
        Map<String, KnownFailure> failures = new LinkedHashMap<>();
        for (Document entry : document.documents("known-failures")) {
            KnownFailure failure = new KnownFailure(
                    rule(entry, catalogue),
                    entry.text("reason"),
                    entry.text("issue"),
                    pattern(entry, "device"),
                    pattern(entry, "driver"),
                    day(entry));
            entry.refuseOthers();
            if (failure.device().pattern().isEmpty()
                    && failure.driver().pattern().isEmpty()) {
                throw new UnusableInput(entry.place()
                        + ": 'device' or 'driver' must say where " + failure.rule()
                        + " fails, as a regular expression; '.' stands for everywhere");
            }
            if (failures.put(failure.rule(), failure) != null) {
                throw new UnusableInput(entry.place() + ": " + failure.rule() + " is waived twice");
            }
        }
        document.refuseOthers();
        return new Waivers(unsupported, List.copyOf(failures.values()));
    }

    private static String rule(Document entry, Catalogue catalogue) {
        String id = entry.text("rule");
        try {
            return catalogue.rule(id).id();
        } catch (UnusableInput unknown) {
            throw new UnusableInput(entry.place() + ": " + unknown.getMessage(), unknown);
        }
    }

    private static Pattern pattern(Document entry, String key) {
        String text = entry.text(key, "");
        try {
            return Pattern.compile(text);
        } catch (PatternSyntaxException broken) {
            throw new UnusableInput(
                    entry.place() + ": '" + key + "' is no regular expression: " + broken.getDescription(), broken);
        }
    }

    private static LocalDate day(Document entry) {
        String text = entry.text("expires");
        try {
            return LocalDate.parse(text);
        } catch (DateTimeParseException broken) {
            throw new UnusableInput(
                    entry.place() + ": 'expires' is '" + text + "'; a day such as 2027-01-31 is expected", broken);
        }
    }
}

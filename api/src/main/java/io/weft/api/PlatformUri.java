// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Names a platform: {@code provider:target[?key=value[&key=value]]}, such as {@code sim:mesh-8}, {@code sim:file=machine.yaml} or
 * {@code sim:mesh-8?mode=timing}.
 *
 * @param provider id of the provider
 * @param target what the provider shall open; may itself be {@code key=value}, as in {@code file=PATH}
 * @param options options after the question mark, in order
 */
public record PlatformUri(String provider, String target, Map<String, String> options) {
    private static final Pattern PROVIDER = Pattern.compile("[a-z][a-z0-9-]*");
    private static final Pattern OPTIONS = Pattern.compile("[a-zA-Z][\\w-]*=[^&?]*(&[a-zA-Z][\\w-]*=[^&?]*)*");

    public PlatformUri {
        Objects.requireNonNull(provider);
        Objects.requireNonNull(target);
        options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
    }

    /**
     * Reads a URI.
     *
     * @throws AcceleratorException {@link ErrorCode#INVALID_ARGUMENT} which says what form is accepted
     */
    public static PlatformUri parse(String text) {
        int colon = text.indexOf(':');
        if (colon <= 0
                || colon == text.length() - 1
                || !PROVIDER.matcher(text.substring(0, colon)).matches()) {
            throw AcceleratorException.invalid(
                    "platform URI", "'" + text + "' is not of the form provider:target, such as sim:mesh-8");
        }
        String rest = text.substring(colon + 1);
        Map<String, String> options = new LinkedHashMap<>();
        int question = rest.lastIndexOf('?');
        // A file name may hold a question mark, so only a tail that reads as options is taken for them.
        if (question >= 0 && OPTIONS.matcher(rest.substring(question + 1)).matches()) {
            for (String pair : rest.substring(question + 1).split("&", -1)) {
                int equals = pair.indexOf('=');
                if (options.put(pair.substring(0, equals), pair.substring(equals + 1)) != null) {
                    throw AcceleratorException.invalid(
                            "platform URI",
                            "option '" + pair.substring(0, equals) + "' is given twice in '" + text + "'");
                }
            }
            rest = rest.substring(0, question);
        }
        if (rest.isEmpty()) {
            throw AcceleratorException.invalid("platform URI", "'" + text + "' names no target, such as sim:mesh-8");
        }
        return new PlatformUri(text.substring(0, colon), rest, options);
    }

    /** The target's value when it has the form {@code key=value} with this key, else null. */
    public String targetValue(String key) {
        return target.startsWith(key + "=") ? target.substring(key.length() + 1) : null;
    }

    /** The same platform with one option set. */
    public PlatformUri withOption(String key, String value) {
        Map<String, String> more = new LinkedHashMap<>(options);
        more.put(key, value);
        return new PlatformUri(provider, target, more);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(provider).append(':').append(target);
        char separator = '?';
        for (Map.Entry<String, String> option : options.entrySet()) {
            text.append(separator).append(option.getKey()).append('=').append(option.getValue());
            separator = '&';
        }
        return text.toString();
    }
}

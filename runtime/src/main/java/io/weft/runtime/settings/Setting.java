// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

import java.util.Locale;
import java.util.Objects;

/**
 * One known key.
 *
 * @param key the key in files and after {@code -D}, in lower case with dots and hyphens
 * @param type how its text is read
 * @param defaultValue the built-in value
 * @param doc one sentence for people
 * @param projectFile whether a project file may set it; what makes Weft load code may come only from places that the user
 *     controls, never from a folder that the user merely entered
 * @param <T> the value's type
 */
public record Setting<T>(String key, SettingType<T> type, T defaultValue, String doc, boolean projectFile) {
    public Setting {
        Objects.requireNonNull(key);
        Objects.requireNonNull(type);
        Objects.requireNonNull(defaultValue);
        Objects.requireNonNull(doc);
    }

    Setting(String key, SettingType<T> type, T defaultValue, String doc) {
        this(key, type, defaultValue, doc, true);
    }

    /** The environment variable that sets it: {@code plan.element-type} becomes {@code WEFT_PLAN_ELEMENT_TYPE}. */
    public String variable() {
        return "WEFT_" + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    /** What is accepted, as the end of the sentence "accepted is ...". */
    public String accepted() {
        return type.accepted();
    }

    /** The default as text. */
    public String defaultText() {
        return type.format(defaultValue);
    }
}

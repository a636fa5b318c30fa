// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.settings;

/** Where a value can come from, weakest first. A later layer wins. */
public enum Layer {
    /** What Weft ships with. */
    DEFAULT("default"),
    /** The machine's file, {@code /etc/weft/weft.properties}. */
    SYSTEM("system file"),
    /** The user's file, {@code $XDG_CONFIG_HOME/weft/weft.properties}. */
    USER("user file"),
    /** {@code weft.properties} in the working directory or the nearest parent that has one. */
    PROJECT("project file"),
    /** A {@code WEFT_*} variable. */
    ENVIRONMENT("environment"),
    /** A {@code -D key=value} on the command line. */
    COMMAND_LINE("command line");

    private final String label;

    Layer(String label) {
        this.label = label;
    }

    /** The words used in listings and JSON. */
    public String label() {
        return label;
    }
}

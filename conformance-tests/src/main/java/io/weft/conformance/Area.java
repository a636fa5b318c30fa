// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import java.util.Locale;

/** The areas of rules; the first part of every id. */
public enum Area {
    DEV("devices"),
    MEM("memory"),
    STR("streams"),
    EVT("events"),
    CPY("copies and engines"),
    GEM("GEMM numerics"),
    GRF("command graphs"),
    COL("collectives"),
    SYM("symmetric memory"),
    TOP("topology"),
    ERR("errors"),
    LIF("lifetimes"),
    PRV("provider and discovery");

    private final String title;

    Area(String title) {
        this.title = title;
    }

    /** For people. */
    public String title() {
        return title;
    }

    /** The catalogue's file of this area. */
    String resource() {
        return "rules/" + name().toLowerCase(Locale.ROOT) + ".yaml";
    }
}

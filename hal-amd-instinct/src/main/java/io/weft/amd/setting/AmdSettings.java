// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.setting;

import io.weft.api.AcceleratorException;
import io.weft.api.PlatformUri;
import io.weft.sim.provider.MachinePlatform;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * How a modelled node is set up: variables given as options of its URI, such as {@code amd:mi300x-8?HSA_ENABLE_SDMA=0}; with the option {@code environment=inherit}
 * also those of the process, which options override. Nothing is taken from the process unasked, so that a figure never depends on a shell. Immutable.
 */
public final class AmdSettings {
    /** The option that adds the process's variables. */
    private static final String ENVIRONMENT = "environment";
    /** The option that gives devices another number of copy engines. */
    private static final String ENGINES = "sdma-engines";

    /** An engine's id is a bit of a 64-bit mask, and no known chip has more than 16. */
    private static final int MOST_ENGINES = 64;

    private final Map<Setting, String> values;
    private final OptionalInt engines;

    private AmdSettings(Map<Setting, String> values, OptionalInt engines) {
        this.values = Collections.unmodifiableMap(values);
        this.engines = engines;
    }

    /** Nothing is set. */
    public static AmdSettings none() {
        return new AmdSettings(new EnumMap<>(Setting.class), OptionalInt.empty());
    }

    /**
     * Reads the options of a URI.
     *
     * @param environment the process's variables by name, null where one is not set
     * @throws AcceleratorException INVALID_ARGUMENT for an unknown option or a bad value, saying what is accepted
     */
    public static AmdSettings of(PlatformUri uri, Function<String, String> environment) {
        Map<Setting, String> values = new EnumMap<>(Setting.class);
        OptionalInt engines = OptionalInt.empty();
        String from = uri.options().getOrDefault(ENVIRONMENT, "ignore");
        if (from.equals("inherit")) {
            for (Setting setting : Setting.values()) {
                String value = environment.apply(setting.name());
                if (value != null && !value.isBlank()) {
                    values.put(setting, checked(uri, setting, value.strip(), " of the environment"));
                }
            }
        } else if (!from.equals("ignore")) {
            throw AcceleratorException.invalid(
                    "open " + uri, ENVIRONMENT + " is '" + from + "'; it must be inherit or ignore");
        }
        for (Map.Entry<String, String> option : uri.options().entrySet()) {
            String name = option.getKey();
            if (name.equals(ENGINES)) {
                engines = OptionalInt.of(engines(uri, option.getValue()));
            } else if (Setting.of(name).isPresent()) {
                Setting setting = Setting.of(name).get();
                values.put(setting, checked(uri, setting, option.getValue(), ""));
            } else if (!name.equals(ENVIRONMENT) && !MachinePlatform.isOption(name)) {
                throw AcceleratorException.invalid(
                        "open " + uri,
                        "there is no option '" + name + "'; known are " + String.join(", ", MachinePlatform.options())
                                + ", " + ENGINES + "=N, " + ENVIRONMENT + "=inherit|ignore, " + names());
            }
        }
        return new AmdSettings(values, engines);
    }

    private static String names() {
        List<String> names = new ArrayList<>();
        for (Setting setting : Setting.values()) {
            names.add(setting.name());
        }
        return String.join(", ", names);
    }

    private static String checked(PlatformUri uri, Setting setting, String value, String where) {
        if (!setting.form().fits(value)) {
            throw AcceleratorException.invalid(
                    "open " + uri,
                    setting + where + " is '" + value + "'; it must be "
                            + setting.form().accepted());
        }
        return value;
    }

    private static int engines(PlatformUri uri, String value) {
        if (!value.matches("\\d{1,2}") || Integer.parseInt(value) > MOST_ENGINES) {
            throw AcceleratorException.invalid(
                    "open " + uri,
                    ENGINES + " is '" + value + "'; it must be a whole number from 0 to " + MOST_ENGINES);
        }
        return Integer.parseInt(value);
    }

    /** The URI without what is read here, for the simulator. */
    public static PlatformUri rest(PlatformUri uri) {
        Map<String, String> rest = new LinkedHashMap<>(uri.options());
        rest.keySet().removeIf(name -> !MachinePlatform.isOption(name));
        return new PlatformUri(uri.provider(), uri.target(), rest);
    }

    /** What is set. */
    public Map<Setting, String> values() {
        return values;
    }

    /** Whether a switch is set to 0. */
    public boolean isOff(Setting setting) {
        return "0".equals(values.get(setting));
    }

    /** Whether a switch is set to 1. */
    public boolean isOn(Setting setting) {
        return "1".equals(values.get(setting));
    }

    /** A number that is set, or what holds when it is not. */
    public int number(Setting setting, int otherwise) {
        String value = values.get(setting);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    /** Copy engines of each device, where the URI gives them another number. */
    public OptionalInt engines() {
        return engines;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.api.AcceleratorException;
import io.weft.api.PlatformUri;
import io.weft.sim.machine.Machine;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * The options of a platform URI of this provider.
 *
 * @param functional whether buffers hold data ({@code mode=functional}, the default) or only time is kept ({@code mode=timing})
 * @param devices how many of the machine's devices to use, 0 for all ({@code devices=N})
 * @param queueDepth commands that a stream takes before it reports a full queue ({@code queue-depth=N})
 * @param hostMemory bytes of host memory that the buffers of this platform may take, 0 for the process's own limit ({@code host-memory=BYTES})
 * @param stallMillis real time for which a host thread that can go no further waits for another thread to issue what is missing
 *     ({@code stall-timeout-ms=N})
 */
record SimOptions(boolean functional, int devices, int queueDepth, long hostMemory, long stallMillis) {
    /** What is taken when the URI says nothing: deep enough for any schedule, and no wait is longer than a test can bear. */
    static final SimOptions DEFAULTS = new SimOptions(true, 0, 4096, 0, 10_000);

    static final List<String> KNOWN =
            List.of("mode=functional|timing", "devices=N", "queue-depth=N", "host-memory=BYTES", "stall-timeout-ms=N");

    /**
     * Reads them.
     *
     * @throws AcceleratorException INVALID_ARGUMENT for an unknown name or a bad value, saying what is accepted
     */
    static SimOptions of(PlatformUri uri) {
        SimOptions options = DEFAULTS;
        for (Map.Entry<String, String> option : uri.options().entrySet()) {
            String key = option.getKey();
            String value = option.getValue();
            options = switch (key) {
                case "mode" -> options.withMode(uri, value);
                case "devices" ->
                    new SimOptions(
                            options.functional,
                            (int) number(uri, key, value, "1 or more", n -> n >= 1 && n <= 1 << 20),
                            options.queueDepth,
                            options.hostMemory,
                            options.stallMillis);
                case "queue-depth" ->
                    new SimOptions(
                            options.functional,
                            options.devices,
                            (int) number(uri, key, value, "1 to 1048576", n -> n >= 1 && n <= 1 << 20),
                            options.hostMemory,
                            options.stallMillis);
                case "host-memory" ->
                    new SimOptions(
                            options.functional,
                            options.devices,
                            options.queueDepth,
                            number(uri, key, value, "1 or more bytes", n -> n >= 1),
                            options.stallMillis);
                case "stall-timeout-ms" ->
                    new SimOptions(
                            options.functional,
                            options.devices,
                            options.queueDepth,
                            options.hostMemory,
                            number(uri, key, value, "0 to 3600000", n -> n >= 0 && n <= 3_600_000));
                default ->
                    throw AcceleratorException.invalid(
                            "open " + uri, "there is no option '" + key + "'; known are " + String.join(", ", KNOWN));
            };
        }
        return options;
    }

    /** Checks them against the machine. */
    SimOptions checkedFor(PlatformUri uri, Machine machine) {
        if (devices > machine.deviceCount()) {
            throw AcceleratorException.invalid(
                    "open " + uri, "devices is " + devices + "; " + machine.name() + " has " + machine.deviceCount());
        }
        return this;
    }

    private SimOptions withMode(PlatformUri uri, String value) {
        boolean wanted = switch (value) {
            case "functional" -> true;
            case "timing" -> false;
            default ->
                throw AcceleratorException.invalid(
                        "open " + uri, "mode is '" + value + "'; it must be functional or timing");
        };
        return new SimOptions(wanted, devices, queueDepth, hostMemory, stallMillis);
    }

    private static long number(PlatformUri uri, String key, String value, String accepted, LongPredicate good) {
        try {
            long number = Long.parseLong(value);
            if (good.test(number)) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Falls through to the one message.
        }
        throw AcceleratorException.invalid("open " + uri, key + " is '" + value + "'; it must be " + accepted);
    }
}

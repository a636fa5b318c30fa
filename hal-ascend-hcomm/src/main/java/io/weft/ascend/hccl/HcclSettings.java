// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.PlatformUri;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The settings of HCCL that change what a program may do. Defaults and ranges are those of the vendor's documentation of the variables.
 *
 * @param bufferMegabytes {@code HCCL_BUFFSIZE}, MB; two buffers of it for each communicator
 * @param connectSeconds {@code HCCL_CONNECT_TIMEOUT}: from the first to the last rank's joining
 * @param executeSeconds {@code HCCL_EXEC_TIMEOUT}: how long ranks wait in a collective for the others; 0 for ever
 * @param composes whether operators that the library lacks are put together from those that it has; otherwise they are refused
 */
public record HcclSettings(int bufferMegabytes, int connectSeconds, int executeSeconds, boolean composes) {
    /** What is used when nothing is set. */
    public static final HcclSettings DEFAULTS = new HcclSettings(BufferCalculator.DEFAULT_MEGABYTES, 120, 1836, true);

    /** Options of a platform URI that are read here; all others are the simulator's. */
    public static final List<String> OPTIONS =
            List.of("hccl-buffsize", "hccl-connect-timeout", "hccl-exec-timeout", "operators");

    /** 910A counts the execute timeout in steps of so many seconds, of a hardware timer. */
    private static final int STEP_910A = 68;

    private static final int MOST_910A = 17_340;

    /**
     * Reads the options of a platform URI: {@code hccl-buffsize=MB}, {@code hccl-connect-timeout=SECONDS}, {@code hccl-exec-timeout=SECONDS}, {@code operators=composed|native}.
     *
     * @throws AcceleratorException INVALID_ARGUMENT for a bad value, saying what is accepted
     */
    public static HcclSettings of(PlatformUri uri, HcclFamily family) {
        Map<String, String> variables = new LinkedHashMap<>();
        String operation = "open " + uri;
        boolean composes = true;
        for (Map.Entry<String, String> option : uri.options().entrySet()) {
            switch (option.getKey()) {
                case "hccl-buffsize" -> variables.put("HCCL_BUFFSIZE", option.getValue());
                case "hccl-connect-timeout" -> variables.put("HCCL_CONNECT_TIMEOUT", option.getValue());
                case "hccl-exec-timeout" -> variables.put("HCCL_EXEC_TIMEOUT", option.getValue());
                case "operators" ->
                    composes = switch (option.getValue()) {
                        case "composed" -> true;
                        case "native" -> false;
                        default ->
                            throw AcceleratorException.invalid(
                                    operation,
                                    "operators is '" + option.getValue() + "'; it must be composed or native");
                    };
                default -> {
                    // The simulator's.
                }
            }
        }
        try {
            HcclSettings read = ofEnvironment(variables, family);
            return new HcclSettings(read.bufferMegabytes, read.connectSeconds, read.executeSeconds, composes);
        } catch (AcceleratorException bad) {
            throw AcceleratorException.invalid(operation, bad.operation() + " " + bad.detail());
        }
    }

    /**
     * Reads {@code HCCL_BUFFSIZE}, {@code HCCL_CONNECT_TIMEOUT} and {@code HCCL_EXEC_TIMEOUT}.
     *
     * @throws AcceleratorException BAD_DOCUMENT for a value out of range (which HCCL reports as EI0001), naming the variable
     */
    public static HcclSettings ofEnvironment(Map<String, String> environment, HcclFamily family) {
        int buffer = number(environment, "HCCL_BUFFSIZE", DEFAULTS.bufferMegabytes, 1, 1 << 20, "MB");
        int connect = number(environment, "HCCL_CONNECT_TIMEOUT", DEFAULTS.connectSeconds, 120, 7200, "s");
        int execute;
        if (family == HcclFamily.A910A) {
            int asked = number(environment, "HCCL_EXEC_TIMEOUT", DEFAULTS.executeSeconds, 1, MOST_910A, "s");
            execute = Math.max(STEP_910A, asked / STEP_910A * STEP_910A);
        } else {
            execute = number(
                    environment, "HCCL_EXEC_TIMEOUT", DEFAULTS.executeSeconds, 0, Integer.MAX_VALUE, "s (0: never)");
        }
        return new HcclSettings(buffer, connect, execute, true);
    }

    private static int number(
            Map<String, String> environment, String name, int otherwise, int least, int most, String unit) {
        String text = environment.get(name);
        if (text == null || text.isBlank()) {
            return otherwise;
        }
        try {
            int value = Integer.parseInt(text.strip());
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            // Falls through to the one message.
        }
        throw new AcceleratorException(
                ErrorCode.BAD_DOCUMENT,
                name,
                "is '" + text + "'; accepted is " + least
                        + (most == Integer.MAX_VALUE ? " or more " : " to " + most + " ") + unit);
    }

    /** The URI without the options that are read here, for the simulator. */
    static PlatformUri withoutOptions(PlatformUri uri) {
        Map<String, String> rest = new LinkedHashMap<>(uri.options());
        OPTIONS.forEach(rest::remove);
        return new PlatformUri(uri.provider(), uri.target(), rest);
    }

    /** Device memory of one communicator on each of its devices, bytes. */
    public long communicatorBytes() {
        return BufferCalculator.deviceBytes(1, bufferMegabytes);
    }
}

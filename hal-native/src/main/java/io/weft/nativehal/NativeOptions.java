// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal;

import io.weft.api.AcceleratorException;
import io.weft.api.PlatformUri;
import io.weft.nativehal.ffi.NativeLibrary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Options of a native platform, the same for every vendor.
 *
 * @param devices ordinals to use, in this order; empty for all that are visible
 * @param libraries folders in which the vendor's libraries are looked for first
 * @param pooled whether device memory comes from the runtime's stream-ordered pools instead of plain allocations
 * @param workspaceBytes bytes that each stream may use for the workspace of products
 * @param stallMillis ms to wait for a collective that not all ranks of this process have issued
 */
public record NativeOptions(
        List<Integer> devices, List<Path> libraries, boolean pooled, long workspaceBytes, long stallMillis) {
    private static final List<String> KNOWN =
            List.of("devices", "libraries", "memory", "workspace-mib", "stall-timeout-ms");

    public NativeOptions {
        devices = List.copyOf(devices);
        libraries = List.copyOf(libraries);
    }

    /** How long to wait for what should end at once, ns. */
    long stallNanos() {
        return stallMillis * 1_000_000;
    }

    /**
     * Reads them.
     *
     * @throws AcceleratorException INVALID_ARGUMENT saying what is accepted
     */
    public static NativeOptions of(PlatformUri uri) {
        List<Integer> devices = List.of();
        List<Path> libraries = List.of();
        boolean pooled = false;
        long workspace = 64;
        long stall = 10_000;
        for (Map.Entry<String, String> option : uri.options().entrySet()) {
            String value = option.getValue();
            switch (option.getKey()) {
                case "devices" -> devices = devices(uri, value);
                case "libraries" -> libraries = NativeLibrary.folders(value);
                case "memory" ->
                    pooled = switch (value) {
                        case "plain" -> false;
                        case "pool" -> true;
                        default -> throw bad(uri, "memory", value, "plain or pool");
                    };
                case "workspace-mib" -> workspace = number(uri, "workspace-mib", value, 0, 4096);
                case "stall-timeout-ms" -> stall = number(uri, "stall-timeout-ms", value, 0, 3_600_000);
                default ->
                    throw AcceleratorException.invalid(
                            "open " + uri,
                            "there is no option '" + option.getKey() + "'; known are " + String.join(", ", KNOWN));
            }
        }
        return new NativeOptions(devices, libraries, pooled, workspace << 20, stall);
    }

    private static List<Integer> devices(PlatformUri uri, String text) {
        List<Integer> devices = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            int device = (int) number(uri, "devices", part.strip(), 0, 1023);
            if (devices.contains(device)) {
                throw bad(uri, "devices", text, "each ordinal once");
            }
            devices.add(device);
        }
        return devices;
    }

    private static long number(PlatformUri uri, String key, String text, long least, long most) {
        try {
            long value = Long.parseLong(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            // The same answer.
        }
        throw bad(uri, key, text, "a whole number from " + least + " to " + most);
    }

    private static AcceleratorException bad(PlatformUri uri, String key, String value, String accepted) {
        return AcceleratorException.invalid(
                "open " + uri, "option " + key + " is '" + value + "'; accepted is " + accepted);
    }
}

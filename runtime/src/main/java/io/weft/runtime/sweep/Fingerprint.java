// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.sweep;

import io.weft.api.Device;
import io.weft.api.DeviceProperties;
import io.weft.api.Platform;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A short word for what results depend on, equal in every process. A machine counts as its own description tells it: its devices, links and versions. What a
 * backend does not tell, such as a cost inside a machine document, is not seen.
 */
final class Fingerprint {
    private static final int BYTES = 6;

    private final StringBuilder text = new StringBuilder();

    /** Adds something whose text is the same in every process: no sets and maps without an order. */
    void add(Object value) {
        text.append(value).append('\n');
    }

    /** Adds the version of the code that makes the results. */
    void addVersion() {
        Class<?> own = Fingerprint.class;
        add(Optional.ofNullable(own.getModule().getDescriptor())
                .flatMap(descriptor -> descriptor.rawVersion())
                .orElse(""));
    }

    /** Adds a machine. */
    void add(Platform platform) {
        add(platform.uri() + " " + platform.properties().machine());
        add(new TreeMap<>(platform.properties().versions()));
        int ends = platform.topology().devices();
        for (Device device : platform.devices()) {
            DeviceProperties p = device.properties();
            add(p.architecture() + " " + p.computeUnits() + " " + p.memoryBytes() + " " + p.memoryBandwidth());
            add(new TreeMap<>(p.peakFlops()) + " " + new TreeSet<>(p.gemmTypes()) + " " + new TreeMap<>(p.extra()));
            add(p.copyEngines() + " " + p.hardwareQueues() + " " + p.priorities());
            for (int to = 0; to < ends; to++) {
                if (to != device.ordinal()) {
                    add(platform.topology().link(device.ordinal(), to));
                }
            }
        }
    }

    /** The word. */
    String word() {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256").digest(text.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, BYTES);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing); // every JDK has it
        }
    }
}

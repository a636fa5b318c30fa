// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance;

import io.weft.api.Device;
import io.weft.api.Platform;
import io.weft.spi.ProviderDescriptor;
import io.weft.spi.SpiVersion;
import java.util.List;
import java.util.Map;

/**
 * What was judged, and on what.
 *
 * @param plugin the provider
 * @param uri the platform
 * @param machine the platform's machine
 * @param figures {@code model} or {@code measured}
 * @param versions driver, firmware and library versions by name
 * @param capabilities what the platform declares
 * @param devices name and architecture of each device
 * @param decorators names of the decorators around the platform
 * @param os operating system
 * @param jdk Java runtime
 * @param hostSpi the SPI version of the host
 * @param suiteVersion the suite's version
 * @param suiteDigest SHA-256 over the rules and their proofs
 */
public record Environment(
        ProviderDescriptor plugin,
        String uri,
        String machine,
        String figures,
        Map<String, String> versions,
        List<String> capabilities,
        List<String> devices,
        List<String> decorators,
        String os,
        String jdk,
        String hostSpi,
        String suiteVersion,
        String suiteDigest) {

    /** Describes a platform; what cannot be asked, since it did not open, stays empty. */
    static Environment of(Subject subject, Platform platform, ProofBook proofs) {
        boolean open = platform != null;
        return new Environment(
                subject.provider().descriptor(),
                subject.uri().toString(),
                open ? platform.properties().machine() : "",
                open ? platform.figures().label() : "",
                open ? platform.properties().versions() : Map.of(),
                open ? platform.capabilities().stream().map(Enum::name).sorted().toList() : List.of(),
                open ? platform.devices().stream().map(Environment::name).toList() : List.of(),
                subject.decorators(),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"),
                System.getProperty("java.vendor") + " " + Runtime.version(),
                SpiVersion.CURRENT.toString(),
                Catalogue.VERSION,
                proofs.digest());
    }

    private static String name(Device device) {
        return device.properties().name() + " (" + device.properties().architecture() + ")";
    }
}

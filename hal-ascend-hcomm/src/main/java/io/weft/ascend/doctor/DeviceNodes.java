// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.doctor;

import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.List;

/** The device files that a process needs. They are files of a running machine, so a captured one is not judged by them. */
final class DeviceNodes {
    private static final String CHECK = "device-nodes";
    private static final List<String> COMMON = List.of("davinci_manager", "devmm_svm", "hisi_hdc");

    private DeviceNodes() {}

    static void look(Node node, FindingReport report) {
        HostFiles host = node.host();
        if (!host.isLive()) {
            return;
        }
        List<String> devices = host.list("dev").stream()
                .filter(name -> name.matches("davinci\\d{1,4}"))
                .toList();
        if (devices.isEmpty()) {
            report.note(
                    CHECK,
                    "there is no /dev/davinciN: no NPU is to be seen here",
                    "Either there is none, the driver is not loaded, or the container was started without it.",
                    "",
                    "Pass /dev/davinciN, "
                            + String.join(
                                    ", ",
                                    COMMON.stream().map(name -> "/dev/" + name).toList()) + " to a container.");
            return;
        }
        List<String> missing =
                COMMON.stream().filter(name -> !host.exists("dev/" + name)).toList();
        if (missing.isEmpty()) {
            report.good(CHECK, devices.size() + " NPUs and what they need are in /dev");
        } else {
            report.problem(
                    CHECK,
                    "there are " + devices.size() + " NPUs in /dev, and no " + String.join(", ", missing),
                    "The runtime cannot open a device without them (207004).",
                    "",
                    "Pass them to the container.");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.spi.HostFiles;
import io.weft.spi.input.FindingReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Which software is there, and whether it knows the GPUs. */
final class Versions {
    private static final String CHECK = "versions";

    private Versions() {}

    static void look(Node node, FindingReport report) {
        HostFiles host = node.host();
        List<String> seen = new ArrayList<>();
        Node.rocm(host)
                .ifPresent(text -> seen.add("ROCm " + text.lines().findFirst().orElse("")));
        host.text("sys/module/amdgpu/version").ifPresent(text -> seen.add("amdgpu " + text));
        host.text("proc/sys/kernel/osrelease").ifPresent(text -> seen.add("Linux " + text));
        for (String library : List.of("libamdhip64.so.", "librccl.so.")) {
            Optional<String> found = host.list("opt/rocm/lib").stream()
                    .filter(name -> name.startsWith(library))
                    .max((a, b) -> Integer.compare(a.length(), b.length()));
            found.ifPresent(seen::add);
        }
        if (seen.isEmpty()) {
            report.note(
                    CHECK,
                    "no version of ROCm, driver or kernel can be read",
                    "A capture may lack opt/rocm/.info/version, sys/module/amdgpu/version and proc/sys/kernel/osrelease.",
                    "");
        } else {
            report.good(CHECK, String.join(", ", seen));
        }
        tooOld(node, report, "gfx942", "MI300", 6);
        tooOld(node, report, "gfx950", "MI350", 7);
        if (node.isOlderThan(7, 0)) {
            report.note(
                    "stream-ordered-memory",
                    "ROCm " + node.rocmMajor() + "." + node.rocmMinor()
                            + " has hipMallocAsync that may fail for want of memory while memory is free",
                    "It was mended in 7.0. Pools that keep their memory, as Weft's do, are not touched by it.",
                    "ROCm/hip#3775, kokkos/kokkos#8008");
        }
    }

    private static void tooOld(Node node, FindingReport report, String gfx, String product, int major) {
        if (node.has(gfx) && node.isOlderThan(major, 0)) {
            report.problem(
                    CHECK,
                    "ROCm " + node.rocmMajor() + "." + node.rocmMinor() + " is older than the " + product + " (" + gfx
                            + "), which needs " + major + ".0",
                    "Its compiler and libraries have no code for that chip.",
                    "ROCm compatibility matrix",
                    "Install ROCm " + major + ".0 or newer.");
        }
    }
}

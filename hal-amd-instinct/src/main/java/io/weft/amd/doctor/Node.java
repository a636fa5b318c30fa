// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.doctor;

import io.weft.amd.topology.AmdTopologyReader;
import io.weft.amd.topology.GpuGraph;
import io.weft.api.AcceleratorException;
import io.weft.spi.HostFiles;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The machine that is checked, with what several checks need to know.
 *
 * @param host its files
 * @param graph its GPUs by the kernel driver; null when there is no driver, or its tree cannot be read
 * @param graphRefusal why not; empty when it was read or is absent
 * @param environments of its processes
 * @param rocmMajor ROCm's version, -1 when unknown
 * @param rocmMinor second part of it
 */
record Node(
        HostFiles host,
        GpuGraph graph,
        String graphRefusal,
        List<HostFiles.Environment> environments,
        int rocmMajor,
        int rocmMinor) {
    static final String KFD = "sys/class/kfd/kfd/topology/nodes";
    static final String KFD_ELSEWHERE = "sys/devices/virtual/kfd/kfd/topology/nodes";

    private static final Pattern VERSION = Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\D?.*", Pattern.DOTALL);
    private static final List<String> ROCM_VERSION_FILES =
            List.of("opt/rocm/.info/version", "opt/rocm/.info/version-dev", "opt/rocm/.info/version-utils");

    static Node of(HostFiles host) {
        GpuGraph graph = null;
        String refusal = "";
        if (host.exists(KFD) || host.exists(KFD_ELSEWHERE)) {
            try {
                graph = AmdTopologyReader.ofKfd(host.root());
            } catch (AcceleratorException unusable) {
                refusal = unusable.detail();
            }
        }
        Optional<Matcher> version = rocm(host).map(VERSION::matcher).filter(Matcher::matches);
        return new Node(
                host,
                graph,
                refusal,
                host.environments(),
                version.map(match -> Integer.parseInt(match.group(1))).orElse(-1),
                version.map(match -> Integer.parseInt(match.group(2))).orElse(-1));
    }

    /** ROCm's version as it is written there. */
    static Optional<String> rocm(HostFiles host) {
        return ROCM_VERSION_FILES.stream()
                .map(host::text)
                .flatMap(Optional::stream)
                .filter(text -> !text.isEmpty())
                .findFirst();
    }

    /** Whether a GPU of this architecture is there. */
    boolean has(String gfx) {
        return graph != null && graph.gpus().stream().anyMatch(gpu -> gpu.gfx().equals(gfx));
    }

    /** Number of GPUs, -1 when unknown. */
    int gpus() {
        return graph == null ? -1 : graph.gpus().size();
    }

    /** Whether ROCm's version is known and at least this. */
    boolean isAtLeast(int major, int minor) {
        return rocmMajor > major || (rocmMajor == major && rocmMinor >= minor);
    }

    boolean isOlderThan(int major, int minor) {
        return rocmMajor >= 0 && !isAtLeast(major, minor);
    }
}

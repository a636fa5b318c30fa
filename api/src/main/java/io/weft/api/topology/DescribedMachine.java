// SPDX-License-Identifier: Apache-2.0
package io.weft.api.topology;

import io.weft.api.AcceleratorException;
import io.weft.api.Finding;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * A machine as files and tools describe it: which devices there are and how they reach one another. It can be drawn and compared, not opened. Unlike a {@link
 * Topology} it may have gaps, since a tool may not say everything. Immutable.
 *
 * @param title what it is, for people
 * @param sources what was read
 * @param devices by ordinal, from 0
 * @param paths between different devices, at most one for each ordered pair; a pair without one has no path, or nothing is known about it
 * @param networkCards network cards, when a source names them
 * @param findings what is odd, among it everything in which sources contradict one another
 */
public record DescribedMachine(
        String title,
        List<String> sources,
        List<DescribedDevice> devices,
        List<DescribedPath> paths,
        List<DescribedNetworkCard> networkCards,
        List<Finding> findings) {
    public DescribedMachine {
        Objects.requireNonNull(title);
        sources = List.copyOf(sources);
        devices = List.copyOf(devices);
        paths = List.copyOf(paths);
        networkCards = List.copyOf(networkCards);
        findings = List.copyOf(findings);
        for (int i = 0; i < devices.size(); i++) {
            if (devices.get(i).ordinal() != i) {
                throw AcceleratorException.invalid(
                        "described machine",
                        "device " + devices.get(i).ordinal() + " stands at place " + i + "; devices go by ordinal");
            }
        }
        Set<Long> pairs = new HashSet<>();
        for (DescribedPath path : paths) {
            if (path.from() < 0
                    || path.to() < 0
                    || path.from() >= devices.size()
                    || path.to() >= devices.size()
                    || path.from() == path.to()) {
                throw AcceleratorException.invalid(
                        "described machine",
                        "a path leads from " + path.from() + " to " + path.to() + "; there are " + devices.size()
                                + " devices");
            }
            if (!pairs.add(((long) path.from() << 32) | path.to())) {
                throw AcceleratorException.invalid(
                        "described machine", "two paths lead from " + path.from() + " to " + path.to());
            }
        }
    }

    /** The path from one device to another. */
    public Optional<DescribedPath> path(int from, int to) {
        return paths.stream()
                .filter(path -> path.from() == from && path.to() == to)
                .findFirst();
    }

    /** Whether something in it is wrong or contradicts itself. */
    public boolean hasProblem() {
        return findings.stream().anyMatch(finding -> finding.severity() == Finding.Severity.PROBLEM);
    }
}

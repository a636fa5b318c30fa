// SPDX-License-Identifier: Apache-2.0
package io.weft.api.topology;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import java.util.List;

/** The directed matrix of paths between the devices of a platform. Immutable. */
public final class Topology {
    private final int devices;
    private final Link[] links;
    private final int[] numaNodes;

    /**
     * @param devices number of devices
     * @param links one link for every ordered pair, the diagonal included, in any order
     * @param numaNodes host NUMA node of each device, -1 when unknown
     */
    public Topology(int devices, List<Link> links, int[] numaNodes) {
        this.devices = devices;
        this.links = new Link[devices * devices];
        this.numaNodes = numaNodes.clone();
        for (Link link : links) {
            this.links[link.from() * devices + link.to()] = link;
        }
        for (int i = 0; i < this.links.length; i++) {
            if (this.links[i] == null) {
                throw AcceleratorException.invalid(
                        "topology",
                        "the path from device " + i / devices + " to device " + i % devices + " is missing");
            }
        }
        if (numaNodes.length != devices) {
            throw AcceleratorException.invalid(
                    "topology", numaNodes.length + " NUMA nodes given for " + devices + " devices");
        }
    }

    /** Number of devices. */
    public int devices() {
        return devices;
    }

    /** The path from one device to another. */
    public Link link(int from, int to) {
        if (from < 0 || from >= devices || to < 0 || to >= devices) {
            throw new AcceleratorException(
                    ErrorCode.NOT_FOUND,
                    "topology",
                    "devices " + from + " and " + to + " must lie in 0.." + (devices - 1));
        }
        return links[from * devices + to];
    }

    /** Host NUMA node of a device, -1 when unknown. */
    public int numaNode(int device) {
        return numaNodes[device];
    }
}

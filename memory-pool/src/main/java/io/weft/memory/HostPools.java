// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.Device;
import java.util.SortedMap;
import java.util.TreeMap;

/** Pools of host memory pinned for one device, one for each NUMA node of the host that is asked for. Safe for any thread; close it before its platform. */
public final class HostPools implements AutoCloseable {
    private final Device device;
    private final PoolOptions options;
    private final SortedMap<Integer, DevicePool> pools = new TreeMap<>();

    private HostPools(Device device, PoolOptions options) {
        this.device = device;
        this.options = options;
    }

    /** Pools of a device, each with these options but for the name, which gets the node's number. */
    public static HostPools open(Device device, PoolOptions options) {
        return new HostPools(device, options);
    }

    /** The pool of the node nearest to the device, as far as the backend knows it. */
    public DevicePool near() {
        return onNode(device.properties().numaNode());
    }

    /**
     * The pool of a node; opened when it is first asked for.
     *
     * @param numaNode the node, -1 where the backend knows of none
     */
    public synchronized DevicePool onNode(int numaNode) {
        return pools.computeIfAbsent(
                numaNode,
                node -> DevicePool.open(
                        device,
                        SegmentSource.pinnedHost(device, node),
                        options.withName(options.name() + "-host" + (node < 0 ? "" : "-" + node))));
    }

    @Override
    public synchronized void close() {
        pools.values().forEach(DevicePool::close);
        pools.clear();
    }
}

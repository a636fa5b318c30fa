// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.api.Device;

/**
 * The two pools of a device, one for each role. They never share a segment.
 *
 * @param compute for operands of kernels
 * @param communication for what collectives and peer copies read and write
 */
public record DevicePools(DevicePool compute, DevicePool communication) implements AutoCloseable {
    /** Opens both with the same options but for name and role. */
    public static DevicePools open(Device device, PoolOptions options) {
        return new DevicePools(
                DevicePool.open(device, options.withRole(PoolRole.COMPUTE).withName(options.name() + "-compute")),
                DevicePool.open(
                        device, options.withRole(PoolRole.COMMUNICATION).withName(options.name() + "-communication")));
    }

    /** The pool for a role. */
    public DevicePool pool(PoolRole role) {
        return role == PoolRole.COMPUTE ? compute : communication;
    }

    /** Ends an iteration in both. */
    public void nextIteration() {
        compute.nextIteration();
        communication.nextIteration();
    }

    @Override
    public void close() {
        try {
            compute.close();
        } finally {
            communication.close();
        }
    }
}

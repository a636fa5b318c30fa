// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

import io.weft.api.DeviceProperties;
import io.weft.api.topology.Topology;
import java.util.List;

/**
 * What the vendor's libraries tell about this machine.
 *
 * @param name the devices and their number, for people
 * @param ordinals the runtime's ordinal of each device, by the platform's
 * @param devices properties, by the platform's ordinal
 * @param topology paths between them
 */
public record NativeMachine(String name, List<Integer> ordinals, List<DeviceProperties> devices, Topology topology) {
    public NativeMachine {
        ordinals = List.copyOf(ordinals);
        devices = List.copyOf(devices);
    }

    /** A name such as {@code 8 x GPU}; devices of several kinds have no common one. */
    public static String nameOf(List<DeviceProperties> devices) {
        String first = devices.getFirst().name();
        return devices.stream().allMatch(device -> device.name().equals(first))
                ? devices.size() + " x " + first
                : devices.size() + " devices";
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.driver;

/** From where to where a copy goes. Some vendors must be told, others find out. */
public enum Route {
    HOST_TO_DEVICE,
    DEVICE_TO_HOST,
    /** Within a device. */
    WITHIN_DEVICE,
    /** From one device to another. */
    BETWEEN_DEVICES,
    HOST_TO_HOST
}

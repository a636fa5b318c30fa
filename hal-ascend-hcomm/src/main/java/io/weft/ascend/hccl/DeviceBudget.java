// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

/**
 * What one device has of streams and events.
 *
 * @param device ordinal
 * @param streams the default stream included; a prepared graph holds one for each of its lanes on the device until it is released
 * @param events an event holds one from its first record on, as the hardware's number is taken then
 */
public record DeviceBudget(int device, Budget streams, Budget events) {
    /** The budget of a device of a family, its default stream taken. */
    static DeviceBudget of(int device, HcclFamily family) {
        Budget streams = new Budget("streams", family.streams());
        streams.take(1);
        return new DeviceBudget(device, streams, new Budget("events", family.events()));
    }
}

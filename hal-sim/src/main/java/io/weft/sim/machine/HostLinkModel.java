// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/**
 * A device's way to host memory.
 *
 * @param toDevice bytes/s from pinned host memory to the device
 * @param fromDevice bytes/s from the device to pinned host memory
 * @param latencyNanos ns for the first byte
 */
public record HostLinkModel(double toDevice, double fromDevice, double latencyNanos) {}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/**
 * What it costs to bring work to a device.
 *
 * @param graphNanos ns from the launch of a device graph until its first node may run
 * @param graphDeviceNanos ns that a graph's launch takes more for each device beyond the first that has nodes
 * @param graphLaneNanos ns that a graph's launch takes more for each lane beyond the first that has nodes, where most lanes are on one device
 * @param eagerNanos ns from the return of a host call that launches a kernel until the device sees it
 * @param signalNanos ns from the end of a command until one that waits for it on another lane or device may start
 * @param issueKernelNanos host ns for a call that launches a kernel
 * @param issueCopyNanos host ns for a call that starts a copy on an engine
 * @param issueEventNanos host ns for a call that records an event or makes a stream wait for one
 */
public record LaunchModel(
        double graphNanos,
        double graphDeviceNanos,
        double graphLaneNanos,
        double eagerNanos,
        double signalNanos,
        double issueKernelNanos,
        double issueCopyNanos,
        double issueEventNanos) {}

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
        double issueEventNanos) {

    /** The same with another launch of a graph. */
    public LaunchModel withGraphNanos(double nanos) {
        return new LaunchModel(
                nanos,
                graphDeviceNanos,
                graphLaneNanos,
                eagerNanos,
                signalNanos,
                issueKernelNanos,
                issueCopyNanos,
                issueEventNanos);
    }

    /** The same with another price of a graph for each further device. */
    public LaunchModel withGraphDeviceNanos(double nanos) {
        return new LaunchModel(
                graphNanos,
                nanos,
                graphLaneNanos,
                eagerNanos,
                signalNanos,
                issueKernelNanos,
                issueCopyNanos,
                issueEventNanos);
    }

    /** The same with another price of a graph for each further lane. */
    public LaunchModel withGraphLaneNanos(double nanos) {
        return new LaunchModel(
                graphNanos,
                graphDeviceNanos,
                nanos,
                eagerNanos,
                signalNanos,
                issueKernelNanos,
                issueCopyNanos,
                issueEventNanos);
    }

    /** The same with another way of a call to the device. */
    public LaunchModel withEagerNanos(double nanos) {
        return new LaunchModel(
                graphNanos,
                graphDeviceNanos,
                graphLaneNanos,
                nanos,
                signalNanos,
                issueKernelNanos,
                issueCopyNanos,
                issueEventNanos);
    }

    /** The same with another way of a word between lanes. */
    public LaunchModel withSignalNanos(double nanos) {
        return new LaunchModel(
                graphNanos,
                graphDeviceNanos,
                graphLaneNanos,
                eagerNanos,
                nanos,
                issueKernelNanos,
                issueCopyNanos,
                issueEventNanos);
    }

    /** The same with other costs of the host's calls. */
    public LaunchModel withIssue(double kernelNanos, double copyNanos, double eventNanos) {
        return new LaunchModel(
                graphNanos,
                graphDeviceNanos,
                graphLaneNanos,
                eagerNanos,
                signalNanos,
                kernelNanos,
                copyNanos,
                eventNanos);
    }
}

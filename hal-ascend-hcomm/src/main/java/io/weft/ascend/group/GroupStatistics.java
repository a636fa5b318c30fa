// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

/**
 * What one rank's side of a group has used and refused.
 *
 * @param name of the group
 * @param rank whose side
 * @param ranks of the group
 * @param semaphores taken now
 * @param peakSemaphores most taken at once
 * @param semaphoreRefusals how often there was none
 * @param ringPlaces taken now
 * @param peakRingPlaces most taken at once
 * @param ringRefusals how often the ring was full
 * @param launches so far
 * @param windows now
 * @param windowRefusals how often a window was refused
 * @param switches how often a stream changed to this group
 * @param foreignTokens how often something of another group was handed in
 */
public record GroupStatistics(
        String name,
        int rank,
        int ranks,
        int semaphores,
        int peakSemaphores,
        long semaphoreRefusals,
        int ringPlaces,
        int peakRingPlaces,
        long ringRefusals,
        long launches,
        int windows,
        long windowRefusals,
        long switches,
        long foreignTokens) {}

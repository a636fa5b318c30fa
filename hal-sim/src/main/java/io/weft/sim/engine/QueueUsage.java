// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

/**
 * What a serial queue has done up to the moment of asking.
 *
 * @param name the name given to {@link Engine#addQueue(String, int)}
 * @param servers places in service
 * @param servedPs time summed over its places during which a place was taken, ps
 * @param maxWaiting the most jobs that waited at once
 */
public record QueueUsage(String name, int servers, long servedPs, int maxWaiting) {}

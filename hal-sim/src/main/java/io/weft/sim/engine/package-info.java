// SPDX-License-Identifier: Apache-2.0
/**
 * The discrete-event fluid engine: activities share resources in virtual time.
 *
 * <p>{@link io.weft.sim.engine.Engine} is the entry: it owns virtual time, timers, activities with their phases, serial
 * queues and accounts. {@link io.weft.sim.engine.FluidNetwork} computes the max-min fair shares,
 * {@link io.weft.sim.engine.EventHeap} orders the instants. The package needs nothing but the JDK and knows nothing
 * of devices: what a link, a copy engine or a GEMM is, the layer above says by resources, queues and
 * {@link io.weft.sim.engine.ActivitySpec forms}.
 */
package io.weft.sim.engine;

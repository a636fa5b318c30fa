// SPDX-License-Identifier: Apache-2.0
/**
 * Machines as data: what devices there are, how they are joined, and what everything costs.
 *
 * <p>A {@link io.weft.sim.machine.Machine} is immutable and comes from a YAML document ({@link io.weft.sim.machine.MachineReader}), from the documents that
 * ship with the simulator ({@link io.weft.sim.machine.MachineCatalog}), or from a vendor plugin by {@link io.weft.sim.machine.Machine.Builder}. All
 * numbers inside are in base units (bytes, bytes/s, FLOP/s, ns); documents use the units that their keys name, with GB/s = 1e9 bytes/s.
 */
package io.weft.sim.machine;

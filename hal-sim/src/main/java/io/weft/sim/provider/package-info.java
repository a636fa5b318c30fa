// SPDX-License-Identifier: Apache-2.0
/**
 * The provider {@code sim}: the SPI on top of the machine model (time) and the host's cores (data).
 *
 * <p><b>Threads.</b> One lock for each platform; every call takes it. Nothing waits without an end: a host thread that waits for something which can no longer
 * happen gets an error that says why.
 *
 * <p><b>Clocks.</b> Virtual time moves only while the host waits or polls. Each device has an issuing clock of its own, as if one host thread drove each
 * device: a call costs its device's issuing clock the machine's host overhead, and the command reaches the device at that instant, or at the present virtual
 * time if that is later. So the timeline depends on the order of calls for each device alone, not on how the threads of a program interleave.
 */
package io.weft.sim.provider;

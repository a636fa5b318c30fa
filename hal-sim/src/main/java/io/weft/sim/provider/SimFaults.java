// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import io.weft.spi.FaultDriver;

/** Faults on demand, an extension of every simulated platform. A command that is made to fail takes its time; a device is lost at an instant of virtual time. */
public interface SimFaults extends FaultDriver {}

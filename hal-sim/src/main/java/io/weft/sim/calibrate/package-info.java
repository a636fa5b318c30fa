// SPDX-License-Identifier: Apache-2.0
/** Fits a machine's numbers to times that were measured on another platform. Not exported: it is asked for as {@link io.weft.spi.ModelFitter}. */
package io.weft.sim.calibrate;

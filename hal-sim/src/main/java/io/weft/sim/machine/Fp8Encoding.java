// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/** Which family of 8-bit floats a device's matrix units speak; the two must never be mixed. */
public enum Fp8Encoding {
    /** Open Compute Project encodings. */
    OCP,
    /** Finite, no negative zero. */
    FNUZ,
    /** Both families, each multiplied with its own kind only. */
    BOTH,
    /** No 8-bit floats. */
    NONE
}

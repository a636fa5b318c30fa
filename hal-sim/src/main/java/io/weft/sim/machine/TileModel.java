// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

/**
 * One macro-tile that a device's GEMM library has: the part of C that one compute unit works on at a time.
 *
 * @param rows rows of C
 * @param columns columns of C
 * @param efficiency share of a compute unit's peak reached inside the main loop, above 0, at most 1
 */
public record TileModel(int rows, int columns, double efficiency) {}

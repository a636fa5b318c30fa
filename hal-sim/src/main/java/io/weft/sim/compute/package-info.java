// SPDX-License-Identifier: Apache-2.0
/**
 * The host data plane: what the functional mode computes with. GEMM, elementwise reductions, copies and fills on host memory,
 * in parallel on the host's cores.
 *
 * <p>Every kernel states its numbers as a contract (order of operations, precision, one rounding), so a result does not
 * depend on threads, blocking or vector width, and other layers may compare bits.
 */
package io.weft.sim.compute;

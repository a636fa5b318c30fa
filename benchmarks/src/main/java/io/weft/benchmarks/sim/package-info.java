// SPDX-License-Identifier: Apache-2.0
/** Benchmarks of the simulator. */
package io.weft.benchmarks.sim;

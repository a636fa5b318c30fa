// SPDX-License-Identifier: Apache-2.0
/** The simulator's engine beside SimGrid: the same fluid problems and the same message patterns on both. */
package io.weft.benchmarks.simgrid;

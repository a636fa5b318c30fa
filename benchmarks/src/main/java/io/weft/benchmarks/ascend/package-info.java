// SPDX-License-Identifier: Apache-2.0
/** The Ascend plugin: what a stream's change of its communication group costs the host. */
package io.weft.benchmarks.ascend;

// SPDX-License-Identifier: Apache-2.0
/** Micro-benchmarks of platforms: collectives by size, in the terms of rccl-tests. */
package io.weft.runtime.bench;

// SPDX-License-Identifier: Apache-2.0
/** What an allocation costs, how much a pool wastes, and how it ages. */
package io.weft.benchmarks.memory;

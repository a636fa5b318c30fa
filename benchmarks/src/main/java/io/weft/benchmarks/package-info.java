// SPDX-License-Identifier: Apache-2.0
/** JMH benchmarks; each names the figure in docs/benchmarks.md that it produces. */
package io.weft.benchmarks;

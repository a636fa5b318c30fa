// SPDX-License-Identifier: Apache-2.0
/** What planning costs: lowering one schedule, and choosing among all. */
package io.weft.benchmarks.scheduler;

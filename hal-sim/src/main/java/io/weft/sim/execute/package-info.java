// SPDX-License-Identifier: Apache-2.0
/**
 * What commands do to memory in the functional mode.
 *
 * <p>A command reads its operands when it starts and its result is visible when it completes, in virtual time. So a schedule that lacks a
 * dependency computes with stale data, always the same, and a comparison of results catches it. {@link io.weft.sim.execute.Effects} keeps this
 * promise without copying anything unless two running commands really touch the same bytes.
 */
package io.weft.sim.execute;

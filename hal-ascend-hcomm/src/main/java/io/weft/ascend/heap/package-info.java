// SPDX-License-Identifier: Apache-2.0
/**
 * One-sided communication on the symmetric heap of {@code io.weft.memory}: put, get, signals, fence, quiet and barrier, with the semantics of OpenSHMEM; and how memory becomes reachable: native windows where the
 * hardware has them, IPC keys with a list of processes and one-way peer access elsewhere.
 */
package io.weft.ascend.heap;

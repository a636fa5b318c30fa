// SPDX-License-Identifier: Apache-2.0
/** Reads recorded allocation traces and replays them through a pool and through models of others. */
package io.weft.memory.replay;

// SPDX-License-Identifier: Apache-2.0
/**
 * How NPUs are joined, from what their tools and rank tables say.
 *
 * <p>{@link io.weft.ascend.topology.RankTableReader} reads rank tables, {@link io.weft.ascend.topology.NpuSmiTopology}, {@link io.weft.ascend.topology.NpuSmiDevices}, {@link
 * io.weft.ascend.topology.HccnReport} and {@link io.weft.ascend.topology.TorTable} the others; {@link io.weft.ascend.topology.GraphBuilder} makes one {@link
 * io.weft.ascend.topology.AscendGraph} of them. Nothing here runs a tool or opens a device.
 */
package io.weft.ascend.topology;

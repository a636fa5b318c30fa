// SPDX-License-Identifier: Apache-2.0
/**
 * What AMD's kernel driver, libraries and tools say about how GPUs are joined, and one graph out of all of it.
 *
 * <p>Four readers turn files into a {@link io.weft.amd.topology.SourceGraph} each: {@link io.weft.amd.topology.KfdReader}, {@link io.weft.amd.topology.AmdSmiReader}, {@link
 * io.weft.amd.topology.RocmSmiReader} and {@link io.weft.amd.topology.RcclXmlReader}. {@link io.weft.amd.topology.GraphMerger} compares them pair by pair and makes a {@link
 * io.weft.amd.topology.GpuGraph}; where they contradict one another it says so and takes the first of that order.
 *
 * <p>The same word has different numbers in five of AMD's interfaces, so each has an enum of its own ({@code KfdLinkType}, {@code HsaLinkType}, {@code RsmiLinkType}, {@code
 * AmdSmiIoLinkType}, {@code AmdSmiLinkType}), and only {@link io.weft.amd.topology.LinkClass} crosses between them.
 */
package io.weft.amd.topology;

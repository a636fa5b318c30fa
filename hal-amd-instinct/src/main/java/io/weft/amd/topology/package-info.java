// SPDX-License-Identifier: Apache-2.0
/**
 * What AMD's kernel driver, libraries and tools say about how GPUs are joined, and one graph out of all of it.
 *
 * <p>Four readers turn files into a {@code SourceGraph} each: {@code KfdReader}, {@code AmdSmiReader}, {@code RocmSmiReader} and {@code RcclXmlReader}. {@code GraphMerger} compares them pair by pair and makes a {@code GpuGraph}; where they contradict one another it says so and takes the first of that order.
 *
 * <p>The same word has different numbers in five of AMD's interfaces, so each has an enum of its own ({@code KfdLinkType}, {@code HsaLinkType}, {@code RsmiLinkType}, {@code
 * AmdSmiIoLinkType}, {@code AmdSmiLinkType}), and only {@code LinkClass} crosses between them.
 */
package io.weft.amd.topology;

// SPDX-License-Identifier: Apache-2.0
/**
 * One transfer over several paths at once: HCCS, PCIe and up to four RoCE paths. Chunks go where they will arrive first, slow and dead paths lose theirs to others, and what arrives is handed on in order, each byte
 * once. Runs on the simulator's engine, where paths can be made slow or cut; the decisions ({@link io.weft.ascend.transport.Striping}, {@link io.weft.ascend.transport.Reassembly}) know nothing of it.
 *
 * <p>The threshold of 0.7 and the number of four RoCE paths are the project's design figures.
 */
package io.weft.ascend.transport;

// SPDX-License-Identifier: Apache-2.0
/**
 * What is wrong with a host of Ascend NPUs: each check looks at one thing and says what was seen, why it matters, where that is written, and what to do. {@link
 * io.weft.ascend.doctor.AscendEnvironmentCheck} runs them all. Nothing here runs a tool or opens a device: what npu-smi and hccn_tool print is read from files.
 */
package io.weft.ascend.doctor;

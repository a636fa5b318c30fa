// SPDX-License-Identifier: Apache-2.0
/**
 * The binding to the vendor's libraries: which function lies where, numbers, structures and units. Nothing is loaded before it is asked for, and a function that a version lacks is an absent power, never a failure to
 * load. The facts come from public interfaces and from freely licensed programs that use them (vllm-ascend, torch_npu, llama.cpp's cann backend).
 */
package io.weft.ascend.acl;

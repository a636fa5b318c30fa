// SPDX-License-Identifier: Apache-2.0
/** Copies between GPUs and with the host as AMD's runtimes carry them out: by SDMA engines, or by kernels. */
package io.weft.amd.sdma;

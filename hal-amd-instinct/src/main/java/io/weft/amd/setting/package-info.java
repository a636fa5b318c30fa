// SPDX-License-Identifier: Apache-2.0
/** The environment variables of HIP, ROCr and RCCL that a modelled node honours. */
package io.weft.amd.setting;

// SPDX-License-Identifier: Apache-2.0
/** Collectives by NCCL's C interface, which two vendors' libraries export. */
package io.weft.nativehal.nccl;

// SPDX-License-Identifier: Apache-2.0
/** Weft's own kernels, for vendors that can compile and launch them. */
package io.weft.nativehal.kernels;

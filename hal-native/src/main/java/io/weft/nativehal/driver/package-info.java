// SPDX-License-Identifier: Apache-2.0
/** What a vendor supplies: its runtime and, as far as it has them, graphs, pools, virtual memory, kernels, products and collectives. */
package io.weft.nativehal.driver;

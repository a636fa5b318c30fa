// SPDX-License-Identifier: Apache-2.0
/** The provider {@code cuda}: NVIDIA GPUs, and models of machines that have them. */
package io.weft.cuda;

// SPDX-License-Identifier: Apache-2.0
/** The provider {@code amd}. */
package io.weft.amd;

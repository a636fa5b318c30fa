// SPDX-License-Identifier: Apache-2.0
/** Builds the directory image. */
package io.weft.dist;

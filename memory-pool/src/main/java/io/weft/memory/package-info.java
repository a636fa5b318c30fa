// SPDX-License-Identifier: Apache-2.0
/** Stream-ordered memory pools. */
package io.weft.memory;

// SPDX-License-Identifier: Apache-2.0
/** Matrix products by libraries in the style that vendors call "Lt". */
package io.weft.nativehal.lt;

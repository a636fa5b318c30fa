// SPDX-License-Identifier: Apache-2.0
/** C libraries by {@code java.lang.foreign}: how they are found, how their functions are called, and what is missing. */
package io.weft.nativehal.ffi;

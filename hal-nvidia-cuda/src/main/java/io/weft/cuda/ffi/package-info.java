// SPDX-License-Identifier: Apache-2.0
/** NVIDIA's C libraries by {@code java.lang.foreign}: how they are found, their functions, their numbers, and their errors as exceptions. */
package io.weft.cuda.ffi;

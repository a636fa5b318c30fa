// SPDX-License-Identifier: Apache-2.0
/** HIP's rules of streams and of stream-ordered memory, over the neutral API. */
package io.weft.amd.stream;

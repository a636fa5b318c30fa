// SPDX-License-Identifier: Apache-2.0
/**
 * The application API. Start at {@link io.weft.api.Accelerators}: discover the backends, open a platform by URI, allocate buffers, issue work on streams.
 *
 * <p>The classes here are final; they check arguments, lifetimes and devices once, and delegate to a backend's drivers ({@code io.weft.spi}). Every backend therefore
 * refuses bad input with the same words.
 */
package io.weft.api;

// SPDX-License-Identifier: Apache-2.0
package io.weft.spi;

/**
 * Something a provider can open.
 *
 * @param name what follows the colon in the URI, such as {@code mesh-8}; a form such as {@code file=PATH} stands for many
 * @param description one sentence
 */
public record Target(String name, String description) {}

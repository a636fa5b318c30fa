// SPDX-License-Identifier: Apache-2.0
/** What a plugin implements to bring hardware; its arguments were validated by {@code io.weft.api}. */
package io.weft.spi;

// SPDX-License-Identifier: Apache-2.0
/**
 * Decorators over the SPI. {@link io.weft.spi.decorator.ObservedPlatform} wraps every driver of a platform once and reports each call to a {@link
 * io.weft.spi.decorator.DriverObserver}; what validation, leak tracking, tracing or fault injection do is then an observer of a page.
 */
package io.weft.spi.decorator;

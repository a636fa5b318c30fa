// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin SPI: what a hardware backend implements. A plugin needs the JDK and this module alone.
 *
 * <p>The SPI is thin. The classes of {@code io.weft.api} check every argument once and with the same words for every backend, then call a driver, which may
 * assume valid arguments. Optional powers are extensions, obtained by {@link io.weft.spi.PlatformDriver#extension(Class)};
 * those that need no hardware, such as {@link io.weft.spi.TopologyReader}, by {@link io.weft.spi.AcceleratorProvider#extension(Class)}.
 */
package io.weft.spi;

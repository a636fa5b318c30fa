// SPDX-License-Identifier: Apache-2.0
/**
 * The application API and the plugin SPI, on the JDK alone.
 *
 * <p>Applications use {@code io.weft.api}: final classes that validate every argument once (bounds, lifetime, device,
 * alignment, element type, state) and then delegate. Plugin authors implement {@code io.weft.spi}: small interfaces
 * that may assume valid arguments. Nothing here names a vendor, injects dependencies or logs.
 *
 * <ul>
 *   <li>Exports {@code io.weft.api} and {@code io.weft.spi} to everybody: they are the published surface.
 * </ul>
 */
module io.weft.api {}

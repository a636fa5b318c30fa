// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the directory image; runs during the build and never ships.
 *
 * <ul>
 *   <li>Nothing is exported: {@code io.weft.dist.Image} is started by the build.
 * </ul>
 */
module io.weft.dist {}

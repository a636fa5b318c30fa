// SPDX-License-Identifier: Apache-2.0
/** Which rank should run on which device: {@link io.weft.ascend.mapping.RankMapper} brings ranks that exchange much near each other, within what a rank table may say. */
package io.weft.ascend.mapping;

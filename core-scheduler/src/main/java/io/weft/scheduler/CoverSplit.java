// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

/**
 * Which of a rank's own rows are multiplied beside the communication, and which go with everything else. The own block is cut so that the rest joins the longer of the two ranges around it, which leaves one
 * range when the block lies at an end of the matrix.
 *
 * @param coverStart first covering row, in the whole matrix
 * @param coverRows number of covering rows
 * @param restStart first of the other own rows
 * @param restRows number of the other own rows
 */
record CoverSplit(long coverStart, long coverRows, long restStart, long restRows) {
    /** GEMM tiles are at most this high on current devices; a cover of whole tiles wastes none of them. */
    private static final long TILE_ROWS = 128;

    static CoverSplit of(double share, long ownStart, long ownRows, long allRows) {
        long cover = Math.round(share * ownRows);
        if (cover >= TILE_ROWS) {
            cover = Math.round((double) cover / TILE_ROWS) * TILE_ROWS;
        }
        cover = Math.clamp(cover, Math.min(1, ownRows), ownRows);
        long behind = allRows - ownStart - ownRows;
        if (ownStart <= behind) {
            return new CoverSplit(ownStart, cover, ownStart + cover, ownRows - cover);
        }
        return new CoverSplit(ownStart + ownRows - cover, cover, ownStart, ownRows - cover);
    }
}

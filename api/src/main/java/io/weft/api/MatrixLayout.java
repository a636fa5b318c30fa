// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

/** Which index runs fastest in memory. */
public enum MatrixLayout {
    /** Elements of a row are adjacent; the pitch leads from row to row. */
    ROW_MAJOR,
    /** Elements of a column are adjacent; the pitch leads from column to column. */
    COLUMN_MAJOR
}

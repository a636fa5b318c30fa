// SPDX-License-Identifier: Apache-2.0
#include "standin_shim.h"

int sp_fits(const sp_description *d, const sp_layout *a, const sp_layout *b, const sp_layout *c, int64_t *m, int64_t *n, int64_t *k) {
    *m = d->transpose_a ? a->columns : a->rows;
    *k = d->transpose_a ? a->rows : a->columns;
    *n = d->transpose_b ? b->rows : b->columns;
    int64_t k_b = d->transpose_b ? b->columns : b->rows;
    return k_b == *k && c->rows == *m && c->columns == *n && a->batch == b->batch && b->batch == c->batch;
}

int sp_multiply(const sp_description *d, int whole, const void *alpha, const void *a, const sp_layout *la, const void *b, const sp_layout *lb, const void *beta, void *c, const sp_layout *lc, int operand_type, int result_type, si_stream *stream) {
    int64_t m, n, k;
    if (!sp_fits(d, la, lb, lc, &m, &n, &k)) {
        return SI_INVALID;
    }
    si_product p = {
        .c = c, .a = a, .b = b, .m = m, .n = n, .k = k,
        .c_row = 1, .c_column = lc->pitch,
        .a_row = d->transpose_a ? la->pitch : 1, .a_column = d->transpose_a ? 1 : la->pitch,
        .b_row = d->transpose_b ? lb->pitch : 1, .b_column = d->transpose_b ? 1 : lb->pitch,
        .c_stride = lc->stride, .a_stride = la->stride, .b_stride = lb->stride, .batch = la->batch,
        .alpha = whole ? (float)*(const int *)alpha : *(const float *)alpha,
        .beta = whole ? (float)*(const int *)beta : *(const float *)beta,
        .operand_type = operand_type, .result_type = result_type,
    };
    si_count("gemms");
    return si_gemm(stream, &p);
}

// SPDX-License-Identifier: Apache-2.0
#include "standin_shim.h"

#include <string.h>

// The arguments of the kernels, as in their sources. Their numbers of types and reductions are the core's.
typedef struct {
    void *destination;
    int64_t destination_pitch, rows, columns;
    int inputs, op;
    float factor;
    int input_type, output_type, whole;
    void *source[64];
    int64_t pitch[64];
} reduction_t;

typedef struct {
    void *destination;
    void *source;
    int64_t destination_pitch, source_pitch, width, rows;
} rectangle_t;

typedef struct {
    void *c, *a, *b;
    int64_t m, n, k, c_row, c_column, a_row, a_column, b_row, b_column, c_stride, a_stride, b_stride;
    float alpha, beta;
    int input_type, output_type;
} product_t;

enum { REDUCE = 1, SUM_WIDE, COPY_WIDE, COPY_BYTES, GEMM };

int sk_find(const char *name) {
    const char *names[] = {"", "weft_reduce", "weft_sum_wide", "weft_copy_wide", "weft_copy_bytes", "weft_gemm"};
    for (int i = 1; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return 0;
}

int sk_launch(int kernel, const unsigned grid[3], const unsigned block[3], si_stream *stream, void **arguments) {
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[1] > 65535 || grid[2] > 65535 || block[0] * block[1] > 1024) {
        return SI_INVALID;
    }
    switch (kernel) {
        case REDUCE:
        case SUM_WIDE: {
            const reduction_t *r = arguments[0];
            si_reduction out = {r->destination, r->destination_pitch, r->rows, r->columns, r->inputs, r->op, r->factor, r->input_type, r->output_type, {0}, {0}};
            uintptr_t bits = (uintptr_t)r->destination;
            for (int i = 0; i < r->inputs; i++) {
                out.from[i] = r->source[i];
                out.pitch[i] = r->pitch[i];
                bits |= (uintptr_t)r->source[i];
            }
            if (kernel == SUM_WIDE && (bits & 15 || r->rows != 1 || r->op != SI_SUM)) {
                return SI_MISALIGNED;
            }
            return si_reduce(stream, &out);
        }
        case COPY_WIDE:
        case COPY_BYTES: {
            const rectangle_t *r = arguments[0];
            uintptr_t bits = (uintptr_t)r->destination | (uintptr_t)r->source | (uintptr_t)r->width;
            if (r->rows > 1) {
                bits |= (uintptr_t)r->destination_pitch | (uintptr_t)r->source_pitch;
            }
            if (kernel == COPY_WIDE && bits & 15) {
                return SI_MISALIGNED;
            }
            return si_copy(stream, r->destination, (size_t)r->destination_pitch, r->source, (size_t)r->source_pitch, (size_t)r->width, (size_t)r->rows, 1);
        }
        case GEMM: {
            const product_t *p = arguments[0];
            if ((int64_t)grid[0] * block[0] < p->n || (int64_t)grid[1] * block[1] < p->m) {
                return SI_INVALID; // a part of the result would not be written
            }
            si_product out = {p->c, p->a, p->b, p->m, p->n, p->k, p->c_row, p->c_column, p->a_row, p->a_column, p->b_row, p->b_column, p->c_stride, p->a_stride, p->b_stride, (int)grid[2], p->alpha, p->beta, p->input_type, p->output_type};
            si_count("reference-gemms");
            return si_gemm(stream, &out);
        }
        default:
            return SI_INVALID;
    }
}

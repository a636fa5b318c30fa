// SPDX-License-Identifier: Apache-2.0
//
// What vendors' shims share beyond the core, and what they must supply for it.
#ifndef STANDIN_SHIM_H
#define STANDIN_SHIM_H

#include "standin_core.h"

// ---------------------------------------------------------------------------------------------------------------------
// A shim supplies:

// The stream of a vendor's handle; special numbers are the default stream of the current device.
si_stream *shim_stream(void *handle);
// Devices that are there.
int shim_devices(void);
// Version of the collective library, in its own numbering.
int shim_nccl_version(void);
// The core's type of ncclFloat8e4m3 (10) and ncclFloat8e5m2 (11), which differs from chip to chip.
int shim_nccl_float8(int type);

// ---------------------------------------------------------------------------------------------------------------------
// Devices: the calling thread's current one.

int si_current(void);
void si_make_current(int device);

// ---------------------------------------------------------------------------------------------------------------------
// Weft's own kernels (weft_kernels.cu, weft_kernels.hip), told by their names: their text is for real devices.

// The number of a kernel, 0 when there is none of this name.
int sk_find(const char *name);
// Runs it: SI_MISALIGNED or SI_INVALID when a real device would go wrong.
int sk_launch(int kernel, const unsigned grid[3], const unsigned block[3], si_stream *stream, void **arguments);

// ---------------------------------------------------------------------------------------------------------------------
// Products by a library in the style of "Lt": descriptions, column-major layouts, preferences.

typedef struct {
    int compute, scale, transpose_a, transpose_b;
} sp_description;

typedef struct {
    int type; // the vendor's
    int64_t rows, columns, pitch, stride;
    int batch;
} sp_layout;

typedef struct {
    size_t workspace;
    unsigned reduction, alignment[4];
} sp_preference;

// Whether matrices fit one another; gives the product's shape.
int sp_fits(const sp_description *d, const sp_layout *a, const sp_layout *b, const sp_layout *c, int64_t *m, int64_t *n, int64_t *k);
// C = alpha * op(A) * op(B) + beta * C. Types are the core's; whole: alpha and beta are integers.
int sp_multiply(const sp_description *d, int whole, const void *alpha, const void *a, const sp_layout *la, const void *b, const sp_layout *lb, const void *beta, void *c, const sp_layout *lc, int operand_type, int result_type, si_stream *stream);
#endif

// SPDX-License-Identifier: Apache-2.0
//
// Runs the kernels' source on the host: their threads one after the other, those of a product as fibres that meet at
// barriers. So every number that a device would compute can be compared, where there is no device.
#include <cmath>
#include <cstring>
#include <cstdlib>
#include <ucontext.h>

#define __HIP__ 1
#define __device__
#define __forceinline__ inline
#define __global__
#define __shared__ static

struct Index {
    unsigned x, y, z;
};
static Index gridDim, blockDim, blockIdx, threadIdx;

struct uint4 {
    unsigned x, y, z, w;
};
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

static inline float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

static inline unsigned __float_as_uint(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, 4);
    return bits;
}

static inline int __float2int_rn(float value) { return (int)std::lrintf(value); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fmaf_rn(float a, float b, float c) { return std::fmaf(a, b, c); }

static ucontext_t scheduler;
static ucontext_t fibers[256];
static bool ended[256];
static unsigned running;

static void __syncthreads() { swapcontext(&fibers[running], &scheduler); }

#include "weft_kernels.cu"

static void each(unsigned grid, unsigned block, void (*kernel)(const void *), const void *argument) {
    gridDim = {grid, 1, 1};
    blockDim = {block, 1, 1};
    for (unsigned b = 0; b < grid; b++) {
        for (unsigned t = 0; t < block; t++) {
            blockIdx = {b, 0, 0};
            threadIdx = {t, 0, 0};
            kernel(argument);
        }
    }
}

extern "C" void host_reduce(const Reduction *r, unsigned grid, unsigned block) {
    each(grid, block, [](const void *a) { weft_reduce(*(const Reduction *)a); }, r);
}

extern "C" void host_sum_wide(const Reduction *r, unsigned grid, unsigned block) {
    each(grid, block, [](const void *a) { weft_sum_wide(*(const Reduction *)a); }, r);
}

extern "C" void host_copy(const Rectangle *r, int wide, unsigned grid, unsigned block) {
    if (wide) {
        each(grid, block, [](const void *a) { weft_copy_wide(*(const Rectangle *)a); }, r);
    } else {
        each(grid, block, [](const void *a) { weft_copy_bytes(*(const Rectangle *)a); }, r);
    }
}

static const Product *product;

static void fiber() {
    weft_gemm(*product);
    ended[running] = true;
    swapcontext(&fibers[running], &scheduler);
}

extern "C" void host_gemm(const Product *p, unsigned gx, unsigned gy, unsigned gz) {
    enum { STACK = 64 << 10 };
    char *stacks = (char *)std::malloc((size_t)256 * STACK);
    product = p;
    gridDim = {gx, gy, gz};
    blockDim = {TILE, TILE, 1};
    for (unsigned block = 0; block < gx * gy * gz; block++) {
        blockIdx = {block % gx, block / gx % gy, block / gx / gy};
        for (unsigned t = 0; t < 256; t++) {
            ended[t] = false;
            getcontext(&fibers[t]);
            fibers[t].uc_stack.ss_sp = stacks + (size_t)t * STACK;
            fibers[t].uc_stack.ss_size = STACK;
            fibers[t].uc_link = nullptr;
            makecontext(&fibers[t], fiber, 0);
        }
        for (bool any = true; any;) {
            any = false;
            for (unsigned t = 0; t < 256; t++) {
                if (!ended[t]) {
                    running = t;
                    threadIdx = {t % TILE, t / TILE, 0};
                    swapcontext(&scheduler, &fibers[t]);
                    any = true;
                }
            }
        }
    }
    std::free(stacks);
}

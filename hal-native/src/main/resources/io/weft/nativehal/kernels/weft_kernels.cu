// SPDX-License-Identifier: Apache-2.0
//
// The kernels that no vendor library has: elementwise reductions with Weft's rounding rules, copies by compute units,
// and a plain matrix product for what the vendor's library refuses. One source for every vendor whose compiler reads it:
// the NVIDIA plugin ships it compiled to PTX (its compile-kernels.sh), the AMD plugin compiles it for the device that is
// there when a platform is opened. No header is used.
//
// Element type codes are those of io.weft.nativehal.kernels.KernelNumbers.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

enum { FP32 = 0, FP16 = 1, BF16 = 2, E4M3 = 3, E5M2 = 4, E4M3_FNUZ = 5, E5M2_FNUZ = 6, INT8 = 7, INT32 = 8 };
enum { SUM = 0, PROD = 1, MIN = 2, MAX = 3, AVG = 4, SCALED_SUM = 5 };

static __device__ __forceinline__ float bitsToFloat(u32 bits) { return __uint_as_float(bits); }
static __device__ __forceinline__ u32 floatToBits(float value) { return __float_as_uint(value); }

static __device__ __forceinline__ bool isNan(float x) { return x != x; }

#if defined(__HIP__) || defined(__HIPCC_RTC__)
// Nothing may be fused that is not written so; __fmul_rn is a plain product there.
#pragma clang fp contract(off)
#define __grid_constant__

static __device__ __forceinline__ float halfToFloat(u16 bits) {
    _Float16 half;
    __builtin_memcpy(&half, &bits, 2);
    return (float)half;
}

static __device__ __forceinline__ u16 floatToHalf(float value) {
    _Float16 half = (_Float16)value;
    u16 bits;
    __builtin_memcpy(&bits, &half, 2);
    return bits;
}
#else
static __device__ __forceinline__ float halfToFloat(u16 bits) {
    float value;
    asm("{ .reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "h"(bits));
    return value;
}

static __device__ __forceinline__ u16 floatToHalf(float value) {
    u16 bits;
    asm("{ .reg .f16 h; cvt.rn.f16.f32 h, %1; mov.b16 %0, h; }" : "=h"(bits) : "f"(value));
    return bits;
}
#endif

static __device__ __forceinline__ u16 floatToBf16(float value) {
    u32 bits = floatToBits(value);
    if (isNan(value)) {
        return (u16)((bits >> 16) | 0x40);
    }
    return (u16)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// One unit of 2^exponent, exponent in the normal range of fp32.
static __device__ __forceinline__ float powerOfTwo(int exponent) { return bitsToFloat((u32)(exponent + 127) << 23); }

static __device__ float byteToFloat(u8 bits, int exponentBits, int mantissaBits, int bias, bool fnuz, bool ocpNoInfinity) {
    u32 exponentMask = (1u << exponentBits) - 1;
    u32 mantissaMask = (1u << mantissaBits) - 1;
    u32 exponent = (bits >> mantissaBits) & exponentMask;
    u32 mantissa = bits & mantissaMask;
    float nan = bitsToFloat(0x7FC00000u);
    if (fnuz && bits == 0x80) {
        return nan;
    }
    if (exponent == exponentMask && !fnuz) {
        if (ocpNoInfinity) {
            if (mantissa == mantissaMask) {
                return nan;
            }
        } else {
            float infinity = bitsToFloat(0x7F800000u);
            float value = mantissa == 0 ? infinity : nan;
            return bits & 0x80 ? -value : value;
        }
    }
    float value = exponent == 0 ? (float)mantissa * powerOfTwo(1 - bias - mantissaBits)
                                : (float)(mantissa | (1u << mantissaBits)) * powerOfTwo((int)exponent - bias - mantissaBits);
    return bits & 0x80 ? -value : value;
}

static __device__ u8 floatToByte(float value, int mantissaBits, int bias, bool fnuz, bool ocpNoInfinity) {
    u32 bits = floatToBits(value);
    u32 sign = (bits >> 31) << 7;
    if (isNan(value)) {
        return (u8)(fnuz ? 0x80 : sign | 0x7F);
    }
    u32 magnitude = bits & 0x7FFFFFFFu;
    if (magnitude == 0x7F800000u) {
        return (u8)(fnuz ? 0x80 : ocpNoInfinity ? sign | 0x7F : sign | 0x7C);
    }
    int exponent = (int)(magnitude >> 23) - 127;
    if (exponent < 1 - bias) {
        exponent = 1 - bias;
    }
    u32 largest = fnuz ? 0x7Fu : ocpNoInfinity ? 0x7Eu : 0x7Bu;
    u32 code = largest;
    if (exponent - bias < 40) {
        // Exact: a power of two times a finite fp32 of this exponent.
        float scaled = bitsToFloat(magnitude) * powerOfTwo(mantissaBits - exponent);
        u32 units = (u32)__float2int_rn(scaled);
        u32 hidden = 1u << mantissaBits;
        u32 whole = units < hidden ? units : ((u32)(exponent + bias - 1) << mantissaBits) + units;
        code = whole < largest ? whole : largest;
    }
    if (fnuz && code == 0) {
        return 0;
    }
    return (u8)(sign | code);
}

static __device__ __forceinline__ float load(const void *base, i64 index, int type) {
    switch (type) {
        case FP32:
            return ((const float *)base)[index];
        case FP16:
            return halfToFloat(((const u16 *)base)[index]);
        case BF16:
            return bitsToFloat((u32)((const u16 *)base)[index] << 16);
        case E4M3:
            return byteToFloat(((const u8 *)base)[index], 4, 3, 7, false, true);
        case E5M2:
            return byteToFloat(((const u8 *)base)[index], 5, 2, 15, false, false);
        case E4M3_FNUZ:
            return byteToFloat(((const u8 *)base)[index], 4, 3, 8, true, false);
        default:
            return byteToFloat(((const u8 *)base)[index], 5, 2, 16, true, false);
    }
}

static __device__ __forceinline__ void store(void *base, i64 index, int type, float value) {
    switch (type) {
        case FP32:
            ((float *)base)[index] = value;
            break;
        case FP16:
            ((u16 *)base)[index] = floatToHalf(value);
            break;
        case BF16:
            ((u16 *)base)[index] = floatToBf16(value);
            break;
        case E4M3:
            ((u8 *)base)[index] = floatToByte(value, 3, 7, false, true);
            break;
        case E5M2:
            ((u8 *)base)[index] = floatToByte(value, 2, 15, false, false);
            break;
        case E4M3_FNUZ:
            ((u8 *)base)[index] = floatToByte(value, 3, 8, true, false);
            break;
        default:
            ((u8 *)base)[index] = floatToByte(value, 2, 16, true, false);
            break;
    }
}

// Rounds to a type and back: a factor is rounded to the element type before it is used.
static __device__ float rounded(float value, int type) {
    switch (type) {
        case FP16:
            return halfToFloat(floatToHalf(value));
        case BF16:
            return bitsToFloat((u32)floatToBf16(value) << 16);
        case E4M3:
            return byteToFloat(floatToByte(value, 3, 7, false, true), 4, 3, 7, false, true);
        case E5M2:
            return byteToFloat(floatToByte(value, 2, 15, false, false), 5, 2, 15, false, false);
        case E4M3_FNUZ:
            return byteToFloat(floatToByte(value, 3, 8, true, false), 4, 3, 8, true, false);
        case E5M2_FNUZ:
            return byteToFloat(floatToByte(value, 2, 16, true, false), 5, 2, 16, true, false);
        default:
            return value;
    }
}

// A NaN wins against any number, as in Java.
static __device__ __forceinline__ float smaller(float a, float b) {
    if (isNan(a) || isNan(b)) {
        return a + b;
    }
    return a < b || (a == b && (floatToBits(a) >> 31)) ? a : b;
}

static __device__ __forceinline__ float larger(float a, float b) {
    if (isNan(a) || isNan(b)) {
        return a + b;
    }
    return a > b || (a == b && !(floatToBits(a) >> 31)) ? a : b;
}

static __device__ __forceinline__ float combine(float sum, float next, int op, float factor) {
    switch (op) {
        case PROD:
            return sum * next;
        case MIN:
            return smaller(sum, next);
        case MAX:
            return larger(sum, next);
        case AVG:
        case SCALED_SUM:
            return __fadd_rn(sum, __fmul_rn(next, factor));
        default:
            return sum + next;
    }
}

#define MAX_INPUTS 64

struct Reduction {
    u64 destination;
    i64 destinationPitch; // elements
    i64 rows;
    i64 columns;
    int inputs;
    int op;
    float factor; // AVG: 1 / inputs; SCALED_SUM: the scale
    int inputType;
    int outputType;
    int whole; // 1: one long row without gaps, aligned to 16 bytes
    u64 source[MAX_INPUTS];
    i64 pitch[MAX_INPUTS]; // elements
};

static __device__ void reduceFloats(const Reduction &r) {
    i64 total = r.rows * r.columns;
    float factor = r.op == AVG || r.op == SCALED_SUM ? rounded(r.factor, r.inputType) : 1.0f;
    bool scaled = r.op == AVG || r.op == SCALED_SUM;
    i64 step = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
        i64 row = r.whole ? 0 : i / r.columns;
        i64 column = r.whole ? i : i - row * r.columns;
        float sum = load((const void *)r.source[0], row * r.pitch[0] + column, r.inputType);
        if (scaled) {
            sum = __fmul_rn(sum, factor);
        }
        for (int k = 1; k < r.inputs; k++) {
            sum = combine(sum, load((const void *)r.source[k], row * r.pitch[k] + column, r.inputType), r.op, factor);
        }
        store((void *)r.destination, row * r.destinationPitch + column, r.outputType, sum);
    }
}

static __device__ __forceinline__ i64 loadInteger(u64 base, i64 index, int type) {
    return type == INT8 ? (i64)((const signed char *)base)[index] : (i64)((const int *)base)[index];
}

static __device__ __forceinline__ int wrap(i64 value, int type) { return type == INT8 ? (int)(signed char)value : (int)value; }

static __device__ void reduceIntegers(const Reduction &r) {
    i64 total = r.rows * r.columns;
    i64 step = (i64)gridDim.x * blockDim.x;
    int scale = (int)r.factor;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
        i64 row = i / r.columns;
        i64 column = i - row * r.columns;
        i64 sum = loadInteger(r.source[0], row * r.pitch[0] + column, r.inputType);
        if (r.op == SCALED_SUM) {
            sum *= scale;
        }
        for (int k = 1; k < r.inputs; k++) {
            i64 next = loadInteger(r.source[k], row * r.pitch[k] + column, r.inputType);
            switch (r.op) {
                case PROD:
                    sum = wrap(sum * next, r.inputType);
                    break;
                case MIN:
                    sum = next < sum ? next : sum;
                    break;
                case MAX:
                    sum = next > sum ? next : sum;
                    break;
                case SCALED_SUM:
                    sum += next * scale;
                    break;
                default:
                    sum += next;
                    break;
            }
        }
        if (r.op == AVG) {
            sum = wrap(sum, r.inputType) / r.inputs; // wrapped as the type would, then divided
        }
        i64 at = row * r.destinationPitch + column;
        if (r.outputType == INT8) {
            ((signed char *)r.destination)[at] = (signed char)sum;
        } else {
            ((int *)r.destination)[at] = (int)sum;
        }
    }
}

// Any reduction of any type.
extern "C" __global__ void weft_reduce(const __grid_constant__ Reduction r) {
    if (r.inputType >= INT8) {
        reduceIntegers(r);
    } else {
        reduceFloats(r);
    }
}

// Sums of 2-byte floats without gaps: 8 elements for each thread and step, one 16-byte access for each input.
extern "C" __global__ void weft_sum_wide(const __grid_constant__ Reduction r) {
    i64 groups = r.columns / 8;
    i64 step = (i64)gridDim.x * blockDim.x;
    for (i64 g = (i64)blockIdx.x * blockDim.x + threadIdx.x; g < groups; g += step) {
        float sum[8];
#pragma unroll
        for (int e = 0; e < 8; e++) {
            sum[e] = 0;
        }
        for (int k = 0; k < r.inputs; k++) {
            uint4 packed = ((const uint4 *)r.source[k])[g];
            u32 words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
            for (int e = 0; e < 8; e++) {
                u16 bits = (u16)(words[e / 2] >> (e % 2 * 16));
                float next = r.inputType == BF16 ? bitsToFloat((u32)bits << 16) : halfToFloat(bits);
                sum[e] = k == 0 ? next : sum[e] + next;
            }
        }
        u32 words[4];
#pragma unroll
        for (int w = 0; w < 4; w++) {
            u32 low = r.outputType == BF16 ? floatToBf16(sum[2 * w]) : floatToHalf(sum[2 * w]);
            u32 high = r.outputType == BF16 ? floatToBf16(sum[2 * w + 1]) : floatToHalf(sum[2 * w + 1]);
            words[w] = low | high << 16;
        }
        ((uint4 *)r.destination)[g] = make_uint4(words[0], words[1], words[2], words[3]);
    }
    // What is left of the last group.
    i64 done = groups * 8;
    i64 rest = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (rest < r.columns - done) {
        float sum = load((const void *)r.source[0], done + rest, r.inputType);
        for (int k = 1; k < r.inputs; k++) {
            sum += load((const void *)r.source[k], done + rest, r.inputType);
        }
        store((void *)r.destination, done + rest, r.outputType, sum);
    }
}

struct Rectangle {
    u64 destination;
    u64 source;
    i64 destinationPitch; // bytes
    i64 sourcePitch;      // bytes
    i64 width;            // bytes
    i64 rows;
};

// Copies a rectangle of bytes. All figures are multiples of 16.
extern "C" __global__ void weft_copy_wide(const __grid_constant__ Rectangle r) {
    i64 width = r.width / 16;
    i64 total = width * r.rows;
    i64 step = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
        i64 row = i / width;
        i64 at = i - row * width;
        ((uint4 *)(r.destination + row * r.destinationPitch))[at] = ((const uint4 *)(r.source + row * r.sourcePitch))[at];
    }
}

// The same for any alignment.
extern "C" __global__ void weft_copy_bytes(const __grid_constant__ Rectangle r) {
    i64 total = r.width * r.rows;
    i64 step = (i64)gridDim.x * blockDim.x;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
        i64 row = i / r.width;
        i64 at = i - row * r.width;
        ((u8 *)(r.destination + row * r.destinationPitch))[at] = ((const u8 *)(r.source + row * r.sourcePitch))[at];
    }
}

struct Product {
    u64 c;
    u64 a;
    u64 b;
    i64 m;
    i64 n;
    i64 k;
    i64 cRow, cColumn; // elements from one row (column) to the next
    i64 aRow, aColumn; // of op(A)
    i64 bRow, bColumn; // of op(B)
    i64 cStride, aStride, bStride;
    float alpha;
    float beta;
    int inputType;
    int outputType;
};

#define TILE 16

// A plain product, K in order, fused multiply-adds in fp32 (integers in int32): slow and general.
extern "C" __global__ void weft_gemm(const __grid_constant__ Product p) {
    __shared__ float tileA[TILE][TILE + 1];
    __shared__ float tileB[TILE][TILE + 1];
    i64 batch = blockIdx.z;
    i64 row = (i64)blockIdx.y * TILE + threadIdx.y;
    i64 column = (i64)blockIdx.x * TILE + threadIdx.x;
    i64 baseA = batch * p.aStride;
    i64 baseB = batch * p.bStride;
    bool integer = p.inputType == INT8;
    float sum = 0;
    int whole = 0;
    for (i64 k0 = 0; k0 < p.k; k0 += TILE) {
        i64 ka = k0 + threadIdx.x;
        i64 kb = k0 + threadIdx.y;
        float a = 0;
        float b = 0;
        if (row < p.m && ka < p.k) {
            i64 at = baseA + row * p.aRow + ka * p.aColumn;
            a = integer ? (float)((const signed char *)p.a)[at] : load((const void *)p.a, at, p.inputType);
        }
        if (column < p.n && kb < p.k) {
            i64 at = baseB + kb * p.bRow + column * p.bColumn;
            b = integer ? (float)((const signed char *)p.b)[at] : load((const void *)p.b, at, p.inputType);
        }
        tileA[threadIdx.y][threadIdx.x] = a;
        tileB[threadIdx.y][threadIdx.x] = b;
        __syncthreads();
        int steps = p.k - k0 < TILE ? (int)(p.k - k0) : TILE;
        if (integer) {
            for (int k = 0; k < steps; k++) {
                whole += (int)tileA[threadIdx.y][k] * (int)tileB[k][threadIdx.x];
            }
        } else {
            for (int k = 0; k < steps; k++) {
                sum = __fmaf_rn(tileA[threadIdx.y][k], tileB[k][threadIdx.x], sum);
            }
        }
        __syncthreads();
    }
    if (row >= p.m || column >= p.n) {
        return;
    }
    i64 at = batch * p.cStride + row * p.cRow + column * p.cColumn;
    if (integer) {
        int *c = (int *)p.c;
        int old = p.beta == 0 ? 0 : (int)p.beta * c[at];
        c[at] = (int)p.alpha * whole + old;
        return;
    }
    float result = __fmul_rn(p.alpha, sum);
    if (p.beta != 0) {
        result = __fmaf_rn(p.beta, load((const void *)p.c, at, p.outputType), result);
    }
    store((void *)p.c, at, p.outputType, result);
}

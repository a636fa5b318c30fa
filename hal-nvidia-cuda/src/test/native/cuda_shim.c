// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's names and numbers on the stand-in core: the functions of libcudart, libcuda, libcublasLt, libnccl and
// libnvidia-ml that the plugin binds. One file plays all five libraries under five names. Signatures and numbers as in
// the vendor's headers of CUDA 13 and NCCL 2.28.
//
// Tests link variants that hide some functions, as older libraries lack them.
#include "standin_core.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API SI_EXPORT

typedef unsigned int u32;
typedef unsigned long long u64;

// ---------------------------------------------------------------------------------------------------------------------
// Runtime

static __thread int current;

enum { NOT_READY = 600, LAUNCH_FAILURE = 719, NO_DEVICE = 100, INSUFFICIENT_DRIVER = 35, INVALID_DEVICE = 101, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INVALID_HANDLE = 400, CAPTURE_UNSUPPORTED = 900, CAPTURE_UNJOINED = 904, CAPTURE_UNMATCHED = 903, UPDATE_FAILURE = 910, PEER_ALREADY = 704 };

static int vendor(int code) {
    switch (code) {
        case SI_OK:
            return 0;
        case SI_OUT_OF_MEMORY:
            return MEMORY_ALLOCATION;
        case SI_NOT_READY:
            return NOT_READY;
        case SI_DEVICE_FAILED:
            return LAUNCH_FAILURE;
        case SI_CAPTURE_UNJOINED:
            return CAPTURE_UNJOINED;
        case SI_CAPTURE_ILLEGAL:
            return CAPTURE_UNSUPPORTED;
        case SI_NOT_CAPTURING:
            return CAPTURE_UNMATCHED;
        default:
            return INVALID_VALUE;
    }
}

static const struct {
    int code;
    const char *name, *text;
} TEXTS[] = {
    {0, "cudaSuccess", "no error"},
    {INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {MEMORY_ALLOCATION, "cudaErrorMemoryAllocation", "out of memory"},
    {INSUFFICIENT_DRIVER, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {NO_DEVICE, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {NOT_READY, "cudaErrorNotReady", "device not ready"},
    {PEER_ALREADY, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {LAUNCH_FAILURE, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {CAPTURE_UNJOINED, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {UPDATE_FAILURE, "cudaErrorGraphExecUpdateFailure", "the graph update was not performed"},
};

API const char *cudaGetErrorName(int code) {
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        if (TEXTS[i].code == code) {
            return TEXTS[i].name;
        }
    }
    return "unrecognized error code";
}

API const char *cudaGetErrorString(int code) {
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        if (TEXTS[i].code == code) {
            return TEXTS[i].text;
        }
    }
    return "unrecognized error code";
}

API int cudaGetLastError(void) { return 0; }

API int cudaRuntimeGetVersion(int *version) {
    *version = si_fault("old-version") ? 11080 : 13000;
    return 0;
}

API int cudaDriverGetVersion(int *version) {
    *version = 13000;
    return 0;
}

static int devices(void) { return (int)si_fault("devices"); }

API int cudaGetDeviceCount(int *count) {
    *count = devices();
    return *count ? 0 : NO_DEVICE;
}

API int cudaSetDevice(int device) {
    if (device < 0 || device >= devices()) {
        return INVALID_DEVICE;
    }
    current = device;
    return 0;
}

API int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
        case 13: *value = 1980000; return 0; // clock, kHz
        case 16: *value = 4; return 0;       // compute units
        case 32: *value = 1; return 0;       // ECC
        case 36: *value = 2600000; return 0; // memory clock, kHz
        case 37: *value = 5120; return 0;    // bus, bits
        case 38: *value = 1 << 20; return 0; // L2
        case 40: *value = 3; return 0;       // copy engines
        case 41: *value = 1; return 0;
        case 75: *value = 9; return 0;
        case 76: *value = 0; return 0;
        case 78: *value = 1; return 0;
        case 115: *value = 1; return 0;
        case 134: *value = 0; return 0;
        default: return INVALID_VALUE;
    }
}

API int cudaDeviceGetPCIBusId(char *text, int length, int device) {
    snprintf(text, (size_t)length, "0000:%02X:00.0", 0x1A + device);
    return 0;
}

API int cudaDeviceSynchronize(void) { return vendor(si_device_synchronize(current)); }

API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return 0;
}

API int cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = device != peer;
    return 0;
}

API int cudaDeviceEnablePeerAccess(int peer, u32 flags) {
    static char enabled[SI_MAX_DEVICES][SI_MAX_DEVICES];
    (void)flags;
    if (enabled[current][peer]) {
        return PEER_ALREADY;
    }
    enabled[current][peer] = 1;
    return 0;
}

API int cudaMalloc(void **memory, size_t bytes) { return vendor(si_allocate(current, bytes, memory)); }

API int cudaFree(void *memory) {
    if (!memory) {
        return 0;
    }
    int code = si_device_synchronize(current); // as the real one
    int freed = si_free(memory);
    return vendor(code ? code : freed);
}

API int cudaHostAlloc(void **memory, size_t bytes, u32 flags) {
    (void)flags;
    return vendor(si_allocate(-1, bytes, memory));
}

API int cudaFreeHost(void *memory) { return vendor(si_free(memory)); }

API int cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    si_memory_info(current, free_bytes, total);
    return 0;
}

static si_stream *stream_of(void *handle) {
    return (uintptr_t)handle <= 1 ? si_default_stream(current) : handle;
}

API int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    if (kind != 4) {
        return INVALID_VALUE;
    }
    return vendor(si_copy(stream_of(stream), to, bytes, from, bytes, bytes, 1, 0));
}

API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int kind, void *stream) {
    if (kind != 4 || width > to_pitch || width > from_pitch) {
        return INVALID_VALUE;
    }
    return vendor(si_copy(stream_of(stream), to, to_pitch, from, from_pitch, width, rows, 0));
}

API int cudaStreamCreateWithPriority(void **stream, u32 flags, int priority) {
    (void)priority;
    *stream = si_stream_create(current, !(flags & 1));
    return 0;
}

API int cudaStreamDestroy(void *stream) { return vendor(si_stream_destroy(stream)); }
API int cudaStreamSynchronize(void *stream) { return vendor(si_stream_synchronize(stream_of(stream))); }
API int cudaStreamQuery(void *stream) { return vendor(si_stream_query(stream_of(stream))); }

API int cudaStreamWaitEvent(void *stream, void *event, u32 flags) {
    (void)flags;
    return vendor(si_stream_wait(stream_of(stream), event));
}

API int cudaEventCreateWithFlags(void **event, u32 flags) {
    *event = si_event_create(current, !(flags & 2));
    return 0;
}

API int cudaEventDestroy(void *event) { return vendor(si_event_destroy(event)); }

API int cudaEventRecord(void *event, void *stream) {
    int code = si_event_record(event, stream_of(stream), 0);
    return code == SI_INVALID ? INVALID_HANDLE : vendor(code);
}

API int cudaEventRecordWithFlags(void *event, void *stream, u32 flags) {
    int code = si_event_record(event, stream_of(stream), flags & 1);
    return code == SI_INVALID ? INVALID_HANDLE : vendor(code);
}

API int cudaEventQuery(void *event) { return vendor(si_event_query(event)); }
API int cudaEventSynchronize(void *event) { return vendor(si_event_synchronize(event)); }

API int cudaEventElapsedTime(float *millis, void *start, void *end) {
    int code = si_event_elapsed(millis, start, end);
    return code == SI_INVALID ? INVALID_HANDLE : vendor(code);
}

API int cudaStreamBeginCapture(void *stream, int mode) {
    (void)mode;
    return vendor(si_capture_begin(stream));
}

API int cudaStreamEndCapture(void *stream, void **graph) { return vendor(si_capture_end(stream, (si_graph **)graph)); }

API int cudaGraphInstantiateWithFlags(void **exec, void *graph, u64 flags) {
    (void)flags;
    *exec = si_graph_instantiate(graph);
    return 0;
}

API int cudaGraphExecUpdate(void *exec, void *graph, void *result) {
    (void)result;
    return si_exec_update(exec, graph) == SI_OK ? 0 : UPDATE_FAILURE;
}

API int cudaGraphLaunch(void *exec, void *stream) { return vendor(si_exec_launch(exec, stream_of(stream))); }

API int cudaGraphExecDestroy(void *exec) {
    si_exec_destroy(exec);
    return 0;
}

API int cudaGraphDestroy(void *graph) {
    si_graph_destroy(graph);
    return 0;
}

API int cudaGraphGetNodes(void *graph, void **nodes, size_t *count) {
    (void)nodes;
    *count = (size_t)si_graph_nodes(graph);
    return 0;
}

// Pools: plain allocations that are made at once and given back in stream order.
API int cudaMemPoolCreate(void **pool, const int *properties) {
    int *device = malloc(sizeof *device);
    *device = properties[3];
    *pool = device;
    return properties[0] == 1 && properties[2] == 1 ? 0 : INVALID_VALUE;
}

API int cudaMemPoolDestroy(void *pool) {
    free(pool);
    return 0;
}

API int cudaMemPoolSetAccess(void *pool, const int *access, size_t count) {
    (void)pool;
    return count == 1 && access[0] == 1 && access[2] == 3 ? 0 : INVALID_VALUE;
}

API int cudaMemPoolSetAttribute(void *pool, int attribute, const u64 *value) {
    (void)pool;
    (void)value;
    return attribute == 4 ? 0 : INVALID_VALUE;
}

API int cudaMallocFromPoolAsync(void **memory, size_t bytes, void *pool, void *stream) {
    (void)stream;
    return vendor(si_allocate(*(int *)pool, bytes, memory));
}

static int run_free(void *argument) {
    si_free(*(void **)argument);
    return SI_OK;
}

API int cudaFreeAsync(void *memory, void *stream) {
    return vendor(si_push(stream_of(stream), run_free, &memory, sizeof memory));
}

// ---------------------------------------------------------------------------------------------------------------------
// Driver

API int cuInit(u32 flags) {
    (void)flags;
    return si_fault("driver-fails") ? NO_DEVICE : 0;
}

API int cuGetErrorName(int code, const char **text) {
    *text = code == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : code == MEMORY_ALLOCATION ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_INVALID_VALUE";
    return 0;
}

API int cuGetErrorString(int code, const char **text) {
    *text = cudaGetErrorString(code);
    return 0;
}

API int cuDeviceGetName(char *name, int length, int device) {
    (void)device;
    snprintf(name, (size_t)length, "Stand-in GPU");
    return 0;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    size_t unused;
    si_memory_info(device, &unused, bytes);
    return 0;
}

// Kernels are told by their names: the text itself is for real devices.
enum { REDUCE = 1, SUM_WIDE, COPY_WIDE, COPY_BYTES, GEMM };

API int cuModuleLoadData(void **module, const char *text) {
    if (!strstr(text, ".visible .entry weft_reduce")) {
        return 218; // CUDA_ERROR_INVALID_PTX
    }
    *module = (void *)(uintptr_t)7;
    return 0;
}

API int cuModuleUnload(void *module) { return module == (void *)(uintptr_t)7 ? 0 : INVALID_HANDLE; }

API int cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    const char *names[] = {"", "weft_reduce", "weft_sum_wide", "weft_copy_wide", "weft_copy_bytes", "weft_gemm"};
    for (uintptr_t i = 1; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *function = (void *)i;
            return 0;
        }
    }
    return 500;
}

// The arguments of weft_kernels.cu.
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

// Their order of types and reductions is the core's.
API int cuLaunchKernel(void *function, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, void *stream, void **arguments, void **extra) {
    (void)bz;
    (void)shared;
    (void)extra;
    si_stream *s = stream_of(stream);
    if (gx == 0 || gy == 0 || gz == 0 || gy > 65535 || gz > 65535 || bx * by > 1024) {
        return INVALID_VALUE;
    }
    switch ((int)(uintptr_t)function) {
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
            if (r->op == SI_AVG) {
                out.factor = r->factor;
            }
            if (function == (void *)SUM_WIDE && (bits & 15 || r->rows != 1 || r->op != SI_SUM)) {
                return 716; // misaligned address
            }
            return vendor(si_reduce(s, &out));
        }
        case COPY_WIDE:
        case COPY_BYTES: {
            const rectangle_t *r = arguments[0];
            uintptr_t bits = (uintptr_t)r->destination | (uintptr_t)r->source | (uintptr_t)r->width;
            if (r->rows > 1) {
                bits |= (uintptr_t)r->destination_pitch | (uintptr_t)r->source_pitch;
            }
            if (function == (void *)COPY_WIDE && bits & 15) {
                return 716;
            }
            return vendor(si_copy(s, r->destination, (size_t)r->destination_pitch, r->source, (size_t)r->source_pitch, (size_t)r->width, (size_t)r->rows, 1));
        }
        case GEMM: {
            const product_t *p = arguments[0];
            if ((int64_t)gx * bx < p->n || (int64_t)gy * by < p->m) {
                return INVALID_VALUE; // a part of the result would not be written
            }
            si_product out = {p->c, p->a, p->b, p->m, p->n, p->k, p->c_row, p->c_column, p->a_row, p->a_column, p->b_row, p->b_column, p->c_stride, p->a_stride, p->b_stride, (int)gz, p->alpha, p->beta, p->input_type, p->output_type};
            si_count("reference-gemms");
            return vendor(si_gemm(s, &out));
        }
        default:
            return INVALID_HANDLE;
    }
}

API int cuMemsetD8Async(void *to, unsigned char bits, size_t count, void *stream) { return vendor(si_fill(stream_of(stream), to, 0, bits, 1, count, 1)); }
API int cuMemsetD16Async(void *to, unsigned short bits, size_t count, void *stream) { return vendor(si_fill(stream_of(stream), to, 0, bits, 2, count, 1)); }
API int cuMemsetD32Async(void *to, u32 bits, size_t count, void *stream) { return vendor(si_fill(stream_of(stream), to, 0, bits, 4, count, 1)); }
API int cuMemsetD2D8Async(void *to, size_t pitch, unsigned char bits, size_t width, size_t rows, void *stream) { return vendor(si_fill(stream_of(stream), to, pitch, bits, 1, width, rows)); }
API int cuMemsetD2D16Async(void *to, size_t pitch, unsigned short bits, size_t width, size_t rows, void *stream) { return vendor(si_fill(stream_of(stream), to, pitch, bits, 2, width, rows)); }
API int cuMemsetD2D32Async(void *to, size_t pitch, u32 bits, size_t width, size_t rows, void *stream) { return vendor(si_fill(stream_of(stream), to, pitch, bits, 4, width, rows)); }

API int cuMemGetAllocationGranularity(size_t *bytes, const int *properties, int option) {
    (void)option;
    *bytes = 2u << 20;
    return properties[0] == 1 && properties[2] == 1 ? 0 : INVALID_VALUE;
}

API int cuMemCreate(u64 *handle, size_t bytes, const int *properties, u64 flags) {
    (void)flags;
    if (properties[0] != 1 || properties[2] != 1) {
        return INVALID_VALUE;
    }
    uint64_t made;
    int code = si_pages_create(properties[3], bytes, &made);
    *handle = made;
    return vendor(code);
}

API int cuMemRelease(u64 handle) { return vendor(si_pages_release(handle)); }

API int cuMemAddressReserve(void **address, size_t bytes, size_t alignment, void *wish, u64 flags) {
    (void)wish;
    (void)flags;
    return vendor(si_reserve(bytes, alignment, address));
}

API int cuMemAddressFree(void *address, size_t bytes) { return vendor(si_release(address, bytes)); }

API int cuMemMap(void *address, size_t bytes, size_t offset, u64 handle, u64 flags) {
    (void)flags;
    return offset ? INVALID_VALUE : vendor(si_map(address, bytes, handle));
}

API int cuMemUnmap(void *address, size_t bytes) { return vendor(si_unmap(address, bytes)); }

API int cuMemSetAccess(void *address, size_t bytes, const int *access, size_t count) {
    (void)address;
    (void)bytes;
    for (size_t i = 0; i < count; i++) {
        if (access[3 * i] != 1 || access[3 * i + 1] >= devices() || access[3 * i + 2] != 3) {
            return INVALID_VALUE;
        }
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// cuBLASLt

typedef struct {
    int compute, scale, transpose_a, transpose_b;
} description_t;

typedef struct {
    int type;
    int64_t rows, columns, pitch, stride;
    int batch;
} layout_t;

typedef struct {
    size_t workspace;
    u32 reduction, alignment[4];
} preference_t;

static int core_type(int cuda) {
    switch (cuda) {
        case 0: return SI_FP32;
        case 2: return SI_FP16;
        case 3: return SI_INT8;
        case 10: return SI_INT32;
        case 14: return SI_BF16;
        case 28: return SI_E4M3;
        case 29: return SI_E5M2;
        default: return -1;
    }
}

API size_t cublasLtGetVersion(void) { return 130100; }

API int cublasLtCreate(void **handle) {
    *handle = malloc(8);
    return 0;
}

API int cublasLtDestroy(void *handle) {
    free(handle);
    return 0;
}

API int cublasLtMatmulDescCreate(description_t **out, int compute, int scale) {
    *out = calloc(1, sizeof **out);
    (*out)->compute = compute;
    (*out)->scale = scale;
    return (compute == 68 && scale == 0) || (compute == 72 && scale == 10) ? 0 : 15;
}

API int cublasLtMatmulDescDestroy(description_t *d) {
    free(d);
    return 0;
}

API int cublasLtMatmulDescSetAttribute(description_t *d, int attribute, const int *value, size_t bytes) {
    if (bytes != 4 || *value > 1) {
        return 7;
    }
    if (attribute == 3) {
        d->transpose_a = *value;
    } else if (attribute == 4) {
        d->transpose_b = *value;
    } else {
        return 7;
    }
    return 0;
}

API int cublasLtMatrixLayoutCreate(layout_t **out, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
    *out = calloc(1, sizeof **out);
    (*out)->type = type;
    (*out)->rows = (int64_t)rows;
    (*out)->columns = (int64_t)columns;
    (*out)->pitch = pitch;
    (*out)->batch = 1;
    return pitch < (int64_t)rows ? 7 : 0;
}

API int cublasLtMatrixLayoutDestroy(layout_t *l) {
    free(l);
    return 0;
}

API int cublasLtMatrixLayoutSetAttribute(layout_t *l, int attribute, const void *value, size_t bytes) {
    if (attribute == 5 && bytes == 4) {
        l->batch = *(const int *)value;
    } else if (attribute == 6 && bytes == 8) {
        l->stride = *(const int64_t *)value;
    } else {
        return 7;
    }
    return 0;
}

API int cublasLtMatmulPreferenceCreate(preference_t **out) {
    *out = calloc(1, sizeof **out);
    return 0;
}

API int cublasLtMatmulPreferenceDestroy(preference_t *p) {
    free(p);
    return 0;
}

API int cublasLtMatmulPreferenceSetAttribute(preference_t *p, int attribute, const void *value, size_t bytes) {
    if (attribute == 1 && bytes == 8) {
        p->workspace = *(const size_t *)value;
    } else if (attribute == 3 && bytes == 4) {
        p->reduction = *(const u32 *)value;
    } else if (attribute >= 5 && attribute <= 8 && bytes == 4) {
        p->alignment[attribute - 5] = *(const u32 *)value;
    } else {
        return 7;
    }
    return 0;
}

typedef struct {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} result_t;

static int fits(const description_t *d, const layout_t *a, const layout_t *b, const layout_t *c, int64_t *m, int64_t *n, int64_t *k) {
    *m = d->transpose_a ? a->columns : a->rows;
    *k = d->transpose_a ? a->rows : a->columns;
    *n = d->transpose_b ? b->rows : b->columns;
    int64_t k_b = d->transpose_b ? b->columns : b->rows;
    return k_b == *k && c->rows == *m && c->columns == *n && a->batch == b->batch && b->batch == c->batch;
}

API int cublasLtMatmulAlgoGetHeuristic(void *handle, description_t *d, layout_t *a, layout_t *b, layout_t *c, layout_t *out, preference_t *p, int wanted, result_t *results, int *found) {
    (void)handle;
    (void)out;
    int64_t m, n, k;
    *found = 0;
    if (!fits(d, a, b, c, &m, &n, &k)) {
        return 7;
    }
    int eight = a->type == 28 || a->type == 29;
    // As on Hopper: 8-bit floats want the first operand transposed, the second not, multiples of 16, and no 8-bit result here.
    if (eight && (!d->transpose_a || d->transpose_b || k % 16 || m % 16 || c->type == 28 || c->type == 29 || p->alignment[0] < 16 || p->alignment[1] < 16)) {
        return 15;
    }
    if (a->type == 29 && b->type == 29) {
        return 15;
    }
    if (a->type == 3 && (!d->transpose_a || d->transpose_b || k % 4 || a->pitch % 4 || b->pitch % 4)) {
        return 15;
    }
    if (si_fault("refuse-gemm") || core_type(a->type) < 0) {
        return 15;
    }
    for (int i = 0; i < wanted && i < 3; i++) {
        memset(&results[i], 0, sizeof results[i]);
        results[i].algorithm[0] = 0x57454654;
        results[i].algorithm[1] = (uint64_t)i;
        results[i].workspace = i == 1 && p->workspace >= 4096 ? 4096 : 0;
        results[i].waves = 1.0f + i;
        ++*found;
    }
    return 0;
}

API int cublasLtMatmul(void *handle, description_t *d, const void *alpha, const void *a, layout_t *la, const void *b, layout_t *lb, const void *beta, const void *c, layout_t *lc, void *out, layout_t *lout, const uint64_t *algorithm, void *workspace, size_t workspace_bytes, void *stream) {
    (void)handle;
    (void)lout;
    int64_t m, n, k;
    if (!fits(d, la, lb, lc, &m, &n, &k) || c != out || algorithm[0] != 0x57454654 || (algorithm[1] == 1 && (!workspace || workspace_bytes < 4096))) {
        return 7;
    }
    int whole = d->compute == 72;
    si_product p = {
        .c = out, .a = a, .b = b, .m = m, .n = n, .k = k,
        .c_row = 1, .c_column = lc->pitch,
        .a_row = d->transpose_a ? la->pitch : 1, .a_column = d->transpose_a ? 1 : la->pitch,
        .b_row = d->transpose_b ? lb->pitch : 1, .b_column = d->transpose_b ? 1 : lb->pitch,
        .c_stride = lc->stride, .a_stride = la->stride, .b_stride = lb->stride, .batch = la->batch,
        .alpha = whole ? (float)*(const int *)alpha : *(const float *)alpha,
        .beta = whole ? (float)*(const int *)beta : *(const float *)beta,
        .operand_type = core_type(la->type), .result_type = core_type(lc->type),
    };
    si_count("gemms");
    return si_gemm(stream_of(stream), &p) == SI_OK ? 0 : 13;
}

// ---------------------------------------------------------------------------------------------------------------------
// NCCL

typedef struct {
    char bytes[128];
} unique_id;

#define MAX_OPS 64

typedef struct {
    si_comm *shared;
    int rank;
    int device;
    int operations;
    float factor[MAX_OPS];
    int used[MAX_OPS];
} comm_t;

typedef struct {
    comm_t *comm;
    void *stream;
    int transfer;
    si_part part;
    si_transfer move;
} call_t;

static __thread call_t *calls;
static __thread int call_count, call_room, depth;

API int ncclGetVersion(int *version) {
    *version = 22803;
    return 0;
}

API const char *ncclGetErrorString(int code) { return code == 4 ? "invalid argument" : code == 0 ? "no error" : "unhandled cuda error"; }
API const char *ncclGetLastError(comm_t *comm) {
    (void)comm;
    return "";
}

API int ncclGetUniqueId(unique_id *id) {
    static unsigned long made;
    memset(id, 0, sizeof *id);
    snprintf(id->bytes, sizeof id->bytes, "stand-in %lu %p", __sync_add_and_fetch(&made, 1), (void *)id);
    return 0;
}

API int ncclCommInitRankConfig(comm_t **out, int ranks, unique_id id, int rank, void *config) {
    (void)config;
    if (rank < 0 || rank >= ranks || ranks > SI_MAX_RANKS) {
        return 4;
    }
    comm_t *comm = calloc(1, sizeof *comm);
    comm->shared = si_comm_find(&id, sizeof id, ranks);
    comm->rank = rank;
    comm->device = current;
    si_count("communicators");
    *out = comm;
    return 0;
}

API int ncclCommInitRank(comm_t **out, int ranks, unique_id id, int rank) { return ncclCommInitRankConfig(out, ranks, id, rank, NULL); }

API int ncclCommDestroy(comm_t *comm) {
    si_comm_leave(comm->shared);
    return 0;
}

API int ncclCommAbort(comm_t *comm) {
    si_comm_abort(comm->shared);
    return 0;
}

API int ncclCommGetAsyncError(comm_t *comm, int *code) {
    (void)comm;
    *code = 0;
    return 0;
}

static int flush(void) {
    int code = SI_OK;
    for (int i = 0; i < call_count && code == SI_OK; i++) {
        call_t *call = &calls[i];
        if (!call->comm) {
            continue;
        }
        cudaSetDevice(call->comm->device);
        si_stream *stream = stream_of(call->stream);
        if (!call->transfer) {
            code = si_collective(call->comm->shared, call->comm->rank, stream, &call->part);
            continue;
        }
        // All transfers of one rank and stream in a group run at once.
        si_transfer *moves = malloc((size_t)call_count * sizeof *moves);
        int count = 0;
        comm_t *comm = call->comm;
        void *on = call->stream;
        for (int j = i; j < call_count; j++) {
            if (calls[j].comm == comm && calls[j].stream == on && calls[j].transfer) {
                moves[count++] = calls[j].move;
                calls[j].comm = NULL;
            }
        }
        code = si_transfers(comm->shared, comm->rank, stream, moves, count);
        free(moves);
    }
    call_count = 0;
    return code == SI_OK ? 0 : 1;
}

static int add(call_t call) {
    if (si_stream_device(stream_of(call.stream)) != call.comm->device && (uintptr_t)call.stream > 1) {
        return 4;
    }
    if (call_count == call_room) {
        call_room = call_room ? 2 * call_room : 16;
        calls = realloc(calls, (size_t)call_room * sizeof *calls);
    }
    calls[call_count++] = call;
    return depth ? 0 : flush();
}

API int ncclGroupStart(void) {
    depth++;
    return 0;
}

API int ncclGroupEnd(void) { return --depth ? 0 : flush(); }

static int nccl_type(int type) {
    switch (type) {
        case 0: case 1: return SI_INT8;
        case 2: return SI_INT32;
        case 6: return SI_FP16;
        case 7: return SI_FP32;
        case 9: return SI_BF16;
        case 10: return SI_E4M3;
        case 11: return SI_E5M2;
        default: return -1;
    }
}

static int collective(comm_t *comm, int kind, const void *from, void *to, size_t count, int type, int op, int root, void *stream) {
    static const int OPS[] = {SI_SUM, SI_PROD, SI_MAX, SI_MIN, SI_AVG};
    call_t call = {.comm = comm, .stream = stream};
    if (nccl_type(type) < 0) {
        return 4;
    }
    float factor = 1;
    int core = SI_SUM;
    if (op >= 5) {
        core = SI_SCALED;
        factor = comm->factor[op - 5];
    } else {
        core = OPS[op];
    }
    call.part = (si_part){kind, from, to, (int64_t)count, nccl_type(type), core, factor, root};
    return add(call);
}

API int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, comm_t *comm, void *stream) { return collective(comm, SI_ALL_REDUCE, from, to, count, type, op, 0, stream); }
API int ncclAllGather(const void *from, void *to, size_t count, int type, comm_t *comm, void *stream) { return collective(comm, SI_ALL_GATHER, from, to, count, type, 0, 0, stream); }
API int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, comm_t *comm, void *stream) { return collective(comm, SI_REDUCE_SCATTER, from, to, count, type, op, 0, stream); }
API int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, comm_t *comm, void *stream) { return collective(comm, SI_BROADCAST, from, to, count, type, 0, root, stream); }
API int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root, comm_t *comm, void *stream) { return collective(comm, SI_REDUCE, from, to, count, type, op, root, stream); }

static int transfer(comm_t *comm, int sends, void *data, size_t count, int type, int peer, void *stream) {
    if (peer < 0 || peer >= si_comm_size(comm->shared) || nccl_type(type) < 0) {
        return 4;
    }
    call_t call = {.comm = comm, .stream = stream, .transfer = 1, .move = {sends, peer, data, count * (size_t)si_element_bytes(nccl_type(type))}};
    return add(call);
}

API int ncclSend(void *from, size_t count, int type, int peer, comm_t *comm, void *stream) { return transfer(comm, 1, from, count, type, peer, stream); }
API int ncclRecv(void *to, size_t count, int type, int peer, comm_t *comm, void *stream) { return transfer(comm, 0, to, count, type, peer, stream); }

API int ncclRedOpCreatePreMulSum(int *op, const void *scalar, int type, int residence, comm_t *comm) {
    if (residence != 1) {
        return 4;
    }
    for (int i = 0; i < MAX_OPS; i++) {
        if (!comm->used[i]) {
            comm->used[i] = 1;
            comm->factor[i] = si_load(scalar, 0, nccl_type(type));
            *op = 5 + i;
            return 0;
        }
    }
    return 3;
}

API int ncclRedOpDestroy(int op, comm_t *comm) {
    comm->used[op - 5] = 0;
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// NVML

API int nvmlInit_v2(void) { return 0; }
API int nvmlShutdown(void) { return 0; }

API int nvmlSystemGetDriverVersion(char *text, u32 length) {
    snprintf(text, length, "999.1");
    return 0;
}

API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
    for (int i = 0; i < devices(); i++) {
        char text[32];
        snprintf(text, sizeof text, "0000:%02x:00.0", 0x1A + i);
        if (strcmp(bus, text) == 0) {
            *device = (void *)(uintptr_t)(i + 1);
            return 0;
        }
    }
    return 6;
}

API int nvmlDeviceGetNvLinkState(void *device, u32 link, u32 *active) {
    (void)device;
    if (link >= 6) {
        return 3;
    }
    *active = 1;
    return 0;
}

API int nvmlDeviceGetNvLinkVersion(void *device, u32 link, u32 *version) {
    (void)device;
    (void)link;
    *version = 4;
    return 0;
}

API int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, u32 link, u32 *type) {
    (void)device;
    (void)link;
    *type = devices() == 2 ? 0 : 2;
    return 0;
}

typedef struct {
    char short_bus[16];
    u32 domain, bus, device, id, subsystem;
    char long_bus[32];
} pci_info;

API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, u32 link, pci_info *info) {
    (void)link;
    memset(info, 0, sizeof *info);
    int other = devices() == 2 ? (int)(uintptr_t)device % 2 : 100;
    snprintf(info->long_bus, sizeof info->long_bus, "00000000:%02X:00.0", 0x1A + other);
    return 0;
}

typedef struct {
    u32 field, scope;
    long long time, latency;
    int value_type, code;
    union {
        double real;
        u32 whole;
        u64 wide;
    } value;
} field_value;

API int nvmlDeviceGetFieldValues(void *device, int count, field_value *values) {
    (void)device;
    for (int i = 0; i < count; i++) {
        values[i].code = values[i].field == 90 ? 0 : 3;
        values[i].value_type = 1;
        values[i].value.whole = 26562;
    }
    return 0;
}

API int nvmlDeviceGetMaxClockInfo(void *device, int which, u32 *megahertz) {
    (void)device;
    *megahertz = which == 1 ? 1980 : 3201;
    return 0;
}

API int nvmlDeviceGetClockInfo(void *device, int which, u32 *megahertz) { return nvmlDeviceGetMaxClockInfo(device, which, megahertz); }

API int nvmlDeviceGetPowerManagementLimit(void *device, u32 *milliwatts) {
    (void)device;
    *milliwatts = 700000;
    return 0;
}

API int nvmlDeviceGetTopologyCommonAncestor(void *device, void *other, int *level) {
    (void)device;
    (void)other;
    *level = 50;
    return 0;
}

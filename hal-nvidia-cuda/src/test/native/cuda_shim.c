// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's names and numbers on the stand-in core: the functions of libcudart, libcuda, libcublasLt and libnvidia-ml
// that the plugin binds; with those of NCCL, which vendors share, one file plays all five libraries under five names.
// Signatures and numbers as in the vendor's headers of CUDA 13.
//
// Tests link variants that hide some functions, as older libraries lack them.
#include "standin_shim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API SI_EXPORT

typedef unsigned int u32;
typedef unsigned long long u64;

// ---------------------------------------------------------------------------------------------------------------------
// Runtime

enum { NOT_READY = 600, LAUNCH_FAILURE = 719, MISALIGNED_ADDRESS = 716, NO_DEVICE = 100, INSUFFICIENT_DRIVER = 35, INVALID_DEVICE = 101, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INVALID_HANDLE = 400, CAPTURE_UNSUPPORTED = 900, CAPTURE_UNJOINED = 904, CAPTURE_UNMATCHED = 903, UPDATE_FAILURE = 910, PEER_ALREADY = 704 };

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
        case SI_MISALIGNED:
            return MISALIGNED_ADDRESS;
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
    si_make_current(device);
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

API int cudaDeviceSynchronize(void) { return vendor(si_device_synchronize(si_current())); }

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
    if (enabled[si_current()][peer]) {
        return PEER_ALREADY;
    }
    enabled[si_current()][peer] = 1;
    return 0;
}

API int cudaMalloc(void **memory, size_t bytes) { return vendor(si_allocate(si_current(), bytes, memory)); }

API int cudaFree(void *memory) {
    if (!memory) {
        return 0;
    }
    int code = si_device_synchronize(si_current()); // as the real one
    int freed = si_free(memory);
    return vendor(code ? code : freed);
}

API int cudaHostAlloc(void **memory, size_t bytes, u32 flags) {
    (void)flags;
    return vendor(si_allocate(-1, bytes, memory));
}

API int cudaFreeHost(void *memory) { return vendor(si_free(memory)); }

API int cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    si_memory_info(si_current(), free_bytes, total);
    return 0;
}

static si_stream *stream_of(void *handle) {
    return (uintptr_t)handle <= 1 ? si_default_stream(si_current()) : handle;
}

int shim_devices(void) { return devices(); }
si_stream *shim_stream(void *handle) { return stream_of(handle); }
int shim_nccl_version(void) { return 22803; }
int shim_nccl_float8(int type) { return type == 10 ? SI_E4M3 : SI_E5M2; }

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
    *stream = si_stream_create(si_current(), !(flags & 1));
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
    *event = si_event_create(si_current(), !(flags & 2));
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

API int cudaFreeAsync(void *memory, void *stream) { return vendor(si_free_in_order(stream_of(stream), memory)); }

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
    *function = (void *)(uintptr_t)sk_find(name);
    return *function ? 0 : 500;
}

API int cuLaunchKernel(void *function, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, void *stream, void **arguments, void **extra) {
    (void)shared;
    (void)extra;
    unsigned grid[] = {gx, gy, gz};
    unsigned block[] = {bx, by, bz};
    return vendor(sk_launch((int)(uintptr_t)function, grid, block, stream_of(stream), arguments));
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

typedef sp_description description_t;
typedef sp_layout layout_t;
typedef sp_preference preference_t;

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

API int cublasLtMatmulAlgoGetHeuristic(void *handle, description_t *d, layout_t *a, layout_t *b, layout_t *c, layout_t *out, preference_t *p, int wanted, result_t *results, int *found) {
    (void)handle;
    (void)out;
    int64_t m, n, k;
    *found = 0;
    if (!sp_fits(d, a, b, c, &m, &n, &k)) {
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
    if (c != out || algorithm[0] != 0x57454654 || (algorithm[1] == 1 && (!workspace || workspace_bytes < 4096))) {
        return 7;
    }
    int code = sp_multiply(d, d->compute == 72, alpha, a, la, b, lb, beta, out, lc, core_type(la->type), core_type(lc->type), stream_of(stream));
    return code == SI_OK ? 0 : code == SI_INVALID ? 7 : 13;
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

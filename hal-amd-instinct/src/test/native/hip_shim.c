// SPDX-License-Identifier: Apache-2.0
//
// AMD's names and numbers on the stand-in core: the functions of libamdhip64, libhipblaslt and libhiprtc that the plugin
// binds; with those of NCCL, which RCCL exports too, one file plays all of them under several names. Signatures, numbers
// and offsets as in the headers of HIP 6.4 and hipBLASLt of ROCm 6.
//
// -DHIP_MAJOR=5|6|7 (6): the generation. 5 has neither hipGetDevicePropertiesR0600 nor records in graphs nor copies
// without compute units; 7 does not look whether a stream's handle is alive.
// Tests link variants that hide some functions, as older libraries lack them.
//
// Faults beside those of the core:
//   absence        what a machine without a device answers: 523, 571 or 643, after versions 5.2.3, 5.7.1 and 6.4.3
//   gfx            the chip: 90 (gfx90a), 942 or 950 (942); gfx-second that of device 1, if it is another
//   bus, bus-step  PCI buses of the devices: the first, and from one to the next (0x0C, 1)
//   probes         counter: calls of hipGetDeviceCount
//   stale-handles  counter: calls with a stream that was destroyed
//   engine-copies  counter: copies between devices that asked for no compute units
//   count-lies     n: hipGetDeviceCount says n although there is none
//   lt-opened      counter: calls of hipblasLtCreate
//   fail-compile   the n-th compilation from now fails (0: none)
#include "standin_shim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API SI_EXPORT
#ifndef HIP_MAJOR
#define HIP_MAJOR 6
#endif

typedef unsigned int u32;
typedef unsigned long long u64;

// ---------------------------------------------------------------------------------------------------------------------
// Errors

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_COPY_DIRECTION = 21,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    NO_BINARY = 209,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    PEER_ALREADY = 704,
    PEER_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    LAUNCH_FAILURE = 719,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    UPDATE_FAILURE = 910,
};

static int vendor(int code) {
    switch (code) {
        case SI_OK: return SUCCESS;
        case SI_OUT_OF_MEMORY: return OUT_OF_MEMORY;
        case SI_NOT_READY: return NOT_READY;
        case SI_DEVICE_FAILED: return LAUNCH_FAILURE;
        case SI_MISALIGNED: return ILLEGAL_ADDRESS;
        case SI_CAPTURE_UNJOINED: return CAPTURE_UNJOINED;
        case SI_CAPTURE_ILLEGAL: return CAPTURE_UNSUPPORTED;
        case SI_NOT_CAPTURING: return CAPTURE_UNMATCHED;
        default: return INVALID_VALUE;
    }
}

static const struct {
    int code;
    const char *name, *text;
} TEXTS[] = {
    {SUCCESS, "hipSuccess", "no error"},
    {INVALID_VALUE, "hipErrorInvalidValue", "invalid argument"},
    {OUT_OF_MEMORY, "hipErrorOutOfMemory", "out of memory"},
    {INVALID_COPY_DIRECTION, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
    {INVALID_IMAGE, "hipErrorInvalidImage", "device kernel image is invalid"},
    {NO_BINARY, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {INVALID_HANDLE, "hipErrorInvalidHandle", "invalid resource handle"},
    {NOT_FOUND, "hipErrorNotFound", "named symbol not found"},
    {NOT_READY, "hipErrorNotReady", "device not ready"},
    {ILLEGAL_ADDRESS, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {PEER_ALREADY, "hipErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {PEER_NOT_ENABLED, "hipErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {CONTEXT_IS_DESTROYED, "hipErrorContextIsDestroyed", "context is destroyed"},
    {LAUNCH_FAILURE, "hipErrorLaunchFailure", "unspecified launch failure"},
    {NOT_SUPPORTED, "hipErrorNotSupported", "operation not supported"},
    {CAPTURE_UNSUPPORTED, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {CAPTURE_UNMATCHED, "hipErrorStreamCaptureUnmatched", "capture was not initiated in this stream"},
    {CAPTURE_UNJOINED, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {UPDATE_FAILURE, "hipErrorGraphExecUpdateFailure", "the graph update was not performed"},
};

API const char *hipGetErrorName(int code) {
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        if (TEXTS[i].code == code) {
            return TEXTS[i].name;
        }
    }
    return "hipErrorUnknown";
}

API const char *hipGetErrorString(int code) {
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        if (TEXTS[i].code == code) {
            return TEXTS[i].text;
        }
    }
    return "unknown error";
}

// ---------------------------------------------------------------------------------------------------------------------
// Devices

static int absence(void) { return (int)si_fault("absence"); }

// What every call but a few answers where there is no device.
static int gone(void) {
    switch (absence()) {
        case 0: return SUCCESS;
        case 523: return INVALID_DEVICE;
        default: return NO_DEVICE;
    }
}

#define NEED_DEVICE()                                                                                                  \
    do {                                                                                                               \
        int answer_ = gone();                                                                                          \
        if (answer_) {                                                                                                 \
            return answer_;                                                                                            \
        }                                                                                                              \
    } while (0)

static int devices(void) { return absence() ? 0 : (int)si_fault("devices"); }

static int chip_of(int device) {
    int gfx = (int)si_fault(device == 1 && si_fault("gfx-second") ? "gfx-second" : "gfx");
    return gfx ? gfx : 942;
}

static int chip(void) { return chip_of(si_current()); }

static const char *chip_name_of(int device) {
    switch (chip_of(device)) {
        case 90: return "gfx90a:sramecc+:xnack-";
        case 950: return "gfx950:sramecc+:xnack-";
        default: return "gfx942:sramecc+:xnack-";
    }
}

static const char *chip_name(void) { return chip_name_of(si_current()); }

API int hipInit(u32 flags) {
    static int called;
    if (flags) {
        return INVALID_VALUE;
    }
    if (absence() == 571 && !called) {
        called = 1;
        return INVALID_DEVICE;
    }
    return gone();
}

API int hipGetDeviceCount(int *count) {
    si_count("probes");
    if (!count) {
        return INVALID_VALUE;
    }
    *count = devices();
    if (*count == 0 && si_fault("count-lies")) {
        *count = (int)si_fault("count-lies");
    }
    return *count ? SUCCESS : NO_DEVICE;
}

static int version(void) {
    switch (absence()) {
        case 523: return 50221153;
        case 571: return 50731921;
        case 643: return 60443484;
        default: return si_fault("old-version") ? 40321504 : HIP_MAJOR == 5 ? 50731921 : HIP_MAJOR == 7 ? 70051831 : 60443484;
    }
}

API int hipRuntimeGetVersion(int *out) {
    *out = version();
    return SUCCESS;
}

API int hipDriverGetVersion(int *out) {
    *out = version();
    return SUCCESS;
}

API int hipGetLastError(void) { return gone(); }
API int hipExtGetLastError(void) { return gone(); }

API int hipSetDevice(int device) {
    NEED_DEVICE();
    if (device < 0 || device >= devices()) {
        return INVALID_DEVICE;
    }
    si_make_current(device);
    return SUCCESS;
}

API int hipGetDevice(int *device) {
    NEED_DEVICE();
    *device = si_current();
    return SUCCESS;
}

API int hipDeviceSynchronize(void) {
    NEED_DEVICE();
    return vendor(si_device_synchronize(si_current()));
}

static void put_int(char *to, size_t at, int value) { memcpy(to + at, &value, sizeof value); }
static void put_size(char *to, size_t at, size_t value) { memcpy(to + at, &value, sizeof value); }

enum { CLOCK_KHZ = 2100000, MEMORY_CLOCK_KHZ = 1300000, BUS_BITS = 8192, UNITS = 4, L2 = 4 << 20 };

static int bus_of(int device) {
    int first = (int)si_fault("bus");
    int step = (int)si_fault("bus-step");
    return (first ? first : 0x0C) + device * (step ? step : 1);
}

static size_t memory_of(int device) {
    size_t unused, total;
    si_memory_info(device, &unused, &total);
    return total;
}

// The layout of before HIP 6, 792 bytes: what the plain name fills in every version.
API int hipGetDeviceProperties(char *to, int device) {
    NEED_DEVICE();
    if (device < 0 || device >= devices()) {
        return INVALID_DEVICE;
    }
    memset(to, 0, 792);
    strcpy(to, "AMD Instinct stand-in");
    put_size(to, 256, memory_of(device));
    put_int(to, 276, 64);
    put_int(to, 308, CLOCK_KHZ);
    put_int(to, 312, MEMORY_CLOCK_KHZ);
    put_int(to, 316, BUS_BITS);
    put_int(to, 328, 9);
    put_int(to, 332, 4);
    put_int(to, 336, UNITS);
    put_int(to, 340, L2);
    put_int(to, 364, 0);
    put_int(to, 368, bus_of(device));
    put_int(to, 372, 0);
    put_int(to, 392, chip_of(device));
    strcpy(to + 396, chip_name_of(device));
    put_int(to, 740, 1);
    put_int(to, 764, 1);
    return SUCCESS;
}

#if HIP_MAJOR >= 6
API int hipGetDevicePropertiesR0600(char *to, int device) {
    NEED_DEVICE();
    if (device < 0 || device >= devices()) {
        return INVALID_DEVICE;
    }
    memset(to, 0, 1472);
    strcpy(to, "AMD Instinct stand-in");
    for (int i = 0; i < 16; i++) {
        to[256 + i] = (char)(16 * device + i); // uuid
    }
    put_size(to, 288, memory_of(device));
    put_size(to, 296, 64 << 10);
    put_int(to, 308, 64);
    put_int(to, 320, 1024);
    put_int(to, 348, CLOCK_KHZ);
    put_int(to, 360, 9);
    put_int(to, 364, 4);
    put_int(to, 388, UNITS);
    put_int(to, 576, 1);
    put_int(to, 580, 1);
    put_int(to, 584, bus_of(device));
    put_int(to, 588, 0);
    put_int(to, 592, 0);
    put_int(to, 600, 8);
    put_int(to, 604, 1);
    put_int(to, 608, MEMORY_CLOCK_KHZ);
    put_int(to, 612, BUS_BITS);
    put_int(to, 616, L2);
    put_int(to, 628, 1);
    put_int(to, 744, 1);
    strcpy(to + 1160, chip_name_of(device));
    put_int(to, 1464, 1);
    return SUCCESS;
}
#endif

API int hipDeviceGetAttribute(int *value, int attribute, int device) {
    NEED_DEVICE();
    if (device < 0 || device >= devices()) {
        return INVALID_DEVICE;
    }
    switch (attribute) {
        case 2: *value = 8; return SUCCESS;  // asynchronous engines
        case 63: *value = UNITS; return SUCCESS;
        case 78: *value = 1; return SUCCESS; // priorities
        case 88: *value = 1; return SUCCESS; // pools
        default: return INVALID_VALUE;
    }
}

API int hipDeviceGetPCIBusId(char *text, int length, int device) {
    NEED_DEVICE();
    if (device < 0 || device >= devices()) {
        return INVALID_DEVICE;
    }
    snprintf(text, (size_t)length, "0000:%02x:00.0", bus_of(device));
    return SUCCESS;
}

API int hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
    NEED_DEVICE();
    *least = 1;
    *greatest = -1;
    return SUCCESS;
}

API int hipDeviceCanAccessPeer(int *can, int device, int peer) {
    NEED_DEVICE();
    *can = device != peer;
    return SUCCESS;
}

static char enabled[SI_MAX_DEVICES][SI_MAX_DEVICES];

API int hipDeviceEnablePeerAccess(int peer, u32 flags) {
    NEED_DEVICE();
    if (flags) {
        return INVALID_VALUE;
    }
    if (peer < 0 || peer >= devices() || peer == si_current()) {
        return INVALID_DEVICE;
    }
    if (enabled[si_current()][peer]) {
        return PEER_ALREADY;
    }
    enabled[si_current()][peer] = 1;
    return SUCCESS;
}

API int hipDeviceDisablePeerAccess(int peer) {
    NEED_DEVICE();
    if (!enabled[si_current()][peer]) {
        return PEER_NOT_ENABLED;
    }
    enabled[si_current()][peer] = 0;
    return SUCCESS;
}

API int hipExtGetLinkTypeAndHopCount(int one, int other, u32 *type, u32 *hops) {
    NEED_DEVICE();
    if (one == other || one < 0 || other < 0 || one >= devices() || other >= devices()) {
        return INVALID_VALUE;
    }
    *type = 4; // HSA_AMD_LINK_INFO_TYPE_XGMI
    *hops = 1;
    return SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

API int hipMalloc(void **memory, size_t bytes) {
    NEED_DEVICE();
    if (bytes == 0) {
        *memory = NULL;
        return SUCCESS;
    }
    return vendor(si_allocate(si_current(), bytes, memory));
}

API int hipFree(void *memory) {
    NEED_DEVICE();
    if (!memory) {
        return SUCCESS;
    }
    int code = si_device_synchronize(si_current()); // as the real one
    int freed = si_free(memory);
    return vendor(code ? code : freed);
}

API int hipHostMalloc(void **memory, size_t bytes, u32 flags) {
    NEED_DEVICE();
    if (flags & ~(1u | 2u | 4u | 0x20000000u | 0x40000000u | 0x80000000u)) {
        return INVALID_VALUE;
    }
    return vendor(si_allocate(-1, bytes, memory));
}

API int hipHostFree(void *memory) {
    NEED_DEVICE();
    return vendor(si_free(memory));
}

API int hipMemGetInfo(size_t *free_bytes, size_t *total) {
    NEED_DEVICE();
    si_memory_info(si_current(), free_bytes, total);
    return SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------------------
// Streams. HIP 6 looks every handle up; HIP 7 trusts its callers, who must not use one that is gone.

static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static void *handles[4096];
static int handle_count;

static void add_handle(void *handle) {
    pthread_mutex_lock(&handles_lock);
    if (handle_count == (int)(sizeof handles / sizeof *handles)) {
        abort();
    }
    handles[handle_count++] = handle;
    pthread_mutex_unlock(&handles_lock);
}

// Whether a stream is alive; forgets it if asked to.
static int is_alive(void *handle, int forget) {
    if ((uintptr_t)handle <= 2) {
        return 1;
    }
    int found = 0;
    pthread_mutex_lock(&handles_lock);
    for (int i = 0; i < handle_count && !found; i++) {
        if (handles[i] == handle) {
            found = 1;
            if (forget) {
                handles[i] = handles[--handle_count];
            }
        }
    }
    pthread_mutex_unlock(&handles_lock);
    if (!found) {
        si_count("stale-handles");
        if (HIP_MAJOR >= 7) {
            fputs("hip stand-in: a stream was used that is gone\n", stderr);
            abort();
        }
    }
    return found;
}

// NULL and 1 are the null stream; 2, the stream of each thread, joins it and is here the same.
static si_stream *stream_of(void *handle) {
    return (uintptr_t)handle <= 2 ? si_default_stream(si_current()) : handle;
}

int shim_devices(void) { return devices(); }
si_stream *shim_stream(void *handle) { return stream_of(handle); }

#define NEED_STREAM(stream)                                                                                            \
    do {                                                                                                               \
        NEED_DEVICE();                                                                                                 \
        if (!is_alive(stream, 0)) {                                                                                    \
            return CONTEXT_IS_DESTROYED;                                                                               \
        }                                                                                                              \
    } while (0)

API int hipStreamCreateWithPriority(void **stream, u32 flags, int priority) {
    NEED_DEVICE();
    (void)priority; // beyond the range it is clamped
    if (flags > 1) {
        return INVALID_VALUE;
    }
    *stream = si_stream_create(si_current(), !(flags & 1));
    add_handle(*stream);
    return SUCCESS;
}

API int hipStreamCreateWithFlags(void **stream, u32 flags) { return hipStreamCreateWithPriority(stream, flags, 0); }

API int hipStreamDestroy(void *stream) {
    NEED_DEVICE();
    if ((uintptr_t)stream <= 2) {
        return INVALID_HANDLE;
    }
    if (!is_alive(stream, 1)) {
        return CONTEXT_IS_DESTROYED;
    }
    return vendor(si_stream_destroy(stream));
}

API int hipStreamSynchronize(void *stream) {
    NEED_STREAM(stream);
    return vendor(si_stream_synchronize(stream_of(stream)));
}

API int hipStreamQuery(void *stream) {
    NEED_STREAM(stream);
    return vendor(si_stream_query(stream_of(stream)));
}

API int hipStreamWaitEvent(void *stream, void *event, u32 flags) {
    NEED_STREAM(stream);
    if (flags) {
        return INVALID_VALUE;
    }
    return event ? vendor(si_stream_wait(stream_of(stream), event)) : INVALID_HANDLE;
}

// ---------------------------------------------------------------------------------------------------------------------
// Copies and fills

static int check_copy(const void *to, size_t to_bytes, const void *from, size_t from_bytes, int kind) {
    size_t to_room, from_room;
    int to_device = si_memory_device(to, &to_room);
    int from_device = si_memory_device(from, &from_room);
    if ((to_device > -2 && to_bytes > to_room) || (from_device > -2 && from_bytes > from_room)) {
        return INVALID_VALUE; // beyond the allocation
    }
    int to_host = to_device < 0;
    int from_host = from_device < 0;
    switch (kind) {
        case 0: return to_host && from_host ? SUCCESS : INVALID_VALUE;
        case 1: return !to_host && from_host ? SUCCESS : INVALID_VALUE;
        case 2: return to_host && !from_host ? SUCCESS : INVALID_VALUE;
        case 3: return !to_host && !from_host ? SUCCESS : INVALID_VALUE;
        case 4: return SUCCESS;
        case 1024:
            if (HIP_MAJOR < 6) {
                return INVALID_COPY_DIRECTION;
            }
            if (to_host || from_host) {
                return INVALID_VALUE;
            }
            si_count("engine-copies");
            return SUCCESS;
        default: return INVALID_COPY_DIRECTION;
    }
}

API int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    NEED_STREAM(stream);
    if (bytes == 0) {
        return SUCCESS;
    }
    if (!to || !from) {
        return INVALID_VALUE;
    }
    int code = check_copy(to, bytes, from, bytes, kind);
    return code ? code : vendor(si_copy(stream_of(stream), to, bytes, from, bytes, bytes, 1, 0));
}

API int hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int kind, void *stream) {
    NEED_STREAM(stream);
    if (width == 0 || rows == 0) {
        return SUCCESS;
    }
    if (!to || !from || width > to_pitch || width > from_pitch) {
        return INVALID_VALUE;
    }
    int code = check_copy(to, (rows - 1) * to_pitch + width, from, (rows - 1) * from_pitch + width, kind);
    return code ? code : vendor(si_copy(stream_of(stream), to, to_pitch, from, from_pitch, width, rows, 0));
}

API int hipMemsetD8Async(void *to, unsigned char bits, size_t count, void *stream) {
    NEED_STREAM(stream);
    return vendor(si_fill(stream_of(stream), to, 0, bits, 1, count, 1));
}

API int hipMemsetD16Async(void *to, unsigned short bits, size_t count, void *stream) {
    NEED_STREAM(stream);
    return vendor(si_fill(stream_of(stream), to, 0, bits, 2, count, 1));
}

API int hipMemsetD32Async(void *to, int bits, size_t count, void *stream) {
    NEED_STREAM(stream);
    return vendor(si_fill(stream_of(stream), to, 0, (u32)bits, 4, count, 1));
}

API int hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t rows, void *stream) {
    NEED_STREAM(stream);
    return vendor(si_fill(stream_of(stream), to, pitch, (u32)value & 0xFF, 1, width, rows));
}

// ---------------------------------------------------------------------------------------------------------------------
// Events

API int hipEventCreateWithFlags(void **event, u32 flags) {
    NEED_DEVICE();
    if (flags & ~(1u | 2u | 4u | 0x20000000u | 0x40000000u | 0x80000000u)) {
        return INVALID_VALUE;
    }
    *event = si_event_create(si_current(), !(flags & 2));
    return SUCCESS;
}

API int hipEventDestroy(void *event) {
    NEED_DEVICE();
    return event ? vendor(si_event_destroy(event)) : INVALID_HANDLE;
}

static int record(void *event, void *stream, int external) {
    NEED_STREAM(stream);
    int code = si_event_record(event, stream_of(stream), external);
    return code == SI_INVALID ? INVALID_HANDLE : vendor(code);
}

API int hipEventRecord(void *event, void *stream) { return record(event, stream, 0); }

#if HIP_MAJOR >= 6
API int hipEventRecordWithFlags(void *event, void *stream, u32 flags) { return record(event, stream, flags & 1); }
#endif

API int hipEventQuery(void *event) {
    NEED_DEVICE();
    return vendor(si_event_query(event));
}

API int hipEventSynchronize(void *event) {
    NEED_DEVICE();
    return vendor(si_event_synchronize(event));
}

API int hipEventElapsedTime(float *millis, void *start, void *end) {
    NEED_DEVICE();
    if (!millis) {
        return INVALID_VALUE;
    }
    if (!start || !end) {
        return INVALID_HANDLE;
    }
    int code = si_event_elapsed(millis, start, end);
    return code == SI_INVALID ? INVALID_HANDLE : vendor(code);
}

// ---------------------------------------------------------------------------------------------------------------------
// Graphs

API int hipStreamBeginCapture(void *stream, int mode) {
    NEED_STREAM(stream);
    if (mode < 0 || mode > 2) {
        return INVALID_VALUE;
    }
    return vendor(si_capture_begin(stream));
}

API int hipStreamEndCapture(void *stream, void **graph) {
    NEED_STREAM(stream);
    return vendor(si_capture_end(stream, (si_graph **)graph));
}

API int hipGraphInstantiate(void **exec, void *graph, void **error_node, char *log, size_t log_bytes) {
    NEED_DEVICE();
    (void)error_node;
    (void)log;
    (void)log_bytes;
    *exec = si_graph_instantiate(graph);
    return SUCCESS;
}

API int hipGraphInstantiateWithFlags(void **exec, void *graph, u64 flags) {
    return flags ? INVALID_VALUE : hipGraphInstantiate(exec, graph, NULL, NULL, 0);
}

API int hipGraphExecUpdate(void *exec, void *graph, void **error_node, int *result) {
    NEED_DEVICE();
    int code = si_exec_update(exec, graph);
    *error_node = NULL;
    *result = code == SI_OK ? 0 : 1;
    return code == SI_OK ? SUCCESS : UPDATE_FAILURE;
}

API int hipGraphLaunch(void *exec, void *stream) {
    NEED_STREAM(stream);
    return vendor(si_exec_launch(exec, stream_of(stream)));
}

API int hipGraphExecDestroy(void *exec) {
    NEED_DEVICE();
    si_exec_destroy(exec);
    return SUCCESS;
}

API int hipGraphDestroy(void *graph) {
    NEED_DEVICE();
    si_graph_destroy(graph);
    return SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pools: plain allocations that are made at once and given back in stream order

API int hipMemPoolCreate(void **pool, const int *properties) {
    NEED_DEVICE();
    if (properties[0] != 1 || properties[2] != 1 || properties[3] >= devices()) {
        return INVALID_VALUE;
    }
    int *device = malloc(sizeof *device);
    *device = properties[3];
    *pool = device;
    return SUCCESS;
}

API int hipMemPoolDestroy(void *pool) {
    NEED_DEVICE();
    free(pool);
    return SUCCESS;
}

API int hipMemPoolSetAccess(void *pool, const int *access, size_t count) {
    NEED_DEVICE();
    (void)pool;
    return count == 1 && access[0] == 1 && access[2] == 3 ? SUCCESS : INVALID_DEVICE;
}

API int hipMemPoolSetAttribute(void *pool, int attribute, const u64 *value) {
    NEED_DEVICE();
    (void)pool;
    (void)value;
    return attribute == 4 ? SUCCESS : INVALID_VALUE;
}

API int hipMallocFromPoolAsync(void **memory, size_t bytes, void *pool, void *stream) {
    NEED_STREAM(stream);
    return vendor(si_allocate(*(int *)pool, bytes, memory));
}

API int hipFreeAsync(void *memory, void *stream) {
    NEED_STREAM(stream);
    return vendor(si_free_in_order(stream_of(stream), memory));
}

// ---------------------------------------------------------------------------------------------------------------------
// Virtual memory

// hipMemAllocationProp, 32 bytes: type@0, handle type@4, location type@8 and id@12.
static int good_properties(const int *properties) { return properties[0] == 1 && properties[2] == 1 && properties[3] < devices(); }

API int hipMemGetAllocationGranularity(size_t *bytes, const int *properties, int option) {
    NEED_DEVICE();
    if (!good_properties(properties) || option < 0 || option > 1) {
        return INVALID_VALUE;
    }
    *bytes = 2u << 20;
    return SUCCESS;
}

API int hipMemCreate(u64 *handle, size_t bytes, const int *properties, u64 flags) {
    NEED_DEVICE();
    if (!good_properties(properties) || flags || bytes % (2u << 20)) {
        return INVALID_VALUE;
    }
    uint64_t made = 0;
    int code = si_pages_create(properties[3], bytes, &made);
    *handle = made;
    return vendor(code);
}

API int hipMemRelease(u64 handle) {
    NEED_DEVICE();
    return vendor(si_pages_release(handle));
}

API int hipMemAddressReserve(void **address, size_t bytes, size_t alignment, void *wish, u64 flags) {
    NEED_DEVICE();
    (void)wish;
    return flags ? INVALID_VALUE : vendor(si_reserve(bytes, alignment ? alignment : 2u << 20, address));
}

API int hipMemAddressFree(void *address, size_t bytes) {
    NEED_DEVICE();
    return vendor(si_release(address, bytes));
}

API int hipMemMap(void *address, size_t bytes, size_t offset, u64 handle, u64 flags) {
    NEED_DEVICE();
    return offset || flags ? INVALID_VALUE : vendor(si_map(address, bytes, handle));
}

API int hipMemUnmap(void *address, size_t bytes) {
    NEED_DEVICE();
    return vendor(si_unmap(address, bytes));
}

API int hipMemSetAccess(void *address, size_t bytes, const int *access, size_t count) {
    NEED_DEVICE();
    (void)address;
    (void)bytes;
    for (size_t i = 0; i < count; i++) {
        if (access[3 * i] != 1 || access[3 * i + 1] >= devices() || access[3 * i + 2] != 3) {
            return INVALID_VALUE;
        }
    }
    return SUCCESS;
}

// ---------------------------------------------------------------------------------------------------------------------
// Kernels. The compiler keeps the chip that it was asked for; a module of another chip is refused, as by the real one.

typedef struct {
    char *source;
    char *code;
    char log[256];
} program_t;

API const char *hiprtcGetErrorString(int code) { return code == 6 ? "HIPRTC_ERROR_COMPILATION" : code == 0 ? "HIPRTC_SUCCESS" : "HIPRTC_ERROR_INVALID_INPUT"; }

API int hiprtcVersion(int *major, int *minor) {
    *major = version() / 10000000;
    *minor = version() / 100000 % 100;
    return 0;
}

API int hiprtcCreateProgram(program_t **out, const char *source, const char *name, int headers, const char **texts, const char **names) {
    (void)name;
    (void)texts;
    (void)names;
    if (headers) {
        return 3;
    }
    *out = calloc(1, sizeof **out);
    (*out)->source = strdup(source);
    return 0;
}

API int hiprtcCompileProgram(program_t *program, int count, const char **options) {
    const char *arch = NULL;
    for (int i = 0; i < count; i++) {
        if (strncmp(options[i], "--offload-arch=", 15) == 0) {
            arch = options[i] + 15;
        }
    }
    if (!arch || !strstr(program->source, "weft_reduce") || si_strikes("fail-compile")) {
        snprintf(program->log, sizeof program->log, "weft_kernels.hip:1:1: error: the stand-in does not like it\n");
        return 6;
    }
    program->code = malloc(256);
    snprintf(program->code, 256, "\177ELF stand-in code for %s", arch);
    return 0;
}

API int hiprtcGetProgramLogSize(program_t *program, size_t *bytes) {
    *bytes = strlen(program->log) + 1;
    return 0;
}

API int hiprtcGetProgramLog(program_t *program, char *log) {
    strcpy(log, program->log);
    return 0;
}

API int hiprtcGetCodeSize(program_t *program, size_t *bytes) {
    *bytes = strlen(program->code) + 1;
    return 0;
}

API int hiprtcGetCode(program_t *program, char *code) {
    strcpy(code, program->code);
    return 0;
}

API int hiprtcDestroyProgram(program_t **program) {
    free((*program)->source);
    free((*program)->code);
    free(*program);
    *program = NULL;
    return 0;
}

API int hipModuleLoadData(void **module, const char *code) {
    NEED_DEVICE();
    if (strncmp(code, "\177ELF", 4) != 0) {
        return INVALID_IMAGE;
    }
    const char *made_for = strstr(code, "code for ");
    if (!made_for || strncmp(made_for + 9, chip_name(), strlen(made_for + 9)) != 0) {
        return NO_BINARY; // code without settings runs with every setting of its chip
    }
    *module = (void *)(uintptr_t)7;
    return SUCCESS;
}

API int hipModuleUnload(void *module) {
    NEED_DEVICE();
    return module == (void *)(uintptr_t)7 ? SUCCESS : INVALID_HANDLE;
}

API int hipModuleGetFunction(void **function, void *module, const char *name) {
    NEED_DEVICE();
    (void)module;
    *function = (void *)(uintptr_t)sk_find(name);
    return *function ? SUCCESS : NOT_FOUND;
}

API int hipModuleLaunchKernel(void *function, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, void *stream, void **arguments, void **extra) {
    NEED_STREAM(stream);
    (void)shared;
    (void)extra;
    unsigned grid[] = {gx, gy, gz};
    unsigned block[] = {bx, by, bz};
    return vendor(sk_launch((int)(uintptr_t)function, grid, block, stream_of(stream), arguments));
}

// ---------------------------------------------------------------------------------------------------------------------
// hipBLASLt

static int core_type(int hip) {
    switch (hip) {
        case 0: return SI_FP32;
        case 2: return SI_FP16;
        case 3: return SI_INT8;
        case 10: return SI_INT32;
        case 14: return SI_BF16;
        case 28: return SI_E4M3;
        case 29: return SI_E5M2;
        case 1000: return SI_E4M3_FNUZ;
        case 1001: return SI_E5M2_FNUZ;
        default: return -1;
    }
}

enum { LT_INVALID_VALUE = 3, LT_EXECUTION_FAILED = 5, LT_NOT_SUPPORTED = 7, LT_HANDLE_IS_NULL = 9 };

API int hipblasLtCreate(void **handle) {
    si_count("lt-opened");
    if (devices() == 0) {
        // As the real one of version 7.1.1 does.
        fprintf(stderr, "Hip error: '%s' (%d) at hipblaslt.cpp\n", hipGetErrorString(NO_DEVICE), NO_DEVICE);
        exit(1);
    }
    *handle = malloc(8);
    return 0;
}

API int hipblasLtDestroy(void *handle) {
    free(handle);
    return 0;
}

API int hipblasLtGetVersion(void *handle, int *out) {
    if (!handle) {
        return 1;
    }
    *out = 100000;
    return 0;
}

API int hipblasLtMatmulDescCreate(sp_description **out, int compute, int scale) {
    *out = calloc(1, sizeof **out);
    (*out)->compute = compute;
    (*out)->scale = scale;
    return (compute == 2 && scale == 0) || (compute == 9 && scale == 10) ? 0 : LT_NOT_SUPPORTED;
}

API int hipblasLtMatmulDescDestroy(const sp_description *d) {
    free((void *)d);
    return 0;
}

API int hipblasLtMatmulDescSetAttribute(sp_description *d, int attribute, const int *value, size_t bytes) {
    if (bytes != 4 || (*value != 111 && *value != 112)) {
        return LT_INVALID_VALUE;
    }
    if (attribute == 0) {
        d->transpose_a = *value == 112;
    } else if (attribute == 1) {
        d->transpose_b = *value == 112;
    } else {
        return LT_INVALID_VALUE;
    }
    return 0;
}

API int hipblasLtMatrixLayoutCreate(sp_layout **out, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
    *out = calloc(1, sizeof **out);
    (*out)->type = type;
    (*out)->rows = (int64_t)rows;
    (*out)->columns = (int64_t)columns;
    (*out)->pitch = pitch;
    (*out)->batch = 1;
    return pitch < (int64_t)rows ? LT_INVALID_VALUE : 0;
}

API int hipblasLtMatrixLayoutDestroy(const sp_layout *l) {
    free((void *)l);
    return 0;
}

API int hipblasLtMatrixLayoutSetAttribute(sp_layout *l, int attribute, const void *value, size_t bytes) {
    if (attribute == 0 && bytes == 4) {
        l->batch = *(const int *)value;
    } else if (attribute == 1 && bytes == 8) {
        l->stride = *(const int64_t *)value;
    } else {
        return LT_INVALID_VALUE;
    }
    return 0;
}

API int hipblasLtMatmulPreferenceCreate(sp_preference **out) {
    *out = calloc(1, sizeof **out);
    return 0;
}

API int hipblasLtMatmulPreferenceDestroy(const sp_preference *p) {
    free((void *)p);
    return 0;
}

API int hipblasLtMatmulPreferenceSetAttribute(sp_preference *p, int attribute, const void *value, size_t bytes) {
    if (attribute != 1 || bytes != 8) {
        return LT_INVALID_VALUE;
    }
    p->workspace = *(const size_t *)value;
    return 0;
}

// hipblasLtMatmulHeuristicResult_t, 56 bytes.
typedef struct {
    unsigned char algorithm[16];
    uint64_t algorithm_limit;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} result_t;
_Static_assert(sizeof(result_t) == 56, "the vendor's size");

API int hipblasLtMatmulAlgoGetHeuristic(void *handle, sp_description *d, sp_layout *a, sp_layout *b, sp_layout *c, sp_layout *out, sp_preference *p, int wanted, result_t *results, int *found) {
    int64_t m, n, k;
    *found = 0;
    if (!handle) {
        return LT_HANDLE_IS_NULL;
    }
    if (out != c || !sp_fits(d, a, b, c, &m, &n, &k)) {
        return LT_INVALID_VALUE;
    }
    // The encoding of 8-bit floats follows the chip.
    int ocp = a->type == 28 || a->type == 29 || b->type == 28 || b->type == 29;
    int fnuz = a->type >= 1000 || b->type >= 1000;
    if ((ocp && chip() != 950) || (fnuz && chip() != 942)) {
        return LT_NOT_SUPPORTED;
    }
    if (((ocp || fnuz) && (k % 16 || core_type(c->type) >= SI_E4M3)) || (a->type == 3 && k % 4)) {
        return LT_NOT_SUPPORTED;
    }
    if (si_fault("refuse-gemm") || core_type(a->type) < 0 || core_type(c->type) < 0) {
        return LT_NOT_SUPPORTED;
    }
    for (int i = 0; i < wanted && i < 3; i++) {
        memset(&results[i], 0, sizeof results[i]);
        memcpy(results[i].algorithm, "weft", 4);
        results[i].algorithm[4] = (unsigned char)i;
        results[i].algorithm_limit = p->workspace;
        results[i].workspace = i == 1 && p->workspace >= 4096 ? 4096 : 0;
        results[i].waves = 1.0f + i;
        ++*found;
    }
    return 0;
}

API int hipblasLtMatmul(void *handle, sp_description *d, const void *alpha, const void *a, sp_layout *la, const void *b, sp_layout *lb, const void *beta, const void *c, sp_layout *lc, void *out, sp_layout *lout, const unsigned char *algorithm, void *workspace, size_t workspace_bytes, void *stream) {
    if (!handle) {
        return LT_HANDLE_IS_NULL;
    }
    if (c != out || lc != lout || memcmp(algorithm, "weft", 4) != 0 || (algorithm[4] == 1 && (!workspace || workspace_bytes < 4096))) {
        return LT_INVALID_VALUE;
    }
    if (!is_alive(stream, 0)) {
        return LT_EXECUTION_FAILED;
    }
    int code = sp_multiply(d, d->compute == 9, alpha, a, la, b, lb, beta, out, lc, core_type(la->type), core_type(lc->type), stream_of(stream));
    return code == SI_OK ? 0 : code == SI_INVALID ? LT_INVALID_VALUE : LT_EXECUTION_FAILED;
}

// ---------------------------------------------------------------------------------------------------------------------
// RCCL, by the file that it shares with NCCL

int shim_nccl_version(void) { return HIP_MAJOR == 5 ? 21304 : 22105; }

int shim_nccl_float8(int type) {
    int ocp = chip() != 942;
    return type == 10 ? (ocp ? SI_E4M3 : SI_E4M3_FNUZ) : (ocp ? SI_E5M2 : SI_E5M2_FNUZ);
}

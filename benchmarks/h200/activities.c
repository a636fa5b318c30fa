// SPDX-License-Identifier: Apache-2.0
//
// Says what ran on the devices of a process: kernels by name, and copies by kind, by the kind of channel that carried them, and by size. A library for CUDA_INJECTION64_PATH: the driver loads it into the process when CUDA begins, and CUPTI
// then tells of each kernel and each copy, also those inside of graphs, after it ran, without running anything again. ACTIVITIES_OF_WEFT names the file that the report goes to.
//
//     gcc -O2 -shared -fPIC -I$CUDA/include -o libactivities.so activities.c -L$CUDA/lib64 -lcupti -Wl,-rpath,$CUDA/lib64 -lpthread
//
// CUPTI's channel type is the evidence: "copy engine" is an asynchronous copy channel, "compute" the channel of kernels, by which a copy would occupy multiprocessors.
#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512, BUFFER_BYTES = 1 << 20 };

struct row {
    char what[400];
    unsigned long long count, bytes;
};

static struct row rows[ROWS];
static int used;
static unsigned long long dropped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(const char *what, unsigned long long bytes) {
    int i = 0;
    while (i < used && strcmp(rows[i].what, what) != 0) {
        i++;
    }
    if (i == ROWS) {
        dropped++;
        return;
    }
    if (i == used) {
        snprintf(rows[used++].what, sizeof rows[0].what, "%s", what);
    }
    rows[i].count++;
    rows[i].bytes += bytes;
}

static const char *copy_kind(unsigned kind) {
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        return "host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        return "device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
        return "within a device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return "device to device";
    default:
        return "other";
    }
}

static const char *channel(CUpti_ChannelType type) {
    switch (type) {
    case CUPTI_CHANNEL_TYPE_COMPUTE:
        return "compute";
    case CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY:
        return "copy engine";
    default:
        return "unknown channel";
    }
}

static void add_copy(unsigned kind, CUpti_ChannelType type, unsigned from, unsigned to, unsigned long long bytes) {
    char what[400];
    snprintf(what, sizeof what, "copy by %s, %s, %u to %u, %llu bytes each", channel(type), copy_kind(kind), from, to, bytes);
    add(what, bytes);
}

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most) {
    *size = BUFFER_BYTES;
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *most = 0;
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    CUpti_Activity *record = NULL;
    (void)context;
    (void)stream;
    (void)size;
    pthread_mutex_lock(&lock);
    while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
            const CUpti_ActivityKernel10 *kernel = (const CUpti_ActivityKernel10 *)record;
            char what[400];
            snprintf(what, sizeof what, "kernel %s", kernel->name ? kernel->name : "without a name");
            add(what, 0);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            const CUpti_ActivityMemcpy6 *copy = (const CUpti_ActivityMemcpy6 *)record;
            add_copy(copy->copyKind, copy->channelType, copy->deviceId, copy->deviceId, copy->bytes);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY2: {
            const CUpti_ActivityMemcpyPtoP4 *copy = (const CUpti_ActivityMemcpyPtoP4 *)record;
            add_copy(copy->copyKind, copy->channelType, copy->srcDeviceId, copy->dstDeviceId, copy->bytes);
            break;
        }
        default:
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static int by_text(const void *a, const void *b) {
    return strcmp(((const struct row *)a)->what, ((const struct row *)b)->what);
}

static void report(void) {
    cuptiActivityFlushAll(1);
    const char *path = getenv("ACTIVITIES_OF_WEFT");
    FILE *out = path && *path ? fopen(path, "w") : stderr;
    if (!out) {
        return;
    }
    pthread_mutex_lock(&lock);
    qsort(rows, (size_t)used, sizeof rows[0], by_text);
    for (int i = 0; i < used; i++) {
        fprintf(out, "%llu\t%llu\t%s\n", rows[i].count, rows[i].bytes, rows[i].what);
    }
    if (dropped) {
        fprintf(out, "%llu\t0\tmore that found no row\n", dropped);
    }
    pthread_mutex_unlock(&lock);
    if (out != stderr) {
        fclose(out);
    }
}

static int failed(const char *what, CUptiResult code) {
    if (code != CUPTI_SUCCESS) {
        fprintf(stderr, "activities: %s: CUPTI answers %d\n", what, (int)code);
    }
    return code != CUPTI_SUCCESS;
}

// Called by the driver.
int InitializeInjection(void);
__attribute__((visibility("default"))) int InitializeInjection(void) {
    if (failed("register", cuptiActivityRegisterCallbacks(requested, completed)) ||
        failed("kernels", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) ||
        failed("copies", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY)) ||
        failed("peer copies", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2))) {
        return 0;
    }
    atexit(report);
    return 1;
}

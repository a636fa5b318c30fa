// SPDX-License-Identifier: Apache-2.0
//
// A recorded trace through the vendor's own allocators, called from C: cuMemAlloc with cuMemFree, and cuMemAllocAsync with cuMemFreeAsync from a memory pool
// that keeps what is freed. Reads 'op,id,bytes,...' lines as 'weft pool replay' does (i live before, a allocate, f free; other ops are left out) and replays them
// PASSES times on one stream, everything freed between. JSON on standard output: host ns per event in the first pass and the median of the later ones, p99 of
// single events of the last pass, and what the memory pool held at most.
//
//     gcc -O2 -I$CUDA/include -o allocators allocators.c -L$CUDA/lib64/stubs -lcuda
//     ./allocators TRACE.csv PASSES
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_EVENTS = 1 << 20, MOST_IDS = 1 << 24 };

#define MUST(call)                                                             \
    do {                                                                       \
        int code_ = (int)(call);                                               \
        if (code_) {                                                           \
            fprintf(stderr, "allocators: %s answers %d\n", #call, code_);      \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static char op[MOST_EVENTS];
static uint32_t id[MOST_EVENTS];
static uint64_t bytes[MOST_EVENTS];
static int events, before;
static CUdeviceptr at[MOST_IDS];
static int64_t single[MOST_EVENTS];
static CUstream stream;
static CUmemoryPool pool;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void read_trace(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "allocators: %s cannot be read\n", path);
        exit(2);
    }
    char line[256];
    while (fgets(line, sizeof line, file) && events < MOST_EVENTS) {
        char what;
        unsigned long number;
        unsigned long long size;
        if (sscanf(line, "%c,%lu,%llu", &what, &number, &size) != 3 || number >= MOST_IDS || size == 0 || !strchr("iaf", what)) {
            continue;
        }
        op[events] = what;
        id[events] = (uint32_t)number;
        bytes[events++] = size;
        before += what == 'i';
    }
    fclose(file);
}

static void step(int event, int async) {
    CUdeviceptr *block = &at[id[event]];
    if (op[event] != 'f') {
        if (*block) {
            return;
        }
        if (async) {
            MUST(cuMemAllocFromPoolAsync(block, bytes[event], pool, stream));
        } else {
            MUST(cuMemAlloc(block, bytes[event]));
        }
    } else if (*block) {
        if (async) {
            MUST(cuMemFreeAsync(*block, stream));
        } else {
            MUST(cuMemFree(*block));
        }
        *block = 0;
    }
}

static void replay(int async, int passes) {
    double *each = calloc(passes, sizeof *each);
    int64_t clock = now();
    for (int i = 0; i < 1000; i++) {
        (void)now();
    }
    clock = (now() - clock) / 1001;
    for (int pass = 0; pass < passes; pass++) {
        // What was live before the trace is set up first and is not counted in times.
        for (int i = 0; i < events; i++) {
            if (op[i] == 'i') {
                step(i, async);
            }
        }
        int64_t start = now();
        for (int i = 0; i < events; i++) {
            if (op[i] != 'i') {
                int64_t begun = pass == passes - 1 ? now() : 0;
                step(i, async);
                single[i] = pass == passes - 1 ? now() - begun - clock : 0;
            }
        }
        each[pass] = (double)(now() - start) / (events - before);
        for (int i = 0; i < events; i++) {
            if (at[id[i]]) {
                if (async) {
                    MUST(cuMemFreeAsync(at[id[i]], stream));
                } else {
                    MUST(cuMemFree(at[id[i]]));
                }
                at[id[i]] = 0;
            }
        }
        MUST(cuStreamSynchronize(stream));
    }
    double cold = each[0];
    int64_t *later = calloc(passes, sizeof *later);
    for (int i = 1; i < passes - 1; i++) {
        later[i - 1] = (int64_t)(each[i] * 1000);
    }
    qsort(later, passes - 2, sizeof *later, by_value);
    qsort(single, events, sizeof *single, by_value);
    cuuint64_t held = 0, used = 0;
    if (async) {
        MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &held));
        MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
    }
    printf("  {\"allocator\": \"%s\", \"passes\": %d, \"coldNsPerEvent\": %.1f, \"medianNsPerEvent\": %.1f, \"p99Ns\": %lld, "
           "\"peakReservedBytes\": %llu, \"peakUsedBytes\": %llu}%s\n",
           async ? "cuMemAllocAsync" : "cuMemAlloc", passes, cold, (double)later[(passes - 2) / 2] / 1000,
           (long long)single[(int)(events * 0.99)], (unsigned long long)held, (unsigned long long)used, async ? "" : ",");
}

int main(int count, char **arguments) {
    if (count != 3 || atoi(arguments[2]) < 3) {
        fprintf(stderr, "allocators: give a trace and how many passes, 3 or more\n");
        return 2;
    }
    read_trace(arguments[1]);
    CUdevice device;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    MUST(cuMemPoolCreate(&pool, &properties));
    cuuint64_t all = UINT64_MAX;
    MUST(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    printf("{\"figures\": \"measured\", \"trace\": \"%s\", \"events\": %d, \"allocators\": [\n", arguments[1], events - before);
    replay(0, atoi(arguments[2]));
    replay(1, atoi(arguments[2]));
    printf("]}\n");
    return 0;
}

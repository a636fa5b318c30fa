// SPDX-License-Identifier: Apache-2.0
//
// What the vendor's own calls cost the host, called from C: the floor under 'weft bench issue', and the other calls that would do the same. Commands of 4 KiB and a product of 32 x 32 x 32, issued 32 at a time between two looks at the clock;
// median and ninth decile over the batches, as JSON on standard output.
//
//     gcc -O2 -I$CUDA/include -o floor floor.c -L$CUDA/lib64 -lcudart -lcublasLt -lcuda -Wl,-rpath,$CUDA/lib64
//     ./floor PATH/weft_kernels.ptx
#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 32, WARM_UP = 200, BATCHES = 1000, BYTES = 4096, EDGE = 32 };

#define MUST(call)                                                        \
    do {                                                                  \
        int code_ = (int)(call);                                          \
        if (code_) {                                                      \
            fprintf(stderr, "floor: %s answers %d\n", #call, code_);      \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static cudaStream_t stream, other;
static cudaEvent_t event;
static void *near_a, *near_b, *far;
static CUfunction copy_kernel;
static cublasLtHandle_t blas;
static cublasLtMatmulDesc_t product;
static cublasLtMatrixLayout_t matrix;
static cublasLtMatmulHeuristicResult_t choice[8];
static void *workspace;

static struct {
    void *destination, *source;
    int64_t destination_pitch, source_pitch, width, rows;
} rectangle;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void fill(void) { MUST(cuMemsetD8Async((CUdeviceptr)near_a, 1, BYTES, stream)); }
static void local_default(void) { MUST(cudaMemcpyAsync(near_a, near_b, BYTES, cudaMemcpyDefault, stream)); }
static void local_kind(void) { MUST(cudaMemcpyAsync(near_a, near_b, BYTES, cudaMemcpyDeviceToDevice, stream)); }
static void local_driver(void) { MUST(cuMemcpyDtoDAsync((CUdeviceptr)near_a, (CUdeviceptr)near_b, BYTES, stream)); }
static void local_driver_default(void) { MUST(cuMemcpyAsync((CUdeviceptr)near_a, (CUdeviceptr)near_b, BYTES, stream)); }
static void peer_default(void) { MUST(cudaMemcpyAsync(far, near_b, BYTES, cudaMemcpyDefault, stream)); }
static void peer_driver(void) { MUST(cuMemcpyDtoDAsync((CUdeviceptr)far, (CUdeviceptr)near_b, BYTES, stream)); }
static void peer_peer(void) { MUST(cudaMemcpyPeerAsync(far, 1, near_b, 0, BYTES, stream)); }
static void kernel(void) {
    void *arguments[] = {&rectangle};
    MUST(cuLaunchKernel(copy_kernel, 1, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
}
static void gemm(void) {
    static const float one = 1, zero = 0;
    MUST(cublasLtMatmul(blas, product, &one, near_a, matrix, near_b, matrix, &zero, workspace, matrix, workspace, matrix, &choice[0].algo, (char *)workspace + (1 << 20), 32u << 20, stream));
}
static void set_device(void) { MUST(cudaSetDevice(0)); }
static void record(void) { MUST(cudaEventRecord(event, stream)); }
static void await(void) { MUST(cudaStreamWaitEvent(other, event, 0)); }
static void query(void) {
    cudaError_t code = cudaStreamQuery(stream);
    if (code != cudaSuccess && code != cudaErrorNotReady) {
        MUST(code);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void row(const char *what, void (*call)(void), int last) {
    static double nanos[BATCHES];
    for (int batch = -WARM_UP; batch < BATCHES; batch++) {
        double begun = now();
        for (int i = 0; i < BATCH; i++) {
            call();
        }
        double ended = now();
        MUST(cudaStreamSynchronize(stream));
        MUST(cudaStreamSynchronize(other));
        if (batch >= 0) {
            nanos[batch] = (ended - begun) / BATCH;
        }
    }
    qsort(nanos, BATCHES, sizeof *nanos, ascending);
    printf("  {\"what\": \"%s\", \"medianNs\": %.1f, \"p90Ns\": %.1f}%s\n", what, nanos[BATCHES / 2], nanos[BATCHES * 9 / 10], last ? "" : ",");
    fflush(stdout);
}

static char *text(const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        exit(1);
    }
    fseek(in, 0, SEEK_END);
    long size = ftell(in);
    rewind(in);
    char *all = malloc((size_t)size + 1);
    if (fread(all, 1, (size_t)size, in) != (size_t)size) {
        perror(path);
        exit(1);
    }
    all[size] = 0;
    fclose(in);
    return all;
}

int main(int count, char **arguments) {
    int devices = 0;
    CUmodule module;
    if (count != 2) {
        fprintf(stderr, "usage: floor weft_kernels.ptx\n");
        return 2;
    }
    MUST(cuInit(0));
    MUST(cudaGetDeviceCount(&devices));
    if (devices > 1) {
        MUST(cudaSetDevice(1));
        MUST(cudaMalloc(&far, BYTES));
    }
    MUST(cudaSetDevice(0));
    if (devices > 1) {
        MUST(cudaDeviceEnablePeerAccess(1, 0));
    }
    MUST(cudaMalloc(&near_a, BYTES));
    MUST(cudaMalloc(&near_b, BYTES));
    MUST(cudaMalloc(&workspace, 64u << 20));
    MUST(cudaMemset(near_a, 0, BYTES));
    MUST(cudaMemset(near_b, 0, BYTES));
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    MUST(cuModuleLoadData(&module, text(arguments[1])));
    MUST(cuModuleGetFunction(&copy_kernel, module, "weft_copy_wide"));
    rectangle.destination = near_a;
    rectangle.source = near_b;
    rectangle.destination_pitch = rectangle.source_pitch = rectangle.width = BYTES;
    rectangle.rows = 1;

    cublasLtMatmulPreference_t preference;
    size_t room = 32u << 20;
    int found = 0;
    MUST(cublasLtCreate(&blas));
    MUST(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    MUST(cublasLtMatrixLayoutCreate(&matrix, CUDA_R_16BF, EDGE, EDGE, EDGE));
    MUST(cublasLtMatmulPreferenceCreate(&preference));
    MUST(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room));
    MUST(cublasLtMatmulAlgoGetHeuristic(blas, product, matrix, matrix, matrix, matrix, preference, 8, choice, &found));
    if (!found) {
        fprintf(stderr, "floor: cuBLASLt has no kernel\n");
        return 1;
    }

    printf("{\"figures\": \"measured\", \"batches\": %d, \"callsPerBatch\": %d, \"rows\": [\n", BATCHES, BATCH);
    row("cuMemsetD8Async of 4 KiB", fill, 0);
    row("cudaMemcpyAsync within a device, kind default", local_default, 0);
    row("cudaMemcpyAsync within a device, kind device to device", local_kind, 0);
    row("cuMemcpyDtoDAsync within a device", local_driver, 0);
    row("cuMemcpyAsync within a device", local_driver_default, 0);
    if (far) {
        row("cudaMemcpyAsync to another device, kind default", peer_default, 0);
        row("cuMemcpyDtoDAsync to another device", peer_driver, 0);
        row("cudaMemcpyPeerAsync to another device", peer_peer, 0);
    }
    row("cuLaunchKernel of a copy of 4 KiB within a device", kernel, 0);
    row("cublasLtMatmul, bf16, 32 x 32 x 32", gemm, 0);
    row("cudaSetDevice of the current one", set_device, 0);
    row("cudaStreamQuery", query, 0);
    row("cudaEventRecord", record, 0);
    row("cudaStreamWaitEvent", await, 1);
    printf("]}\n");
    return 0;
}

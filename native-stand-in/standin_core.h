// SPDX-License-Identifier: Apache-2.0
//
// Host-memory stand-in for an accelerator runtime, free of any vendor. Vendor shims translate names and numbers.
//
// Locking: one lock guards all shared state. Work runs outside it. Handles are pointers; a shim may pass them out as the
// vendor's opaque handles.
#ifndef STANDIN_CORE_H
#define STANDIN_CORE_H

#include <stddef.h>
#include <stdint.h>

#define SI_EXPORT __attribute__((visibility("default")))
#define SI_MAX_DEVICES 16
#define SI_MAX_RANKS 16

// Errors of the core; shims map them to the vendor's.
enum {
    SI_OK = 0,
    SI_INVALID,          // a bad argument
    SI_OUT_OF_MEMORY,
    SI_NOT_READY,
    SI_DEVICE_FAILED,    // work went wrong on the device; everything on it fails from now on
    SI_CAPTURE_UNJOINED, // a captured stream was not joined to the first
    SI_CAPTURE_ILLEGAL,  // not allowed during a capture
    SI_NOT_CAPTURING,
    SI_MISALIGNED,       // an access that a real device would not do
};

// Element types.
enum { SI_FP32, SI_FP16, SI_BF16, SI_E4M3, SI_E5M2, SI_E4M3_FNUZ, SI_E5M2_FNUZ, SI_INT8, SI_INT32, SI_TYPES };
// Reductions.
enum { SI_SUM, SI_PROD, SI_MIN, SI_MAX, SI_AVG, SI_SCALED };

int si_element_bytes(int type);
float si_load(const void *base, int64_t index, int type);
void si_store(void *base, int64_t index, int type, float value);

// Faults and figures by name. Known names:
//   devices              number of devices (2)
//   memory-mib           memory of each device (4096)
//   late-copy-us         every copy sleeps so long before it moves data
//   lazy-copies          1: a stream's copies wait until somebody synchronizes it or its device, or gives it back
//   fail-copy            the n-th copy from now fails on the device (0: none)
//   fail-gemm            the n-th product from now fails on the device (0: none)
//   refuse-gemm          1: the product library offers no kernel
//   fail-collective      the n-th collective from now is refused (0: none)
//   async-error          what communicators report of themselves, in the vendor's numbers
//   ignore-waits         1: streams do not wait for events, so that work comes in the wrong order
//   old-version          1: libraries report an old version
//   driver-fails         1: the driver does not start
//   communicators, copies, kernel-copies, gemms, reference-gemms, reductions, graph-launches, collectives: counters, to be read
SI_EXPORT void standin_set(const char *name, long value);
SI_EXPORT long standin_get(const char *name);
long si_fault(const char *name);
// Adds one and gives the new value.
long si_count(const char *name);
// Whether a countdown fault strikes now.
int si_strikes(const char *name);

// Streams. Work is a function and a copy of its argument, so that graphs can run it again and again.
typedef struct si_stream si_stream;
typedef struct si_event si_event;
typedef struct si_graph si_graph;
typedef struct si_exec si_exec;
typedef int (*si_work)(void *argument); // SI_OK, or SI_DEVICE_FAILED

si_stream *si_stream_create(int device, int blocking);
si_stream *si_default_stream(int device);
int si_stream_device(si_stream *stream);
int si_stream_destroy(si_stream *stream);
int si_stream_synchronize(si_stream *stream);
int si_stream_query(si_stream *stream);
int si_device_synchronize(int device);
int si_push(si_stream *stream, si_work work, const void *argument, size_t bytes);
int si_is_capturing(si_stream *stream);

si_event *si_event_create(int device, int timed);
int si_event_destroy(si_event *event);
int si_event_record(si_event *event, si_stream *stream, int external);
int si_event_query(si_event *event);
int si_event_synchronize(si_event *event);
int si_event_elapsed(float *millis, si_event *start, si_event *end);
int si_stream_wait(si_stream *stream, si_event *event);

int si_capture_begin(si_stream *stream);
int si_capture_end(si_stream *stream, si_graph **graph);
long si_graph_nodes(si_graph *graph);
void si_graph_destroy(si_graph *graph);
si_exec *si_graph_instantiate(si_graph *graph);
int si_exec_update(si_exec *exec, si_graph *graph);
int si_exec_launch(si_exec *exec, si_stream *stream);
void si_exec_destroy(si_exec *exec);

// Memory. Device memory is host memory with a size that is accounted for.
int si_allocate(int device, size_t bytes, void **memory);
int si_free(void *memory);
// Frees it in the order of a stream.
int si_free_in_order(si_stream *stream, void *memory);
// Where memory is: a device, -1 for pinned host memory, -2 for memory that is none of ours. Bytes from there to the end
// of its allocation.
int si_memory_device(const void *memory, size_t *bytes);
void si_memory_info(int device, size_t *free_bytes, size_t *total_bytes);
int si_reserve(size_t bytes, size_t alignment, void **address);
int si_release(void *address, size_t bytes);
int si_pages_create(int device, size_t bytes, uint64_t *handle);
int si_pages_release(uint64_t handle);
int si_map(void *address, size_t bytes, uint64_t handle);
int si_unmap(void *address, size_t bytes);

// Data in stream order.
int si_copy(si_stream *stream, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int by_kernel);
int si_fill(si_stream *stream, void *to, size_t pitch, uint32_t bits, int element_bytes, size_t columns, size_t rows);

typedef struct {
    void *c;
    const void *a;
    const void *b;
    int64_t m, n, k;
    int64_t c_row, c_column, a_row, a_column, b_row, b_column; // elements from row to row and column to column
    int64_t c_stride, a_stride, b_stride;                      // from product to product
    int batch;
    float alpha, beta;
    int operand_type, result_type;
} si_product;
int si_gemm(si_stream *stream, const si_product *product);

#define SI_MAX_INPUTS 64
typedef struct {
    void *to;
    int64_t to_pitch;
    int64_t rows, columns;
    int inputs;
    int op;
    float factor;
    int input_type, output_type;
    const void *from[SI_MAX_INPUTS];
    int64_t pitch[SI_MAX_INPUTS];
} si_reduction;
int si_reduce(si_stream *stream, const si_reduction *reduction);

// Collectives. A communicator is shared by its ranks; parts meet in the order of issue.
typedef struct si_comm si_comm;
enum { SI_ALL_REDUCE, SI_ALL_GATHER, SI_REDUCE_SCATTER, SI_BROADCAST, SI_REDUCE };
typedef struct {
    int kind;
    const void *from;
    void *to;
    int64_t count;
    int type;
    int op;
    float factor;
    int root;
} si_part;
typedef struct {
    int sends;
    int peer;
    void *data;
    size_t bytes;
} si_transfer;
// The communicator of an id, made by the first to ask.
si_comm *si_comm_find(const void *id, size_t id_bytes, int ranks);
void si_comm_leave(si_comm *comm);
void si_comm_abort(si_comm *comm);
int si_comm_size(si_comm *comm);
int si_collective(si_comm *comm, int rank, si_stream *stream, const si_part *part);
// Transfers of one rank that run at once.
int si_transfers(si_comm *comm, int rank, si_stream *stream, const si_transfer *transfers, int count);

double si_now_seconds(void);
#endif

// SPDX-License-Identifier: Apache-2.0
//
// Collectives by the names and numbers of NCCL, which RCCL exports too. Signatures and numbers as in NCCL 2.28 and RCCL
// 2.21; the id is 128 bytes by value.
#include "standin_shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API SI_EXPORT

typedef struct {
    char bytes[128];
} unique_id;

enum { MAX_OPS = 64 };

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
    *version = shim_nccl_version();
    return 0;
}

API const char *ncclGetErrorString(int code) { return code == 4 ? "invalid argument" : code == 0 ? "no error" : code == 2 ? "unhandled system error" : code == 6 ? "remote process exited or there was a network error" : "unhandled cuda error"; }
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

static int join(comm_t **out, int ranks, unique_id id, int rank) {
    if (shim_devices() == 0) {
        return 1; // the device is touched before arguments are looked at
    }
    if (rank < 0 || rank >= ranks || ranks > SI_MAX_RANKS) {
        return 4;
    }
    comm_t *comm = calloc(1, sizeof *comm);
    comm->shared = si_comm_find(&id, sizeof id, ranks);
    comm->rank = rank;
    comm->device = si_current();
    si_count("communicators");
    *out = comm;
    return 0;
}

API int ncclCommInitRankConfig(comm_t **out, int ranks, unique_id id, int rank, void *config) {
    (void)config;
    return join(out, ranks, id, rank);
}

API int ncclCommInitRank(comm_t **out, int ranks, unique_id id, int rank) { return join(out, ranks, id, rank); }

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
    *code = (int)si_fault("async-error");
    return 0;
}

static int flush(void) {
    int code = SI_OK;
    for (int i = 0; i < call_count && code == SI_OK; i++) {
        call_t *call = &calls[i];
        if (!call->comm) {
            continue;
        }
        si_make_current(call->comm->device);
        si_stream *stream = shim_stream(call->stream);
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
    if (si_stream_device(shim_stream(call.stream)) != call.comm->device && (uintptr_t)call.stream > 1) {
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
        case 10: case 11: return shim_nccl_float8(type);
        default: return -1;
    }
}

static int collective(comm_t *comm, int kind, const void *from, void *to, size_t count, int type, int op, int root, void *stream) {
    static const int OPS[] = {SI_SUM, SI_PROD, SI_MAX, SI_MIN, SI_AVG};
    call_t call = {.comm = comm, .stream = stream};
    if (nccl_type(type) < 0) {
        return 4;
    }
    if (si_strikes("fail-collective")) {
        return 2;
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

// SPDX-License-Identifier: Apache-2.0
package io.weft.cuda.ffi;

import io.weft.api.AcceleratorException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * NCCL: collectives. Handles are numbers; element types and reductions are {@code ncclDataType_t} and {@code ncclRedOp_t}.
 *
 * <p>Source of signatures and numbers: nccl.h (BSD licence) of NCCL 2.28; the functions used are in all versions from 2.18 on.
 */
public final class Nccl {
    /** File names. */
    public static final List<String> NAMES = List.of("libnccl.so.2", "libnccl.so");
    /** Size of an id by which ranks find one another. */
    public static final int ID_BYTES = 128;
    /** {@code NCCL_SPLIT_NOCOLOR}: takes no part. */
    public static final int NO_COLOR = -1;
    /** {@code ncclInProgress}. */
    public static final int IN_PROGRESS = 7;

    private final NativeLibrary library;
    private final MemorySegment getVersion;
    private final MemorySegment getUniqueId;
    private final MemorySegment initRank;
    private final MemorySegment initRankConfig;
    private final MemorySegment destroy;
    private final MemorySegment abort;
    private final MemorySegment split;
    private final MemorySegment getAsyncError;
    private final MemorySegment getErrorString;
    private final MemorySegment getLastError;
    private final MemorySegment groupStart;
    private final MemorySegment groupEnd;
    private final MemorySegment allReduce;
    private final MemorySegment allGather;
    private final MemorySegment reduceScatter;
    private final MemorySegment broadcast;
    private final MemorySegment reduce;
    private final MemorySegment send;
    private final MemorySegment receive;
    private final MemorySegment premultiplied;
    private final MemorySegment dropOperation;

    /** Looks every function up. */
    public Nccl(NativeLibrary library) {
        this.library = library;
        getVersion = library.find("ncclGetVersion");
        getUniqueId = library.find("ncclGetUniqueId");
        initRank = library.find("ncclCommInitRank");
        initRankConfig = library.find("ncclCommInitRankConfig");
        destroy = library.find("ncclCommDestroy");
        abort = library.find("ncclCommAbort");
        split = library.find("ncclCommSplit");
        getAsyncError = library.find("ncclCommGetAsyncError");
        getErrorString = library.find("ncclGetErrorString");
        getLastError = library.find("ncclGetLastError");
        groupStart = library.find("ncclGroupStart");
        groupEnd = library.find("ncclGroupEnd");
        allReduce = library.find("ncclAllReduce");
        allGather = library.find("ncclAllGather");
        reduceScatter = library.find("ncclReduceScatter");
        broadcast = library.find("ncclBroadcast");
        reduce = library.find("ncclReduce");
        send = library.find("ncclSend");
        receive = library.find("ncclRecv");
        premultiplied = library.find("ncclRedOpCreatePreMulSum");
        dropOperation = library.find("ncclRedOpDestroy");
    }

    /** The library behind it. */
    public NativeLibrary library() {
        return library;
    }

    /** Whether everything that a communicator needs is there; splits and premultiplied sums may be missing. */
    public boolean isComplete() {
        return getUniqueId != null
                && initRank != null
                && destroy != null
                && abort != null
                && getAsyncError != null
                && groupStart != null
                && groupEnd != null
                && allReduce != null
                && allGather != null
                && reduceScatter != null
                && broadcast != null
                && reduce != null
                && send != null
                && receive != null;
    }

    /** Version, 10000 * major + 100 * minor + patch; 0 when unknown. */
    public int version() {
        Scratch out = Scratch.mine();
        out.integer(0, 0);
        return getVersion == null || Native.call(getVersion, out.address()) != 0 ? 0 : out.integer(0);
    }

    private void check(String operation, int code) {
        if (code != 0 && code != IN_PROGRESS) {
            throw failure(operation, code);
        }
    }

    /** The exception for a code. */
    public AcceleratorException failure(String operation, int code) {
        return VendorFailure.nccl(
                library.name(),
                operation,
                code,
                getErrorString == null ? "ncclResult " + code : Native.callText(getErrorString, code),
                getLastError == null
                        ? ""
                        : Native.callText(getLastError, 0).lines().findFirst().orElse(""));
    }

    /** A new id. */
    public byte[] uniqueId() {
        Scratch out = Scratch.mine();
        check("make id", Native.call(getUniqueId, out.address()));
        return out.memory().asSlice(0, ID_BYTES).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Joins one rank on the current device; inside a group it returns before the others have come. {@code out} is an address that gets the handle by the end of the group. */
    public void join(long out, int ranks, byte[] id, int rank) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, id);
            int code = initRankConfig == null
                    // The stack slots that follow a structure by value are not read by the function with fewer
                    // parameters.
                    ? Native.callWithId(initRank, out, ranks, bytes, rank, 0)
                    : Native.callWithId(initRankConfig, out, ranks, bytes, rank, 0);
            check("join rank " + rank, code);
        }
    }

    /** Starts a group of calls. */
    public void groupStart() {
        check("collective", Native.call(groupStart));
    }

    /** Ends a group: everything in it is issued. */
    public void groupEnd() {
        check("collective", Native.call(groupEnd));
    }

    /** Ends a group after one of its calls has failed; the failure is known already. */
    public void dropGroup() {
        Native.call(groupEnd);
    }

    /** Waits for what was issued, then releases a communicator. */
    public void destroy(long communicator) {
        check("close communicator", Native.call(destroy, communicator));
    }

    /** Ends everything in flight and releases a communicator. */
    public void abort(long communicator) {
        Native.call(abort, communicator);
    }

    /** Whether communicators can be split. */
    public boolean hasSplit() {
        return split != null;
    }

    /** Splits; every rank takes part. {@code out} is an address that gets the handle by the end of the group. */
    public void split(long communicator, int color, int key, long out) {
        check("split", Native.call(split, communicator, color, key, out, 0));
    }

    /** The first failure that the library noticed by itself, 0 for none. */
    public int asyncError(long communicator) {
        Scratch out = Scratch.mine();
        int code = Native.call(getAsyncError, communicator, out.address());
        return code != 0 ? code : out.integer(0);
    }

    /** As {@code ncclAllReduce}. */
    public void allReduce(long from, long to, long count, int type, int op, long communicator, long stream) {
        check("all-reduce", Native.call(allReduce, from, to, count, type, op, communicator, stream));
    }

    /** As {@code ncclAllGather}; count is what each rank gives. */
    public void allGather(long from, long to, long count, int type, long communicator, long stream) {
        check("all-gather", Native.call(allGather, from, to, count, type, communicator, stream));
    }

    /** As {@code ncclReduceScatter}; count is what each rank gets. */
    public void reduceScatter(long from, long to, long count, int type, int op, long communicator, long stream) {
        check("reduce-scatter", Native.call(reduceScatter, from, to, count, type, op, communicator, stream));
    }

    /** As {@code ncclBroadcast}. */
    public void broadcast(long from, long to, long count, int type, int root, long communicator, long stream) {
        check("broadcast", Native.call(broadcast, from, to, count, type, root, communicator, stream));
    }

    /** As {@code ncclReduce}. */
    public void reduce(long from, long to, long count, int type, int op, int root, long communicator, long stream) {
        check("reduce", Native.call(reduce, from, to, count, type, op, root, communicator, stream));
    }

    /** As {@code ncclSend}. */
    public void send(long from, long count, int type, int peer, long communicator, long stream) {
        check("send", Native.call(send, from, count, type, peer, communicator, stream));
    }

    /** As {@code ncclRecv}. */
    public void receive(long to, long count, int type, int peer, long communicator, long stream) {
        check("receive", Native.call(receive, to, count, type, peer, communicator, stream));
    }

    /** Whether sums can be multiplied first. */
    public boolean hasPremultipliedSums() {
        return premultiplied != null && dropOperation != null;
    }

    /** A sum whose inputs are multiplied first by a host number, given as the bits of its type. */
    public int premultipliedSum(long scalarBits, int type, long communicator) {
        Scratch out = Scratch.mine();
        out.word(8, scalarBits);
        int hostImmediate = 1; // ncclScalarHostImmediate
        check(
                "premultiplied sum",
                Native.call(premultiplied, out.address(), out.address() + 8, type, hostImmediate, communicator));
        return out.integer(0);
    }

    /** Releases such a sum; calls that use it may still be in flight. */
    public void dropOperation(int op, long communicator) {
        check("premultiplied sum", Native.call(dropOperation, op, communicator));
    }
}

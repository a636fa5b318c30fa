// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.nccl;

import io.weft.api.AcceleratorException;
import io.weft.api.ElementType;
import io.weft.api.ReduceOp;
import io.weft.nativehal.driver.CollectiveLibrary;
import io.weft.nativehal.ffi.Native;
import io.weft.nativehal.ffi.NativeLibrary;
import io.weft.nativehal.ffi.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntConsumer;

/**
 * Collectives by NCCL's C interface, which NVIDIA's NCCL and AMD's RCCL export under the same names. Versions before 2.14 lack some functions, which are powers less.
 *
 * <p>Source of signatures and numbers: nccl.h (BSD licence) of NCCL 2.28 and RCCL 2.21; the functions used are the same in all versions from 2.13 on.
 */
public final class NcclLibrary implements CollectiveLibrary {
    /** Size of an id by which ranks find one another. */
    private static final int ID_BYTES = 128;
    /** {@code ncclInProgress}. */
    private static final int IN_PROGRESS = 7;
    /** {@code ncclUint8}: bytes that are only moved. */
    private static final int BYTES = 1;

    private final String name;
    private final Set<ElementType> reducible;
    private final NativeLibrary library;
    private final MemorySegment getVersion;
    private final MemorySegment getUniqueId;
    private final MemorySegment initRank;
    private final MemorySegment initRankConfig;
    private final MemorySegment destroy;
    private final MemorySegment abort;
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

    /**
     * Looks every function up.
     *
     * @param name the library's name, for messages
     * @param reducible the types whose sums it forms on these devices, among those that NCCL numbers; 8-bit floats have one number for two encodings
     */
    public NcclLibrary(String name, NativeLibrary library, Set<ElementType> reducible) {
        this.name = name;
        this.library = library;
        this.reducible = Set.copyOf(reducible);
        getVersion = library.find("ncclGetVersion");
        getUniqueId = library.find("ncclGetUniqueId");
        initRank = library.find("ncclCommInitRank");
        initRankConfig = library.find("ncclCommInitRankConfig");
        destroy = library.find("ncclCommDestroy");
        abort = library.find("ncclCommAbort");
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
    }

    /** The library behind it. */
    public NativeLibrary library() {
        return library;
    }

    /** Whether everything that a communicator needs is there; premultiplied sums may be missing. */
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

    private AcceleratorException failure(String operation, int code) {
        return NcclFailure.of(
                name,
                library.name(),
                operation,
                code,
                getErrorString == null ? "ncclResult " + code : Native.callText(getErrorString, code),
                getLastError == null
                        ? ""
                        : Native.callText(getLastError, 0).lines().findFirst().orElse(""));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int idBytes() {
        return ID_BYTES;
    }

    @Override
    public String choice() {
        return name + "'s choice; NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=TUNING prints it";
    }

    /** {@code ncclDataType_t}, nccl.h. */
    @Override
    public int code(ElementType type) {
        if (!reducible.contains(type)) {
            return -1;
        }
        return switch (type) {
            case INT8 -> 0;
            case INT32 -> 2;
            case FP16 -> 6;
            case FP32 -> 7;
            case BF16 -> 9;
            case FP8_E4M3, FP8_E4M3_FNUZ -> 10;
            case FP8_E5M2, FP8_E5M2_FNUZ -> 11;
        };
    }

    @Override
    public int byteCode() {
        return BYTES;
    }

    /** {@code ncclRedOp_t}, nccl.h; a scaled sum has a number of its own for each communicator. */
    @Override
    public int code(ReduceOp op) {
        return switch (op.kind()) {
            case SUM -> 0;
            case PROD -> 1;
            case MAX -> 2;
            case MIN -> 3;
            case AVG -> 4;
            case SCALED_SUM -> -1;
        };
    }

    @Override
    public byte[] uniqueId() {
        Scratch out = Scratch.mine();
        check("make id", Native.call(getUniqueId, out.address()));
        return out.memory().asSlice(0, ID_BYTES).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public long[] join(byte[] id, int ranks, IntConsumer makeCurrent) {
        long[] handles = new long[ranks];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(8L * ranks, 8);
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, id);
            groupStart();
            boolean ended = false;
            try {
                for (int rank = 0; rank < ranks; rank++) {
                    makeCurrent.accept(rank);
                    long handle = out.address() + 8L * rank;
                    int code = initRankConfig == null
                            // What follows a structure by value is not read by the function with fewer parameters.
                            ? Native.callWithId(initRank, handle, ranks, bytes, rank, 0)
                            : Native.callWithId(initRankConfig, handle, ranks, bytes, rank, 0);
                    check("join rank " + rank, code);
                }
                ended = true;
                groupEnd();
            } finally {
                if (!ended) {
                    dropGroup();
                }
            }
            for (int rank = 0; rank < ranks; rank++) {
                handles[rank] = out.get(ValueLayout.JAVA_LONG, 8L * rank);
            }
        }
        return handles;
    }

    @Override
    public void groupStart() {
        check("collective", Native.call(groupStart));
    }

    @Override
    public void groupEnd() {
        check("collective", Native.call(groupEnd));
    }

    @Override
    public void dropGroup() {
        Native.call(groupEnd);
    }

    @Override
    public void destroy(long communicator) {
        check("close communicator", Native.call(destroy, communicator));
    }

    @Override
    public void abort(long communicator) {
        Native.call(abort, communicator);
    }

    @Override
    public Optional<AcceleratorException> asyncError(long communicator) {
        Scratch out = Scratch.mine();
        int call = Native.call(getAsyncError, communicator, out.address());
        int code = call != 0 ? call : out.integer(0);
        return code == 0 || code == IN_PROGRESS ? Optional.empty() : Optional.of(failure("collective", code));
    }

    @Override
    public void allReduce(long from, long to, long count, int type, int op, long communicator, long stream) {
        check("all-reduce", Native.call(allReduce, from, to, count, type, op, communicator, stream));
    }

    @Override
    public void allGather(long from, long to, long count, int type, long communicator, long stream) {
        check("all-gather", Native.call(allGather, from, to, count, type, communicator, stream));
    }

    @Override
    public void reduceScatter(long from, long to, long count, int type, int op, long communicator, long stream) {
        check("reduce-scatter", Native.call(reduceScatter, from, to, count, type, op, communicator, stream));
    }

    @Override
    public void broadcast(long from, long to, long count, int type, int root, long communicator, long stream) {
        check("broadcast", Native.call(broadcast, from, to, count, type, root, communicator, stream));
    }

    @Override
    public void reduce(long from, long to, long count, int type, int op, int root, long communicator, long stream) {
        check("reduce", Native.call(reduce, from, to, count, type, op, root, communicator, stream));
    }

    @Override
    public void send(long from, long count, int type, int peer, long communicator, long stream) {
        check("send", Native.call(send, from, count, type, peer, communicator, stream));
    }

    @Override
    public void receive(long to, long count, int type, int peer, long communicator, long stream) {
        check("receive", Native.call(receive, to, count, type, peer, communicator, stream));
    }

    @Override
    public boolean hasPremultipliedSums() {
        return premultiplied != null;
    }

    @Override
    public int premultipliedSum(long scalarBits, int type, long communicator) {
        Scratch out = Scratch.mine();
        out.word(8, scalarBits);
        int hostImmediate = 1; // ncclScalarHostImmediate
        check(
                "premultiplied sum",
                Native.call(premultiplied, out.address(), out.address() + 8, type, hostImmediate, communicator));
        return out.integer(0);
    }
}

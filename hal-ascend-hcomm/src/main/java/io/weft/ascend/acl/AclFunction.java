// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.util.List;

/**
 * Functions that the driver calls: name, signature, and the libraries in which versions have it. Parameters: {@code ADDRESS} for pointers and handles, {@code JAVA_INT} for 32-bit numbers and enumerations, {@code JAVA_LONG}
 * for sizes, counts and 64-bit numbers. All return a status of 32 bits unless said.
 */
public enum AclFunction {
    // Life cycle and devices.
    ACL_INIT("aclInit", ADDRESS),
    ACL_FINALIZE("aclFinalize"),
    SET_DEVICE("aclrtSetDevice", JAVA_INT),
    RESET_DEVICE("aclrtResetDevice", JAVA_INT),
    GET_DEVICE_COUNT("aclrtGetDeviceCount", ADDRESS),
    SYNCHRONIZE_DEVICE("aclrtSynchronizeDevice"),
    SYNCHRONIZE_DEVICE_WITH_TIMEOUT("aclrtSynchronizeDeviceWithTimeout", JAVA_INT),
    GET_VERSION("aclrtGetVersion", ADDRESS, ADDRESS, ADDRESS),
    GET_SOC_NAME(Result.TEXT, "aclrtGetSocName"),
    GET_RECENT_ERROR(Result.TEXT, "aclGetRecentErrMsg"),
    GET_DEVICE_INFO("aclrtGetDeviceInfo", JAVA_INT, JAVA_INT, ADDRESS),
    // Memory.
    MALLOC("aclrtMalloc", ADDRESS, JAVA_LONG, JAVA_INT),
    MALLOC_ALIGN_32("aclrtMallocAlign32", ADDRESS, JAVA_LONG, JAVA_INT),
    MALLOC_HOST("aclrtMallocHost", ADDRESS, JAVA_LONG),
    FREE("aclrtFree", ADDRESS),
    FREE_HOST("aclrtFreeHost", ADDRESS),
    MEMCPY("aclrtMemcpy", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT),
    MEMCPY_ASYNC("aclrtMemcpyAsync", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS),
    MEMSET_ASYNC("aclrtMemsetAsync", ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG, ADDRESS),
    GET_MEM_INFO("aclrtGetMemInfo", JAVA_INT, ADDRESS, ADDRESS),
    REDUCE_ASYNC("aclrtReduceAsync", ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS),
    // Streams.
    CREATE_STREAM_WITH_CONFIG("aclrtCreateStreamWithConfig", ADDRESS, JAVA_INT, JAVA_INT),
    DESTROY_STREAM("aclrtDestroyStream", ADDRESS),
    SYNCHRONIZE_STREAM("aclrtSynchronizeStream", ADDRESS),
    SYNCHRONIZE_STREAM_WITH_TIMEOUT("aclrtSynchronizeStreamWithTimeout", ADDRESS, JAVA_INT),
    STREAM_QUERY("aclrtStreamQuery", ADDRESS, ADDRESS),
    GET_STREAM_AVAILABLE_NUM("aclrtGetStreamAvailableNum", ADDRESS),
    // Events.
    CREATE_EVENT_WITH_FLAG("aclrtCreateEventWithFlag", ADDRESS, JAVA_INT),
    CREATE_EVENT_EX_WITH_FLAG("aclrtCreateEventExWithFlag", ADDRESS, JAVA_INT),
    DESTROY_EVENT("aclrtDestroyEvent", ADDRESS),
    RECORD_EVENT("aclrtRecordEvent", ADDRESS, ADDRESS),
    STREAM_WAIT_EVENT("aclrtStreamWaitEvent", ADDRESS, ADDRESS),
    STREAM_WAIT_EVENT_WITH_TIMEOUT("aclrtStreamWaitEventWithTimeout", ADDRESS, ADDRESS, JAVA_INT),
    QUERY_EVENT_STATUS("aclrtQueryEventStatus", ADDRESS, ADDRESS),
    QUERY_EVENT_WAIT_STATUS("aclrtQueryEventWaitStatus", ADDRESS, ADDRESS),
    SYNCHRONIZE_EVENT("aclrtSynchronizeEvent", ADDRESS),
    SYNCHRONIZE_EVENT_WITH_TIMEOUT("aclrtSynchronizeEventWithTimeout", ADDRESS, JAVA_INT),
    EVENT_ELAPSED_TIME("aclrtEventElapsedTime", ADDRESS, ADDRESS, ADDRESS),
    // Peers.
    CAN_ACCESS_PEER("aclrtDeviceCanAccessPeer", ADDRESS, JAVA_INT, JAVA_INT),
    ENABLE_PEER_ACCESS("aclrtDeviceEnablePeerAccess", JAVA_INT, JAVA_INT),
    DISABLE_PEER_ACCESS("aclrtDeviceDisablePeerAccess", JAVA_INT),
    // Virtual memory.
    RESERVE_ADDRESS("aclrtReserveMemAddress", ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG),
    RELEASE_ADDRESS("aclrtReleaseMemAddress", ADDRESS),
    MALLOC_PHYSICAL("aclrtMallocPhysical", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG),
    FREE_PHYSICAL("aclrtFreePhysical", ADDRESS),
    MAP("aclrtMapMem", ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG),
    UNMAP("aclrtUnmapMem", ADDRESS),
    ALLOCATION_GRANULARITY("aclrtMemGetAllocationGranularity", ADDRESS, JAVA_INT, ADDRESS),
    // Memory of other processes.
    IPC_EXPORT("aclrtIpcMemGetExportKey", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
    IPC_IMPORT("aclrtIpcMemImportByKey", ADDRESS, ADDRESS, JAVA_LONG),
    IPC_SET_PID("aclrtIpcMemSetImportPid", ADDRESS, ADDRESS, JAVA_LONG),
    IPC_CLOSE("aclrtIpcMemClose", ADDRESS),
    BARE_TGID("aclrtDeviceGetBareTgid", ADDRESS),
    // Communicators: in libhcomm in newer versions, in libhccl in older ones.
    GET_ROOT_INFO(Result.STATUS, "HcclGetRootInfo", Homes.COMMUNICATORS, ADDRESS),
    COMM_INIT_ROOT_INFO(
            Result.STATUS, "HcclCommInitRootInfo", Homes.COMMUNICATORS, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS),
    COMM_INIT_ROOT_INFO_CONFIG(
            Result.STATUS,
            "HcclCommInitRootInfoConfig",
            Homes.COMMUNICATORS,
            JAVA_INT,
            ADDRESS,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
    COMM_CONFIG_CAPABILITY(Result.STATUS, "HcclGetCommConfigCapability", Homes.COMMUNICATORS),
    COMM_DESTROY(Result.STATUS, "HcclCommDestroy", Homes.COMMUNICATORS, ADDRESS),
    COMM_SUSPEND(Result.STATUS, "HcclCommSuspend", Homes.COMMUNICATORS, ADDRESS),
    COMM_ASYNC_ERROR(Result.STATUS, "HcclGetCommAsyncError", Homes.COMMUNICATORS, ADDRESS, ADDRESS),
    COMM_ERROR_STRING(Result.TEXT, "HcclGetErrorString", Homes.COMMUNICATORS, JAVA_INT),
    SYM_WIN_REGISTER(
            Result.STATUS,
            "HcclCommSymWinRegister",
            Homes.COMMUNICATORS,
            ADDRESS,
            ADDRESS,
            JAVA_LONG,
            ADDRESS,
            JAVA_INT),
    SYM_WIN_DEREGISTER(Result.STATUS, "HcclCommSymWinDeregister", Homes.COMMUNICATORS, ADDRESS),
    // Collective operators.
    ALL_REDUCE(
            Result.STATUS,
            "HcclAllReduce",
            Homes.OPERATORS,
            ADDRESS,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
    ALL_GATHER(
            Result.STATUS, "HcclAllGather", Homes.OPERATORS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS),
    REDUCE_SCATTER(
            Result.STATUS,
            "HcclReduceScatter",
            Homes.OPERATORS,
            ADDRESS,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
    BROADCAST(
            Result.STATUS, "HcclBroadcast", Homes.OPERATORS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS),
    REDUCE(
            Result.STATUS,
            "HcclReduce",
            Homes.OPERATORS,
            ADDRESS,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
    SCATTER(
            Result.STATUS,
            "HcclScatter",
            Homes.OPERATORS,
            ADDRESS,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
    ALL_TO_ALL(
            Result.STATUS,
            "HcclAlltoAll",
            Homes.OPERATORS,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
    ALL_TO_ALL_V(
            Result.STATUS,
            "HcclAlltoAllV",
            Homes.OPERATORS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            JAVA_INT,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
    BATCH_SEND_RECV(Result.STATUS, "HcclBatchSendRecv", Homes.OPERATORS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS),
    BARRIER(Result.STATUS, "HcclBarrier", Homes.OPERATORS, ADDRESS, ADDRESS),
    // Products. An executor serves one launch: the workspace is asked for before each.
    CREATE_TENSOR(
            Result.POINTER,
            "aclCreateTensor",
            Homes.TENSORS,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            ADDRESS,
            JAVA_LONG,
            ADDRESS),
    DESTROY_TENSOR(Result.STATUS, "aclDestroyTensor", Homes.TENSORS, ADDRESS),
    MATMUL_WORKSPACE(
            Result.STATUS,
            "aclnnMatmulGetWorkspaceSize",
            Homes.PRODUCTS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            JAVA_BYTE,
            ADDRESS,
            ADDRESS),
    MATMUL(Result.STATUS, "aclnnMatmul", Homes.PRODUCTS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS),
    // Elementwise operators.
    CREATE_SCALAR(Result.POINTER, "aclCreateScalar", Homes.TENSORS, ADDRESS, JAVA_INT),
    DESTROY_SCALAR(Result.STATUS, "aclDestroyScalar", Homes.TENSORS, ADDRESS),
    CAST_WORKSPACE(
            Result.STATUS, "aclnnCastGetWorkspaceSize", Homes.PRODUCTS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
    CAST(Result.STATUS, "aclnnCast", Homes.PRODUCTS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS),
    ADD_WORKSPACE(
            Result.STATUS,
            "aclnnAddGetWorkspaceSize",
            Homes.PRODUCTS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS),
    ADD(Result.STATUS, "aclnnAdd", Homes.PRODUCTS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS),
    MUL_WORKSPACE(
            Result.STATUS, "aclnnMulGetWorkspaceSize", Homes.PRODUCTS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
    MUL(Result.STATUS, "aclnnMul", Homes.PRODUCTS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS),
    MULS_WORKSPACE(
            Result.STATUS, "aclnnMulsGetWorkspaceSize", Homes.PRODUCTS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
    MULS(Result.STATUS, "aclnnMuls", Homes.PRODUCTS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS),
    MAXIMUM_WORKSPACE(
            Result.STATUS, "aclnnMaximumGetWorkspaceSize", Homes.PRODUCTS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
    MAXIMUM(Result.STATUS, "aclnnMaximum", Homes.PRODUCTS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS),
    MINIMUM_WORKSPACE(
            Result.STATUS, "aclnnMinimumGetWorkspaceSize", Homes.PRODUCTS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
    MINIMUM(Result.STATUS, "aclnnMinimum", Homes.PRODUCTS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);

    /** What a function gives back. */
    public enum Result {
        /** A status of 32 bits, 0 for success. */
        STATUS,
        /** Zero-terminated text that the library owns. */
        TEXT,
        /** A handle. */
        POINTER
    }

    /** Where versions have their functions. Nested, since an enumeration's constants cannot refer to its own later fields. */
    private static final class Homes {
        static final List<AclLibrary> RUNTIME = List.of(AclLibrary.ASCENDCL);
        static final List<AclLibrary> COMMUNICATORS = List.of(AclLibrary.HCOMM, AclLibrary.HCCL);
        static final List<AclLibrary> OPERATORS = List.of(AclLibrary.HCCL, AclLibrary.HCOMM);
        static final List<AclLibrary> TENSORS = List.of(AclLibrary.NNOPBASE, AclLibrary.OPAPI);
        static final List<AclLibrary> PRODUCTS = List.of(AclLibrary.OPAPI);
    }

    private final String symbol;

    @SuppressWarnings("ImmutableEnumChecker") // One of the lists in Homes.
    private final List<AclLibrary> homes;

    private final Result result;

    @SuppressWarnings("ImmutableEnumChecker") // Layouts never change, and nobody else has the list.
    private final List<MemoryLayout> parameters;

    AclFunction(String symbol, MemoryLayout... parameters) {
        this(Result.STATUS, symbol, Homes.RUNTIME, parameters);
    }

    AclFunction(Result result, String symbol) {
        this(result, symbol, Homes.RUNTIME);
    }

    AclFunction(Result result, String symbol, List<AclLibrary> homes, MemoryLayout... parameters) {
        this.symbol = symbol;
        this.homes = homes;
        this.result = result;
        this.parameters = List.of(parameters);
    }

    /** The name in the library. */
    public String symbol() {
        return symbol;
    }

    /** The libraries in which it may be, the likelier first. */
    public List<AclLibrary> homes() {
        return homes;
    }

    /** What it gives back. */
    public Result result() {
        return result;
    }

    /** Its signature. */
    public FunctionDescriptor descriptor() {
        return FunctionDescriptor.of(
                result == Result.STATUS ? JAVA_INT : ADDRESS, parameters.toArray(MemoryLayout[]::new));
    }
}

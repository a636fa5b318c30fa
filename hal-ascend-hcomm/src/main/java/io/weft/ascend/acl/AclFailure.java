// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.api.VendorError;

/** Turns the runtime's and HCCL's codes into exceptions which say the code, its meaning and what to do next. */
public final class AclFailure {
    private AclFailure() {}

    /**
     * A code of the runtime.
     *
     * @param said the library's own last message; may be empty
     */
    public static AcceleratorException runtime(String operation, int code, String said) {
        String meaning = meaning(code);
        return new AcceleratorException(
                neutral(code),
                operation,
                said.isEmpty() ? meaning : said,
                advice(code),
                new VendorError(AclLibrary.ASCENDCL.file(), code, meaning),
                null);
    }

    /** The neutral kind of a code of the runtime. */
    static ErrorCode neutral(int code) {
        return switch (code) {
            case 100_000, 107_000 -> ErrorCode.INVALID_ARGUMENT;
            case 100_001, 107_002, 107_003, 107_017, 107_030 -> ErrorCode.INVALID_STATE;
            case 107_001, 207_004 -> ErrorCode.NOT_FOUND;
            case 107_008, 200_003 -> ErrorCode.MISALIGNED;
            case 107_019, 107_020, 507_046, 507_047 -> ErrorCode.TIMEOUT;
            case 107_022 -> ErrorCode.ABORTED;
            case 200_000, 207_001, 207_018 -> ErrorCode.OUT_OF_MEMORY;
            case 200_001, 207_000 -> ErrorCode.UNSUPPORTED;
            case 507_010, 507_013, 507_014, 507_015, 507_018, 507_034, 507_035, 507_048, 507_049, 507_053, 507_054 ->
                ErrorCode.DEVICE_LOST;
            default -> ErrorCode.VENDOR;
        };
    }

    private static String meaning(int code) {
        return switch (code) {
            case 100_000, 107_000 -> "invalid parameter";
            case 100_001 -> "not initialised";
            case 100_002 -> "initialised before";
            case 107_001 -> "bad device number";
            case 107_002 -> "the thread has no context";
            case 107_003 -> "the stream belongs to another context";
            case 107_008, 200_003 -> "not aligned";
            case 107_017 -> "invalid handle";
            case 107_019 -> "a wait timed out";
            case 107_020 -> "a task timed out";
            case 107_022 -> "the task was aborted";
            case 107_030 -> "not allowed while a stream is captured";
            case 200_000, 207_001 -> "allocation failed";
            case 200_001, 207_000 -> "not supported";
            case 207_004 -> "no such device";
            case 207_005 -> "resources cannot be allocated";
            case 207_007 -> "no event left";
            case 207_008 -> "no stream left";
            case 207_009 -> "no notify left";
            case 207_018 -> "out of device memory";
            case 507_010 -> "the device's heartbeat was lost";
            case 507_013 -> "system DMA error";
            case 507_014 -> "an AI core timed out";
            case 507_015 -> "an AI core raised an exception";
            case 507_018 -> "an AI CPU raised an exception";
            case 507_034 -> "a vector core timed out";
            case 507_035 -> "a vector core raised an exception";
            case 507_046 -> "waiting for a stream timed out";
            case 507_047 -> "waiting for an event timed out";
            case 507_048 -> "a task scheduler wait timed out";
            case 507_049 -> "the task scheduler raised an exception";
            case 507_053 -> "device memory error";
            case 507_054 -> "uncorrectable error in device memory";
            case 507_056 -> "link error";
            case 507_057 -> "a remote device is suspected";
            default -> "error " + code;
        };
    }

    private static String advice(int code) {
        return switch (code) {
            case 107_002, 107_003 -> "this is a fault in the plugin; report it";
            case 107_030 -> "keep synchronous calls out of captured regions";
            case 207_007 -> "close events that are not needed any more";
            case 207_008 -> "close streams or captured graphs; each captured stream counts";
            case 200_000, 207_001, 207_018 -> "free device memory, or use smaller buffers";
            case 507_014, 507_015, 507_034, 507_035 ->
                "an operator failed on the device; look at the first error in its log, then end the process";
            case 507_046, 507_047, 507_048 -> "a rank may be missing; see which one is behind before raising limits";
            case 507_010, 507_053, 507_054 -> "the hardware reports a fault; check it with npu-smi";
            case 507_056, 507_057 -> "look at the links' history with hccn_tool -link_stat";
            default -> "run weft doctor --ascend --explain " + code;
        };
    }

    /** A code of HCCL. */
    public static AcceleratorException hccl(String operation, int code, String said) {
        String name = hcclName(code);
        ErrorCode neutral = switch (code) {
            case 1, 2 -> ErrorCode.INVALID_ARGUMENT;
            case 3, 24 -> ErrorCode.OUT_OF_MEMORY;
            case 5 -> ErrorCode.UNSUPPORTED;
            case 6 -> ErrorCode.NOT_FOUND;
            case 7 -> ErrorCode.UNAVAILABLE;
            case 9 -> ErrorCode.TIMEOUT;
            case 20 -> ErrorCode.NOT_READY;
            case 22 -> ErrorCode.ABORTED;
            default -> ErrorCode.VENDOR;
        };
        String advice = switch (code) {
            case 9 -> "a rank may be missing; see which one is behind before raising limits";
            case 11, 12, 13, 14, 19 -> "check ports and links with weft doctor --ascend";
            case 21 -> "a network card gave up its retries; look at the links' history";
            default -> "look at the vendor's log for the first EI or EJ code";
        };
        return new AcceleratorException(
                neutral,
                operation,
                said.isEmpty() ? "the call failed" : said,
                advice,
                new VendorError(AclLibrary.HCCL.file(), code, name),
                null);
    }

    private static String hcclName(int code) {
        return switch (code) {
            case 0 -> "success";
            case 1 -> "parameter";
            case 2 -> "null pointer";
            case 3 -> "memory";
            case 4 -> "internal";
            case 5 -> "not supported";
            case 6 -> "not found";
            case 7 -> "unavailable";
            case 8 -> "system call";
            case 9 -> "timeout";
            case 10 -> "cannot open file";
            case 11 -> "TCP connect";
            case 12 -> "RoCE connect";
            case 13 -> "TCP transfer";
            case 14 -> "RoCE transfer";
            case 15 -> "runtime";
            case 16 -> "driver";
            case 17 -> "profiling";
            case 18 -> "compute engine";
            case 19 -> "network";
            case 20 -> "again";
            case 21 -> "remote: error completion";
            case 22 -> "suspending";
            case 23 -> "operator retry failed";
            case 24 -> "out of memory";
            case 1041 -> "in status";
            default -> "HcclResult " + code;
        };
    }
}

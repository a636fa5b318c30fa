// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import io.weft.nativehal.ffi.Native;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Calls of the vendor's libraries, each made by the thread of its device. A caller says once which device it means, and that holds for this caller until it says another. Calls are short: whoever waits for a device asks
 * again and again instead of holding its thread.
 */
final class AclCalls implements AutoCloseable {
    private static final int ACL_ERROR_REPEAT_INITIALIZE = 100_002;

    private final AclLibraries libraries;
    private final Map<Integer, DeviceThread> threads = new ConcurrentHashMap<>();

    @SuppressWarnings("ThreadLocalUsage") // Of one open platform.
    private final ThreadLocal<Integer> current = new ThreadLocal<>();

    AclCalls(AclLibraries libraries) {
        this.libraries = libraries;
    }

    AclLibraries libraries() {
        return libraries;
    }

    /** Starts the runtime. That it was started before is no error. */
    void start() {
        int code = direct(AclFunction.ACL_INIT, 0);
        if (code != 0 && code != ACL_ERROR_REPEAT_INITIALIZE) {
            throw failure("start the runtime", code);
        }
    }

    /** Calls a function that no device has a part in, from the calling thread. */
    int direct(AclFunction function, long... arguments) {
        return invoke(libraries.address("call", function), arguments);
    }

    /** Names the device that the calling thread means from now on. */
    void device(int ordinal) {
        current.set(ordinal);
    }

    int device() {
        Integer ordinal = current.get();
        if (ordinal == null) {
            throw new IllegalStateException("no device was named by this thread");
        }
        return ordinal;
    }

    private DeviceThread thread(int ordinal) {
        return threads.computeIfAbsent(
                ordinal,
                wanted -> new DeviceThread(wanted, () -> {
                    current.set(wanted);
                    int code = direct(AclFunction.SET_DEVICE, wanted);
                    if (code != 0) {
                        throw failure("select device " + wanted, code);
                    }
                }));
    }

    /** Has the current device's thread do something. */
    <T> T on(Supplier<T> task) {
        return thread(device()).call(task);
    }

    /** Has the thread of some device do something: for calls that need a device but no certain one. */
    <T> T onAny(Supplier<T> task) {
        return threads.values().iterator().next().call(task);
    }

    /** The chip of the current device, such as {@code Ascend910B3}; empty when unknown. */
    String socName() {
        return libraries.find(AclFunction.GET_SOC_NAME).isEmpty()
                ? ""
                : on(() -> Native.text(Native.callLong(libraries.address("read the chip", AclFunction.GET_SOC_NAME))));
    }

    /** Describes a matrix; addresses of two numbers each for dimensions, strides and the storage's dimensions. */
    long createTensor(long dims, long strides, long storage, int type, int format, long data) {
        MethodHandle create = libraries.require("gemm", AclFunction.CREATE_TENSOR);
        try {
            MemorySegment made = (MemorySegment) create.invokeExact(
                    MemorySegment.ofAddress(dims),
                    2L,
                    type,
                    MemorySegment.ofAddress(strides),
                    0L,
                    format,
                    MemorySegment.ofAddress(storage),
                    2L,
                    MemorySegment.ofAddress(data));
            return made.address();
        } catch (RuntimeException | Error failed) {
            throw failed;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** A number for an operator; its address is read at once. */
    long createScalar(long value, int type) {
        MethodHandle create = libraries.require("scalar", AclFunction.CREATE_SCALAR);
        try {
            MemorySegment made = (MemorySegment) create.invokeExact(MemorySegment.ofAddress(value), type);
            return made.address();
        } catch (RuntimeException | Error failed) {
            throw failed;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Has several devices' threads do something at the same time, and waits for all. The first failure is thrown. */
    void together(List<Integer> devices, List<Runnable> tasks) {
        List<CompletableFuture<Void>> started = new ArrayList<>();
        for (int i = 0; i < tasks.size(); i++) {
            Runnable task = tasks.get(i);
            started.add(thread(devices.get(i)).submit(() -> {
                task.run();
                return null;
            }));
        }
        started.forEach(DeviceThread::join);
    }

    /** Calls a function on the current device's thread; the code. */
    int code(AclFunction function, long... arguments) {
        MemorySegment address = libraries.address("call", function);
        return on(() -> invoke(address, arguments));
    }

    /** Names the device that a handle belongs to for the time of a task: not all callers say it for what is asked of a handle. */
    <T> T at(Integer home, Supplier<T> task) {
        Integer before = current.get();
        if (home == null || home.equals(before)) {
            return task.get();
        }
        current.set(home);
        try {
            return task.get();
        } finally {
            if (before == null) {
                current.remove();
            } else {
                current.set(before);
            }
        }
    }

    /** Calls a function on the current device's thread, which must succeed. */
    void check(String operation, AclFunction function, long... arguments) {
        int code = code(function, arguments);
        if (code != 0) {
            throw failure(operation, code);
        }
    }

    static int invoke(MemorySegment f, long... a) {
        return switch (a.length) {
            case 0 -> Native.call(f);
            case 1 -> Native.call(f, a[0]);
            case 2 -> Native.call(f, a[0], a[1]);
            case 3 -> Native.call(f, a[0], a[1], a[2]);
            case 4 -> Native.call(f, a[0], a[1], a[2], a[3]);
            case 5 -> Native.call(f, a[0], a[1], a[2], a[3], a[4]);
            case 6 -> Native.call(f, a[0], a[1], a[2], a[3], a[4], a[5]);
            case 7 -> Native.call(f, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
            case 8 -> Native.call(f, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
            default -> throw new IllegalArgumentException(a.length + " arguments");
        };
    }

    /** The exception for a code, with what the library says of it. */
    AcceleratorException failure(String operation, int code) {
        String said = libraries
                .find(AclFunction.GET_RECENT_ERROR)
                .map(ignored ->
                        Native.text(Native.callLong(libraries.address("read the error", AclFunction.GET_RECENT_ERROR))))
                .orElse("");
        return AclFailure.runtime(operation, code, said.lines().findFirst().orElse(""));
    }

    @Override
    public void close() {
        threads.values().forEach(DeviceThread::close);
        threads.clear();
    }
}

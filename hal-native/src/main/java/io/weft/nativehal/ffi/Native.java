// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/**
 * Calls C functions of an address. The handles are constants and the function is an argument, so a call costs a few nanoseconds although libraries are found at
 * run time and tests open several.
 *
 * <p>Every argument is passed as a {@code long}, pointers and handles as their number. That is exact on the platforms that vendors support (System V on x86-64,
 * AAPCS64): integers, enums and pointers share the same registers and stack slots, and a callee that takes 32 bits reads the low ones. Functions with floating-point
 * arguments or structures by value have handles of their own.
 */
public final class Native {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle I0 = ints(0);
    private static final MethodHandle I1 = ints(1);
    private static final MethodHandle I2 = ints(2);
    private static final MethodHandle I3 = ints(3);
    private static final MethodHandle I4 = ints(4);
    private static final MethodHandle I5 = ints(5);
    private static final MethodHandle I6 = ints(6);
    private static final MethodHandle I7 = ints(7);
    private static final MethodHandle I8 = ints(8);
    private static final MethodHandle I9 = ints(9);
    private static final MethodHandle I10 = ints(10);
    private static final MethodHandle I11 = ints(11);
    private static final MethodHandle I16 = ints(16);
    private static final MethodHandle L0 = handle(FunctionDescriptor.of(ValueLayout.JAVA_LONG));
    private static final MethodHandle L1 = handle(FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

    private static final MemoryLayout UNIQUE_ID =
            MemoryLayout.structLayout(MemoryLayout.sequenceLayout(128, ValueLayout.JAVA_BYTE));
    private static final MethodHandle UNIQUE_ID_CALL = handle(FunctionDescriptor.of(
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            UNIQUE_ID,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG));

    private Native() {}

    private static MethodHandle ints(int arguments) {
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        java.util.Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return handle(FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor);
    }

    /** {@code int f()}. */
    public static int call(MemorySegment f) {
        try {
            return (int) I0.invokeExact(f);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code int f(a)}. */
    public static int call(MemorySegment f, long a) {
        try {
            return (int) I1.invokeExact(f, a);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code int f(a, b)}. */
    public static int call(MemorySegment f, long a, long b) {
        try {
            return (int) I2.invokeExact(f, a, b);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code int f(a, b, c)}. */
    public static int call(MemorySegment f, long a, long b, long c) {
        try {
            return (int) I3.invokeExact(f, a, b, c);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code int f(a, b, c, d)}. */
    public static int call(MemorySegment f, long a, long b, long c, long d) {
        try {
            return (int) I4.invokeExact(f, a, b, c, d);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code int f(a, b, c, d, e)}. */
    public static int call(MemorySegment f, long a, long b, long c, long d, long e) {
        try {
            return (int) I5.invokeExact(f, a, b, c, d, e);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code int f(a, b, c, d, e, g)}. */
    public static int call(MemorySegment f, long a, long b, long c, long d, long e, long g) {
        try {
            return (int) I6.invokeExact(f, a, b, c, d, e, g);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Seven arguments. */
    public static int call(MemorySegment f, long a, long b, long c, long d, long e, long g, long h) {
        try {
            return (int) I7.invokeExact(f, a, b, c, d, e, g, h);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Eight arguments. */
    public static int call(MemorySegment f, long a, long b, long c, long d, long e, long g, long h, long i) {
        try {
            return (int) I8.invokeExact(f, a, b, c, d, e, g, h, i);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Nine arguments. */
    public static int call(MemorySegment f, long a, long b, long c, long d, long e, long g, long h, long i, long j) {
        try {
            return (int) I9.invokeExact(f, a, b, c, d, e, g, h, i, j);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Ten arguments. */
    public static int call(
            MemorySegment f, long a, long b, long c, long d, long e, long g, long h, long i, long j, long k) {
        try {
            return (int) I10.invokeExact(f, a, b, c, d, e, g, h, i, j, k);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Eleven arguments. */
    public static int call(
            MemorySegment f, long a, long b, long c, long d, long e, long g, long h, long i, long j, long k, long l) {
        try {
            return (int) I11.invokeExact(f, a, b, c, d, e, g, h, i, j, k, l);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Sixteen arguments. */
    public static int call(
            MemorySegment f,
            long a,
            long b,
            long c,
            long d,
            long e,
            long g,
            long h,
            long i,
            long j,
            long k,
            long l,
            long m,
            long n,
            long o,
            long p,
            long q) {
        try {
            return (int) I16.invokeExact(f, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code int f(a, b, id, d, e)} where the id is 128 bytes by value. */
    public static int callWithId(MemorySegment f, long a, long b, MemorySegment id, long d, long e) {
        try {
            return (int) UNIQUE_ID_CALL.invokeExact(f, a, b, id, d, e);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code size_t f()}. */
    public static long callLong(MemorySegment f) {
        try {
            return (long) L0.invokeExact(f);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** {@code const char *f(a)}; empty for a null pointer. */
    public static String callText(MemorySegment f, long a) {
        try {
            return text((long) L1.invokeExact(f, a));
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** The C string at an address, at most 4 KiB of it; empty for a null pointer. */
    @SuppressWarnings("restricted")
    public static String text(long address) {
        if (address == 0) {
            return "";
        }
        MemorySegment bytes = MemorySegment.ofAddress(address).reinterpret(4096);
        int length = 0;
        while (length < 4096 && bytes.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        return new String(bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** Memory that a library owns, as a segment. The caller knows that it is there. */
    @SuppressWarnings("restricted")
    public static MemorySegment memory(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}

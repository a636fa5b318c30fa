// SPDX-License-Identifier: Apache-2.0
package io.weft.nativehal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A few words of native memory of each thread's own, for results by pointer and kernel arguments. Valid until the thread's next use. */
public final class Scratch {
    /** Enough for the largest kernel argument block (1,112 bytes) and the pointers to it. */
    private static final long BYTES = 2048;

    private static final ThreadLocal<Scratch> MINE = ThreadLocal.withInitial(Scratch::new);

    private final MemorySegment memory = Arena.ofAuto().allocate(BYTES, 64);
    private final long address = memory.address();

    private Scratch() {}

    /** This thread's. */
    public static Scratch mine() {
        return MINE.get();
    }

    /** The address of its first byte. */
    public long address() {
        return address;
    }

    /** All of it. */
    public MemorySegment memory() {
        return memory;
    }

    /** The 64-bit word at a byte offset. */
    public long word(long offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }

    /** Sets the 64-bit word at a byte offset. */
    public void word(long offset, long value) {
        memory.set(ValueLayout.JAVA_LONG, offset, value);
    }

    /** The 32-bit word at a byte offset. */
    public int integer(long offset) {
        return memory.get(ValueLayout.JAVA_INT, offset);
    }

    /** Sets the 32-bit word at a byte offset. */
    public void integer(long offset, int value) {
        memory.set(ValueLayout.JAVA_INT, offset, value);
    }

    /** The float at a byte offset. */
    public float real(long offset) {
        return memory.get(ValueLayout.JAVA_FLOAT, offset);
    }
}

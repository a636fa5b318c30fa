// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.api.AcceleratorException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * Writes a communicator's settings, of which versions of the library know more or fewer. Later versions have moved fields, so only the beginning that all of them agree about is written, and of that only what the library
 * says it knows. What is not set holds ones.
 */
public final class CommConfig {
    /** The longest beginning in which no version has moved a field, bytes: that of version 6. */
    public static final int STABLE_BYTES = 312;

    private static final int STABLE_VERSION = 6;
    private static final int MAGIC = 0xf0f0f0f0;
    private static final int NAME_BYTES = 128;

    /** Sizes by version as far as the beginning is stable; 0 where no such version was seen. */
    private static final int[] BYTES = {0, 32, 160, 288, 0, 300, 312};

    // Capability numbers: what the library answers is one more than the last it knows.
    private static final int BUFFER = 0;
    private static final int DETERMINISTIC = 1;
    private static final int NAME = 2;

    // Places of fields.
    private static final long AT_SIZE = 0;
    private static final long AT_MAGIC = 8;
    private static final long AT_VERSION = 12;
    private static final long AT_RESERVED = 16;
    private static final long AT_BUFFER = 24;
    private static final long AT_DETERMINISTIC = 28;
    private static final long AT_NAME = 32;
    private static final long AT_UDI = 160;

    private final MemorySegment memory;
    private final int capability;

    private CommConfig(MemorySegment memory, int capability) {
        this.memory = memory;
        this.capability = capability;
    }

    /** The newest version whose size is at most that of the stable beginning and that has all fields up to a capability. */
    static int version(int capability) {
        if (capability <= DETERMINISTIC + 1) {
            return 1;
        }
        return capability <= NAME + 1 ? 2 : STABLE_VERSION;
    }

    /**
     * Settings in which nothing is set.
     *
     * @param capability what {@code HcclGetCommConfigCapability} answers: the number of settings that it knows; 0 where the function is missing
     */
    public static CommConfig in(SegmentAllocator allocator, int capability) {
        int version = version(capability);
        int bytes = BYTES[version];
        MemorySegment memory = allocator.allocate(bytes, Long.BYTES);
        memory.fill((byte) 0xff);
        memory.set(ValueLayout.JAVA_LONG, AT_SIZE, bytes);
        memory.set(ValueLayout.JAVA_INT, AT_MAGIC, MAGIC);
        memory.set(ValueLayout.JAVA_INT, AT_VERSION, version);
        memory.set(ValueLayout.JAVA_LONG, AT_RESERVED, 0);
        // Text is empty when it is not set, not ones.
        if (bytes > AT_NAME) {
            memory.asSlice(AT_NAME, Math.min(bytes, AT_UDI) - AT_NAME).fill((byte) 0);
        }
        if (bytes > AT_UDI) {
            memory.asSlice(AT_UDI, NAME_BYTES).fill((byte) 0);
        }
        return new CommConfig(memory, capability);
    }

    /** Sets the buffers' size, MB; false when the library does not know it. */
    public boolean bufferMegabytes(int megabytes) {
        return set(BUFFER, AT_BUFFER, megabytes);
    }

    /** Sets whether results are the same bits every time; false when the library does not know it. */
    public boolean deterministic(boolean wanted) {
        return set(DETERMINISTIC, AT_DETERMINISTIC, wanted ? 1 : 0);
    }

    /** Sets the communicator's name; false when the library does not know it. */
    public boolean name(String name) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        if (text.length >= NAME_BYTES) {
            throw AcceleratorException.invalid(
                    "communicator name", "'" + name + "' has " + text.length + " bytes; at most 127 are accepted");
        }
        if (capability <= NAME) {
            return false;
        }
        MemorySegment.copy(text, 0, memory, ValueLayout.JAVA_BYTE, AT_NAME, text.length);
        return true;
    }

    private boolean set(int number, long at, int value) {
        if (capability <= number) {
            return false;
        }
        memory.set(ValueLayout.JAVA_INT, at, value);
        return true;
    }

    /** The structure, for the call. */
    public MemorySegment memory() {
        return memory;
    }
}

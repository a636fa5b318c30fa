// SPDX-License-Identifier: Apache-2.0
package io.weft.conformance.bench;

import io.weft.api.Buffer;
import io.weft.api.Capability;
import io.weft.api.Device;
import io.weft.api.Platform;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a proof leaves behind on the platform: memory that did not come back, bytes written outside of a buffer, handles whose closing failed. Each is a rule of its
 * own, judged over all proofs.
 */
public final class Leftovers {
    /** Bytes before and after every buffer of a bench. */
    static final int GUARD_BYTES = 128;

    private final List<String> outside = new ArrayList<>();
    private final List<String> closing = new ArrayList<>();
    private final List<String> memory = new ArrayList<>();

    /** Writes outside of buffers. */
    public List<String> outside() {
        return outside;
    }

    /** Handles that could not be closed. */
    public List<String> closing() {
        return closing;
    }

    /** Memory that did not come back. */
    public List<String> memory() {
        return memory;
    }

    /** Free bytes of every device now. */
    public static long[] freeBytes(Platform platform) {
        return platform.devices().stream()
                .mapToLong(device -> device.memoryInfo().freeBytes())
                .toArray();
    }

    void compareFree(Platform platform, long[] before) {
        long[] after = freeBytes(platform);
        for (int i = 0; i < before.length; i++) {
            // What a backend kept of earlier work may come back at any time.
            if (after[i] < before[i]) {
                memory.add("device " + i + " has " + after[i] + " bytes free, and had " + before[i] + " before");
            }
        }
    }

    /** Puts guard bytes around the middle of an allocation. */
    static void guard(Buffer whole, long front, long bytes) {
        whole.write(0, MemorySegment.ofArray(pattern((int) front, 0)));
        whole.write(front + bytes, MemorySegment.ofArray(pattern(GUARD_BYTES, 1)));
    }

    void compareGuards(Buffer whole, long front, long bytes) {
        compare(whole, 0, pattern((int) front, 0), "before");
        compare(whole, front + bytes, pattern(GUARD_BYTES, 1), "after");
    }

    private void compare(Buffer whole, long offset, byte[] expected, String where) {
        byte[] found = new byte[expected.length];
        whole.read(MemorySegment.ofArray(found), offset);
        int first = Arrays.mismatch(expected, found);
        if (first >= 0) {
            int distance = where.equals("before") ? expected.length - lastMismatch(expected, found) : first + 1;
            outside.add("the byte " + distance + " " + where + " a buffer on device "
                    + whole.device().ordinal() + " was 0x" + hex(expected[first]) + " and is 0x" + hex(found[first]));
        }
    }

    private static int lastMismatch(byte[] a, byte[] b) {
        int last = a.length - 1;
        while (a[last] == b[last]) {
            last--;
        }
        return last;
    }

    private static String hex(byte value) {
        return String.format("%02x", value);
    }

    private static byte[] pattern(int bytes, int side) {
        byte[] pattern = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            pattern[i] = (byte) (0x3D + 31 * i + 101 * side);
        }
        return pattern;
    }

    static boolean hasStorage(Device device) {
        return device.platform().has(Capability.STORAGE);
    }
}

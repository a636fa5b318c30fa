// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.acl;

import io.weft.nativehal.driver.Route;
import io.weft.nativehal.ffi.Native;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Fills memory of one device with elements of more than one byte, which the vendor's runtime cannot: a short piece is copied from the host and then doubled on the device. The pieces lie in a ring of pinned memory; a slot is used again when its copy is
 * over. Safe for any thread.
 */
final class FillPatterns {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = 1024;

    private final AclRuntime runtime;
    private final long ring;
    private final long[] events = new long[SLOTS];
    private int next;

    FillPatterns(AclRuntime runtime) {
        this.runtime = runtime;
        this.ring = runtime.allocateHost((long) SLOTS * SLOT_BYTES);
        for (int slot = 0; slot < SLOTS; slot++) {
            events[slot] = runtime.createEvent(false);
        }
    }

    synchronized void fill(long address, int bits, int elementBytes, long width, long stream) {
        int slot = next;
        next = (next + 1) % SLOTS;
        runtime.synchronizeEvent(events[slot]);
        long piece = ring + (long) slot * SLOT_BYTES;
        long done = Math.min(width, SLOT_BYTES);
        MemorySegment words = Native.memory(piece, SLOT_BYTES);
        for (long at = 0; at < done; at += elementBytes) {
            if (elementBytes == 2) {
                words.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) bits);
            } else {
                words.set(ValueLayout.JAVA_INT_UNALIGNED, at, bits);
            }
        }
        runtime.move(address, piece, done, Route.HOST_TO_DEVICE, stream);
        runtime.mark(events[slot], stream);
        while (done < width) {
            long more = Math.min(done, width - done);
            runtime.move(address + done, address, more, Route.WITHIN_DEVICE, stream);
            done += more;
        }
    }
}

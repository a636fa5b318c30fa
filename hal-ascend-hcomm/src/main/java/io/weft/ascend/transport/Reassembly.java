// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import java.util.BitSet;

/** Puts chunks that arrive in any order, some twice, back into their order. Not for several threads at once. */
final class Reassembly {
    private final long bytes;
    private final long chunkBytes;
    private final int chunks;
    private final DeliverySink sink;
    private final BitSet arrived;
    private int next;
    private int waiting;
    private int mostWaiting;
    private long duplicates;

    Reassembly(long bytes, long chunkBytes, DeliverySink sink) {
        this.bytes = bytes;
        this.chunkBytes = chunkBytes;
        this.chunks = Math.toIntExact(Math.ceilDiv(bytes, chunkBytes));
        this.sink = sink;
        this.arrived = new BitSet(chunks);
    }

    int chunks() {
        return chunks;
    }

    long bytesOf(int chunk) {
        return Math.min(chunkBytes, bytes - chunk * chunkBytes);
    }

    boolean has(int chunk) {
        return arrived.get(chunk);
    }

    /** A chunk has arrived; false when it had before, and is dropped. */
    boolean arrive(int chunk) {
        if (arrived.get(chunk)) {
            duplicates++;
            return false;
        }
        arrived.set(chunk);
        waiting++;
        mostWaiting = Math.max(mostWaiting, waiting);
        while (next < chunks && arrived.get(next)) {
            sink.deliver(next * chunkBytes, bytesOf(next));
            next++;
            waiting--;
        }
        return true;
    }

    boolean isComplete() {
        return next == chunks;
    }

    /** Bytes handed on so far, all from the beginning. */
    long deliveredBytes() {
        return Math.min(bytes, next * chunkBytes);
    }

    long duplicates() {
        return duplicates;
    }

    /** Most bytes that were held back for order. */
    long mostHeldBytes() {
        return mostWaiting * chunkBytes;
    }
}

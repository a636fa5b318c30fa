// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import java.util.Arrays;

/**
 * How far each stream has come, counted in marks. Memory freed on a stream is tagged with the next mark that will be recorded there; it is free for everybody
 * once the stream has passed it. One recorded event thus covers any number of frees. Guarded by the arena's lock.
 */
final class Marks {
    /** Events of one stream which are recorded and not passed; more would tell little more. */
    private static final int MOST_PENDING = 4;

    private final StreamOrder order;
    private int[] next = new int[4];
    private int[] passed = new int[4];
    /** Whether something was tagged with the next mark. */
    private boolean[] wanted = new boolean[4];

    /** What {@code next} was at the last look for streams that rest. */
    private int[] nextBefore = new int[4];

    private int streams;
    private long recorded;

    Marks(StreamOrder order) {
        this.order = order;
        Arrays.fill(next, 1);
    }

    /** Makes room for a stream. */
    void open(int stream) {
        if (stream >= next.length) {
            int old = next.length;
            int length = Math.max(stream + 1, 2 * old);
            next = Arrays.copyOf(next, length);
            Arrays.fill(next, old, length, 1);
            passed = Arrays.copyOf(passed, length);
            wanted = Arrays.copyOf(wanted, length);
            nextBefore = Arrays.copyOf(nextBefore, length);
        }
        streams = Math.max(streams, stream + 1);
    }

    /** Streams seen so far. */
    int streams() {
        return streams;
    }

    /** The tag for what is freed on a stream now. */
    int tag(int stream) {
        wanted[stream] = true;
        return next[stream];
    }

    /** Whether a stream has passed a tag. Tags wrap around after 2^31 marks, hence the difference. */
    boolean isPassed(int stream, int tag) {
        return tag - passed[stream] <= 0;
    }

    /** Whether nothing was freed on a stream since the last look. */
    boolean isResting(int stream) {
        return next[stream] == nextBefore[stream] && !wanted[stream];
    }

    /** Looks which streams rest, from now on. */
    void lookForResting() {
        System.arraycopy(next, 0, nextBefore, 0, streams);
    }

    /** Records a mark where one is wanted and few are pending. */
    void record(int stream) {
        if (wanted[stream] && next[stream] - 1 - passed[stream] < MOST_PENDING) {
            recordNow(stream);
        }
    }

    private void recordNow(int stream) {
        order.record(stream, next[stream]++);
        wanted[stream] = false;
        recorded++;
    }

    /** Asks how far every stream has come and says whether one came further. */
    boolean poll() {
        boolean moved = false;
        for (int stream = 0; stream < streams; stream++) {
            record(stream);
            moved |= ask(stream);
            if (wanted[stream] && next[stream] - 1 - passed[stream] < MOST_PENDING) {
                // There was no room for the mark before.
                recordNow(stream);
                moved |= ask(stream);
            }
        }
        return moved;
    }

    private boolean ask(int stream) {
        if (next[stream] - 1 == passed[stream]) {
            return false;
        }
        int now = order.passed(stream);
        boolean moved = now != passed[stream];
        passed[stream] = now;
        return moved;
    }

    /** Makes later work on a stream wait for a tag of another one. */
    void await(int stream, int other, int tag) {
        if (tag == next[other]) {
            recordNow(other);
        }
        order.await(stream, other, tag);
    }

    /** Waits until every stream has passed everything. */
    void synchronize() {
        for (int stream = 0; stream < streams; stream++) {
            if (wanted[stream]) {
                recordNow(stream);
            }
        }
        order.synchronize();
        poll();
    }

    /** Marks recorded so far. */
    long recorded() {
        return recorded;
    }
}

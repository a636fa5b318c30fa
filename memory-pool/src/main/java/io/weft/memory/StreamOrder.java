// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

/**
 * How a pool's core learns what streams have finished. Streams are small numbers from 0. A mark is a point in the order of one stream; its marks are numbered 1,
 * 2, 3... in the order in which they are recorded. Called by one thread at a time, under the pool's lock, so it calls nothing of the pool.
 */
public interface StreamOrder {
    /** Records a mark after all work issued to the stream so far. */
    void record(int stream, int mark);

    /** The last mark that the stream has passed, 0 for none. Does not wait. */
    int passed(int stream);

    /** Makes later work on one stream wait for a recorded mark of another. */
    void await(int stream, int other, int mark);

    /** Waits until every stream has passed everything issued so far. */
    void synchronize();

    /** Order for one thread of host memory, where everything is done when it is issued. */
    static StreamOrder immediate() {
        return new StreamOrder() {
            private int[] last = new int[8];

            @Override
            public void record(int stream, int mark) {
                if (stream >= last.length) {
                    last = java.util.Arrays.copyOf(last, 2 * stream);
                }
                last[stream] = mark;
            }

            @Override
            public int passed(int stream) {
                return stream < last.length ? last[stream] : 0;
            }

            @Override
            public void await(int stream, int other, int mark) {}

            @Override
            public void synchronize() {}
        };
    }
}

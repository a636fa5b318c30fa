// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

/**
 * The words of a launch descriptor that are the same for every launch of one group, laid out once when the group is made. A stream that changes groups copies them instead of putting them together.
 *
 * <p>Words: 0 group and ranks, 1 own rank and flags, 2 ring depth and semaphores, 3 reserved; then the windows, address and length in turn. Words that change with a launch follow in {@link LaunchDescriptor}.
 */
final class DescriptorTemplate {
    /** Words ahead of the windows. */
    static final int HEAD = 4;
    /** All words. */
    static final int WORDS = HEAD + 2 * WindowTable.SIZE;

    private final long[] words = new long[WORDS];

    DescriptorTemplate(int group, int ranks, int rank) {
        words[0] = (long) group << Integer.SIZE | ranks;
        words[1] = (long) rank << Integer.SIZE;
        words[2] = (long) EventRing.DEPTH << Integer.SIZE | SemaphorePool.SIZE;
    }

    /** Puts a window into the words. */
    synchronized void window(MemoryWindow window, boolean present) {
        int at = HEAD + 2 * window.index();
        words[at] = present ? window.address() : 0;
        words[at + 1] = present ? window.bytes() : 0;
    }

    /** Copies the words to the beginning of a descriptor. */
    synchronized void copyTo(long[] descriptor) {
        System.arraycopy(words, 0, descriptor, 0, WORDS);
    }
}

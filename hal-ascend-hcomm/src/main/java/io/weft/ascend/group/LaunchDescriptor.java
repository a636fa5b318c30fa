// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

/**
 * The launch descriptor of one stream: which group it speaks for now, and its last launch. Not for several threads at once, as a stream is not.
 *
 * <p>Changing the group copies a prepared template; a launch of the group that is already there sets two words.
 */
public final class LaunchDescriptor {
    private static final int SEQUENCE = DescriptorTemplate.WORDS;
    private static final int SEMAPHORE = DescriptorTemplate.WORDS + 1;

    private final long[] words = new long[DescriptorTemplate.WORDS + 2];
    private Group group;
    private long switches;
    private long switchNanos;
    private long longestSwitchNanos;

    /** A descriptor that speaks for no group yet. */
    public LaunchDescriptor() {}

    /**
     * Makes the descriptor speak for a group. The same group again costs nothing and counts nothing.
     *
     * @return {@link GroupResult#OK}, or {@link GroupResult#CLOSED}
     */
    public GroupResult switchTo(Group next) {
        if (next == group) {
            return GroupResult.OK;
        }
        if (next.isClosed()) {
            return GroupResult.CLOSED;
        }
        long start = System.nanoTime();
        next.template().copyTo(words);
        group = next;
        next.noteSwitch();
        switches++;
        long took = System.nanoTime() - start;
        switchNanos += took;
        longestSwitchNanos = Math.max(longestSwitchNanos, took);
        return GroupResult.OK;
    }

    /** Sets the words of one launch. */
    void launch(long claim, long semaphore) {
        words[SEQUENCE] = claim;
        words[SEMAPHORE] = semaphore;
    }

    /** The group it speaks for; null before the first. */
    public Group group() {
        return group;
    }

    /** A word of the descriptor, as the device would read it. */
    public long word(int index) {
        return words[index];
    }

    /** How often the group was changed. */
    public long switches() {
        return switches;
    }

    /** Host time of all changes, ns. */
    public long switchNanos() {
        return switchNanos;
    }

    /** Host time of the longest change, ns. */
    public long longestSwitchNanos() {
        return longestSwitchNanos;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

/** What one launch holds of its group until it ends. Reusable once it has ended; not for several threads at once. */
public final class Launch {
    private final boolean needsSemaphore;
    private int group = -1;
    private long claim = EventRing.FULL;
    private long semaphore = SemaphorePool.NONE;

    /**
     * A launch that holds nothing yet.
     *
     * @param needsSemaphore whether it joins a stream that has nothing of the group in flight, and so needs a semaphore to be joined by
     */
    public Launch(boolean needsSemaphore) {
        this.needsSemaphore = needsSemaphore;
    }

    boolean needsSemaphore() {
        return needsSemaphore;
    }

    void hold(int ofGroup, long itsClaim, long itsSemaphore) {
        group = ofGroup;
        claim = itsClaim;
        semaphore = itsSemaphore;
    }

    int group() {
        return group;
    }

    long claim() {
        return claim;
    }

    long semaphore() {
        return semaphore;
    }
}

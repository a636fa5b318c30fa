// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One rank's side of a communication group: everything it needs to launch, and nothing that it shares with another group. Made by {@link GroupTable}. Safe for any thread.
 */
public final class Group {
    private final int number;
    private final String name;
    private final int rank;
    private final int ranks;
    private final SemaphorePool semaphores;
    private final EventRing ring = new EventRing();
    private final WindowTable windows;
    private final DescriptorTemplate template;
    private final AtomicLong switches = new AtomicLong();
    private final AtomicLong foreign = new AtomicLong();
    private volatile boolean closed;

    Group(int number, String name, int rank, int ranks) {
        this.number = number;
        this.name = name;
        this.rank = rank;
        this.ranks = ranks;
        this.semaphores = new SemaphorePool(number);
        this.windows = new WindowTable(number);
        this.template = new DescriptorTemplate(number, ranks, rank);
    }

    /** Its number, unique in its table. */
    public int number() {
        return number;
    }

    /** Its name, for people. */
    public String name() {
        return name;
    }

    /** Its semaphores. */
    public SemaphorePool semaphores() {
        return semaphores;
    }

    /** Its event ring. */
    public EventRing ring() {
        return ring;
    }

    /** Its windows. */
    public WindowTable windows() {
        return windows;
    }

    /** Adds a window and puts it into the descriptor template. */
    public Optional<MemoryWindow> addWindow(long address, long bytes) {
        if (closed) {
            return Optional.empty();
        }
        Optional<MemoryWindow> added = windows.add(address, bytes);
        added.ifPresent(window -> template.window(window, true));
        return added;
    }

    /** Removes a window. */
    public GroupResult removeWindow(MemoryWindow window) {
        GroupResult result = note(windows.remove(window));
        if (result == GroupResult.OK) {
            template.window(window, false);
        }
        return result;
    }

    /**
     * Claims what one launch on a stream needs and writes it into the stream's descriptor; all or nothing.
     *
     * @param descriptor of the stream, which speaks for this group afterwards
     * @param launch is given the resources when the answer is {@link GroupResult#OK}
     */
    public GroupResult launch(LaunchDescriptor descriptor, Launch launch) {
        if (closed) {
            return GroupResult.CLOSED;
        }
        long claim = ring.claim();
        if (claim == EventRing.FULL) {
            return GroupResult.RING_FULL;
        }
        long semaphore = launch.needsSemaphore() ? semaphores.acquire() : SemaphorePool.NONE;
        if (launch.needsSemaphore() && semaphore == SemaphorePool.NONE) {
            ring.end(claim);
            return GroupResult.NO_SEMAPHORE;
        }
        descriptor.switchTo(this);
        descriptor.launch(claim, semaphore);
        launch.hold(number, claim, semaphore);
        return GroupResult.OK;
    }

    /** A launch has ended: its resources come back. */
    public GroupResult end(Launch launch) {
        if (launch.group() != number) {
            return note(GroupResult.FOREIGN);
        }
        GroupResult result = ring.end(launch.claim());
        if (result == GroupResult.OK && launch.semaphore() != SemaphorePool.NONE) {
            semaphores.release(launch.semaphore());
        }
        return result;
    }

    /** Gives back a semaphore that was acquired apart from a launch. */
    public GroupResult release(long semaphore) {
        return note(semaphores.release(semaphore));
    }

    private GroupResult note(GroupResult result) {
        if (result == GroupResult.FOREIGN) {
            foreign.incrementAndGet();
        }
        return result;
    }

    DescriptorTemplate template() {
        return template;
    }

    void noteSwitch() {
        switches.incrementAndGet();
    }

    /** Whether it was closed. */
    public boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
    }

    /** What it has used and refused so far. */
    public GroupStatistics statistics() {
        return new GroupStatistics(
                name,
                rank,
                ranks,
                semaphores.used(),
                semaphores.peak(),
                semaphores.refused(),
                ring.used(),
                ring.peak(),
                ring.refused(),
                ring.claims(),
                windows.used(),
                windows.refused(),
                switches.get(),
                foreign.get());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GroupTest {
    private final GroupTable table = new GroupTable();
    private final Group first = table.open("first", 0, 8);
    private final Group second = table.open("second", 1, 4);

    @Test
    void aGroupHasThirtyTwoSemaphoresAndSaysWhenThereIsNone() {
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < SemaphorePool.SIZE; i++) {
            tokens.add(first.semaphores().acquire());
        }
        assertEquals(32, tokens.stream().distinct().count());
        assertFalse(tokens.contains(SemaphorePool.NONE));
        assertEquals(SemaphorePool.NONE, first.semaphores().acquire());
        assertEquals(1, first.statistics().semaphoreRefusals());
        assertEquals(32, first.statistics().peakSemaphores());
    }

    @Test
    void exhaustingOneGroupLeavesAnotherUntouched() {
        while (first.semaphores().acquire() != SemaphorePool.NONE) {
            // Until it is empty.
        }
        while (first.ring().claim() != EventRing.FULL) {
            // Until it is full.
        }
        for (int i = 0; i < SemaphorePool.SIZE; i++) {
            assertNotEquals(SemaphorePool.NONE, second.semaphores().acquire());
        }
        for (int i = 0; i < EventRing.DEPTH; i++) {
            assertEquals(i, second.ring().claim());
        }
        assertEquals(0, second.statistics().semaphoreRefusals());
    }

    @Test
    void aTokenOfAnotherGroupIsRefusedAndCounted() {
        long token = first.semaphores().acquire();
        assertEquals(GroupResult.FOREIGN, second.release(token));
        assertEquals(1, second.statistics().foreignTokens());
        assertEquals(1, first.semaphores().used());
        assertEquals(GroupResult.OK, first.release(token));
        assertEquals(GroupResult.STALE, first.release(token));
    }

    @Test
    void theRingRefusesTheLaunchBeyondItsDepthAndGoesOnWhenTheOldestEnds() {
        LaunchDescriptor descriptor = new LaunchDescriptor();
        ArrayDeque<Launch> launches = new ArrayDeque<>();
        for (int i = 0; i < EventRing.DEPTH; i++) {
            Launch launch = new Launch(i == 0);
            assertEquals(GroupResult.OK, first.launch(descriptor, launch));
            launches.add(launch);
        }
        assertEquals(GroupResult.RING_FULL, first.launch(descriptor, new Launch(false)));
        assertEquals(GroupResult.OK, first.end(launches.removeLast()), "one that is not the oldest");
        assertEquals(GroupResult.RING_FULL, first.launch(descriptor, new Launch(false)), "places come free in order");
        assertEquals(GroupResult.OK, first.end(launches.removeFirst()));
        assertEquals(GroupResult.OK, first.launch(descriptor, new Launch(false)));
        assertEquals(2, first.statistics().ringRefusals());
        assertEquals(0, first.statistics().semaphores());
    }

    @Test
    void aLaunchWithoutASemaphoreTakesNoPlaceEither() {
        LaunchDescriptor descriptor = new LaunchDescriptor();
        for (int i = 0; i < SemaphorePool.SIZE; i++) {
            assertEquals(GroupResult.OK, first.launch(descriptor, new Launch(true)));
        }
        assertEquals(GroupResult.NO_SEMAPHORE, first.launch(descriptor, new Launch(true)));
        assertEquals(GroupResult.OK, first.launch(descriptor, new Launch(false)));
        assertEquals(34, first.statistics().launches());
    }

    @Test
    void aLaunchThatEndsTwiceOrInAnotherGroupIsToldApart() {
        Launch launch = new Launch(true);
        first.launch(new LaunchDescriptor(), launch);
        assertEquals(GroupResult.FOREIGN, second.end(launch));
        assertEquals(GroupResult.OK, first.end(launch));
        assertEquals(GroupResult.STALE, first.end(launch));
    }

    @Test
    void windowsMayNotLieOverOneAnotherInAGroupButMayInTwo() {
        MemoryWindow window = first.addWindow(0x1000, 0x1000).orElseThrow();
        assertTrue(first.addWindow(0x1800, 0x1000).isEmpty());
        assertEquals(GroupResult.WINDOW_OVERLAP, first.windows().lastResult());
        MemoryWindow other = second.addWindow(0x1000, 0x1000).orElseThrow();
        assertEquals(Optional.of(window), first.windows().find(0x1100, 0x100));
        assertTrue(first.windows().find(0x1f00, 0x200).isEmpty());
        assertEquals(GroupResult.FOREIGN, first.removeWindow(other));
        assertEquals(GroupResult.OK, first.removeWindow(window));
        assertEquals(GroupResult.STALE, first.removeWindow(window));
    }

    @Test
    void aWindowBeyondTheLastPlaceIsRefused() {
        for (int i = 0; i < WindowTable.SIZE; i++) {
            assertTrue(first.addWindow(i * 0x1000L, 0x1000).isPresent());
        }
        assertTrue(first.addWindow(1L << 40, 1).isEmpty());
        assertEquals(GroupResult.NO_WINDOW, first.windows().lastResult());
        assertEquals(1, first.statistics().windowRefusals());
    }

    @Test
    void aStreamThatChangesGroupsGetsTheirTemplateAndIsCounted() {
        first.addWindow(0x10_000, 0x2000);
        LaunchDescriptor descriptor = new LaunchDescriptor();
        descriptor.switchTo(first);
        assertEquals((long) first.number() << 32 | 8, descriptor.word(0));
        assertEquals(0x10_000, descriptor.word(DescriptorTemplate.HEAD));
        descriptor.switchTo(first);
        descriptor.switchTo(second);
        assertEquals((long) second.number() << 32 | 4, descriptor.word(0));
        assertEquals(0, descriptor.word(DescriptorTemplate.HEAD));
        descriptor.switchTo(first);
        assertEquals(3, descriptor.switches());
        assertEquals(2, first.statistics().switches());
        assertEquals(1, second.statistics().switches());
    }

    @Test
    void aClosedGroupRefuses() {
        table.close(first);
        assertEquals(GroupResult.CLOSED, first.launch(new LaunchDescriptor(), new Launch(true)));
        assertEquals(GroupResult.CLOSED, new LaunchDescriptor().switchTo(first));
        assertTrue(first.addWindow(0, 1).isEmpty());
        assertEquals(1, table.statistics().size());
    }

    @Test
    void ranksAndWindowsAreChecked() {
        assertThrows(AcceleratorException.class, () -> table.open("bad", 4, 4));
        assertThrows(AcceleratorException.class, () -> first.addWindow(0, 0));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EventHeapTest {
    /** What the heap should hold: handle, age and time. */
    private record Pending(int handle, long age, long time) {}

    @Test
    void eventsOfOneInstantComeInTheOrderOfTheirCreation() {
        EventHeap heap = new EventHeap();
        int[] handles = new int[100];
        for (int i = 0; i < handles.length; i++) {
            handles[i] = heap.push(7);
        }
        for (int handle : handles) {
            assertEquals(handle, heap.poll());
        }
        assertEquals(VirtualTime.NEVER, heap.minTime());
    }

    /** As devices in step make them: all events of an instant are taken, and each sets one for a later instant, or for this one. */
    @Test
    void roundsOfManyEventsAtOneInstantComeInOrderAndSomeAreMovedOrTakenBack() {
        EventHeap heap = new EventHeap();
        int[] handles = new int[1000];
        for (int i = 0; i < handles.length; i++) {
            handles[i] = heap.push(10);
        }
        int late = heap.push(1_000_000);
        for (int round = 1; round <= 5; round++) {
            assertEquals(handles[0], heap.poll());
            heap.set(handles[5], 10L * round + 3);
            heap.remove(handles[7]);
            assertEquals(10L * round, heap.time(handles[6]));
            heap.set(handles[0], 10L * round); // again now: it is the oldest
            assertEquals(998 + 2, heap.size());
            for (int i = 0; i < handles.length; i++) {
                if (i != 5 && i != 7) {
                    assertEquals(10L * round, heap.minTime());
                    assertEquals(handles[i], heap.poll());
                    heap.set(handles[i], 10L * (round + 1));
                }
            }
            assertEquals(handles[5], heap.poll());
            heap.set(handles[5], 10L * (round + 1));
            heap.set(handles[7], 10L * (round + 1));
            assertEquals(handles.length + 1, heap.size());
        }
        assertEquals(1_000_000, heap.time(late));
    }

    @Test
    void aMovedEventKeepsItsAge() {
        EventHeap heap = new EventHeap();
        int old = heap.push(9);
        int young = heap.push(5);
        heap.set(old, 5);
        assertEquals(old, heap.poll());
        assertEquals(young, heap.poll());
    }

    @Test
    void anEventSetAgainAfterItWasTakenKeepsItsAge() {
        EventHeap heap = new EventHeap();
        int old = heap.push(1);
        int young = heap.push(5);
        assertEquals(old, heap.poll());
        heap.set(old, 5);
        assertEquals(old, heap.poll());
        assertEquals(young, heap.poll());
    }

    @Test
    void takingFromAnEmptyHeapIsRefused() {
        EventHeap heap = new EventHeap();
        assertThrows(IllegalStateException.class, heap::poll);
        heap.release(heap.push(3));
        assertThrows(IllegalStateException.class, heap::poll);
    }

    @Test
    void timesBeforeZeroAreRefused() {
        EventHeap heap = new EventHeap();
        int handle = heap.create();
        assertThrows(IllegalArgumentException.class, () -> heap.set(handle, -1));
    }

    /** A last age of 500 makes ages run out every few operations, so that they are given anew; few instants make many events fall on one. */
    @ParameterizedTest
    @CsvSource({"1073741824, 50", "500, 50", "1073741824, 3", "500, 3", "1073741824, 1"})
    void randomOperationsGiveTheOrderOfASortedList(long lastAge, int instants) {
        for (long seed = 1; seed <= 8; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            EventHeap heap = new EventHeap(lastAge);
            List<Pending> model = new ArrayList<>();
            Comparator<Pending> order = Comparator.comparingLong(Pending::time).thenComparingLong(Pending::age);
            long age = 0;
            String at = "seed " + seed;
            for (int i = 0; i < 3000; i++) {
                int choice = random.nextInt(10);
                if (model.size() < 5 || (choice < 4 && model.size() < 300)) {
                    long time = random.nextLong(instants);
                    model.add(new Pending(heap.push(time), age++, time));
                } else if (choice < 6) {
                    int victim = random.nextInt(model.size());
                    Pending old = model.get(victim);
                    long time = random.nextLong(instants);
                    heap.set(old.handle(), time);
                    model.set(victim, new Pending(old.handle(), old.age(), time));
                } else if (choice < 7) {
                    Pending gone = model.remove(random.nextInt(model.size()));
                    heap.release(gone.handle());
                } else {
                    Pending first = model.stream().min(order).orElseThrow();
                    if (random.nextBoolean()) {
                        assertEquals(first.time(), heap.minTime(), at);
                    }
                    assertEquals(first.handle(), heap.poll(), at);
                    model.remove(first);
                    if (random.nextBoolean()) {
                        long time = first.time() + random.nextLong(instants);
                        heap.set(first.handle(), time);
                        model.add(new Pending(first.handle(), first.age(), time));
                    } else {
                        heap.release(first.handle());
                    }
                }
                assertEquals(model.size(), heap.size(), at);
            }
        }
    }
}

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
import org.junit.jupiter.params.provider.ValueSource;

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

    /** The second value makes ages run out every few operations, so that they are given anew. */
    @ParameterizedTest
    @ValueSource(longs = {1L << 30, 500})
    void randomOperationsGiveTheOrderOfASortedList(long lastAge) {
        for (long seed = 1; seed <= 20; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            EventHeap heap = new EventHeap(lastAge);
            List<Pending> model = new ArrayList<>();
            Comparator<Pending> order = Comparator.comparingLong(Pending::time).thenComparingLong(Pending::age);
            long age = 0;
            String at = "seed " + seed;
            for (int i = 0; i < 3000; i++) {
                int choice = random.nextInt(10);
                if (model.size() < 5 || (choice < 4 && model.size() < 300)) {
                    long time = random.nextLong(50);
                    model.add(new Pending(heap.push(time), age++, time));
                } else if (choice < 6) {
                    int victim = random.nextInt(model.size());
                    Pending old = model.get(victim);
                    long time = random.nextLong(50);
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
                        long time = first.time() + random.nextLong(20);
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

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class SerialQueueTest {
    @Test
    void jobsBeyondThePlacesWaitInOrder() {
        SerialQueue queue = new SerialQueue(2);
        assertTrue(queue.enter(10));
        assertTrue(queue.enter(11));
        assertFalse(queue.enter(12));
        assertFalse(queue.enter(13));
        assertEquals(12, queue.leave());
        assertEquals(13, queue.leave());
        assertEquals(2, queue.inService());
        assertEquals(SerialQueue.NONE, queue.leave());
        assertEquals(SerialQueue.NONE, queue.leave());
        assertEquals(2, queue.maxWaiting());
        assertThrows(IllegalStateException.class, queue::leave);
    }

    @Test
    void aQueueWithoutPlacesIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new SerialQueue(0));
    }

    @Test
    void randomOperationsGiveTheOrderOfADeque() {
        for (long seed = 1; seed <= 20; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            SerialQueue queue = new SerialQueue(1);
            ArrayDeque<Integer> model = new ArrayDeque<>();
            queue.enter(0);
            for (int i = 1; i < 2000; i++) {
                int choice = random.nextInt(5);
                if (choice < 3 && model.size() < 40) {
                    assertFalse(queue.enter(i));
                    model.add(i);
                } else if (choice < 4 && !model.isEmpty()) {
                    assertEquals(model.remove(), queue.leave(), "seed " + seed);
                } else {
                    int job = 1 + random.nextInt(i);
                    assertEquals(model.remove((Integer) job), queue.withdraw(job), "seed " + seed);
                }
                assertEquals(model.size(), queue.waiting());
            }
        }
    }
}

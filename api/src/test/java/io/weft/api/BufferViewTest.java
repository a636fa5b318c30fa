// SPDX-License-Identifier: Apache-2.0
package io.weft.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import org.junit.jupiter.api.Test;

class BufferViewTest {
    private final Slot slot = CommandGraph.builder(1).slot(0, "x", 1000, Slot.Role.INPUT);

    @Test
    void theLastElementMayTouchTheEndAndNotPassIt() {
        assertEquals(
                1000, BufferView.pitched(slot, 0, 10, 25, 25, ElementType.FP32).end());
        assertEquals(
                1000, BufferView.pitched(slot, 500, 5, 25, 25, ElementType.FP32).end());
        assertEquals(ErrorCode.OUT_OF_BOUNDS, refuse(() -> BufferView.pitched(slot, 504, 5, 25, 25, ElementType.FP32)));
        // The last row needs no full pitch.
        assertEquals(
                1000, BufferView.pitched(slot, 0, 2, 50, 200, ElementType.FP32).end());
    }

    @Test
    void sizesThatOverflowAreOutOfBoundsAndNotNegative() {
        assertEquals(
                ErrorCode.OUT_OF_BOUNDS,
                refuse(() -> BufferView.pitched(slot, 0, Long.MAX_VALUE / 2, 8, Long.MAX_VALUE / 2, ElementType.FP32)));
    }

    @Test
    void badNumbersAreRefused() {
        assertEquals(ErrorCode.INVALID_ARGUMENT, refuse(() -> BufferView.matrix(slot, -4, 1, 1, ElementType.FP32)));
        assertEquals(ErrorCode.INVALID_ARGUMENT, refuse(() -> BufferView.matrix(slot, 0, -1, 1, ElementType.FP32)));
        assertEquals(ErrorCode.INVALID_ARGUMENT, refuse(() -> BufferView.pitched(slot, 0, 2, 5, 4, ElementType.FP32)));
        assertEquals(ErrorCode.MISALIGNED, refuse(() -> BufferView.matrix(slot, 2, 1, 1, ElementType.FP32)));
    }

    @Test
    void aWindowStartsAtItsFirstElement() {
        BufferView matrix = BufferView.pitched(slot, 8, 4, 10, 20, ElementType.FP16);
        BufferView window = matrix.window(1, 2, 3, 4);
        assertEquals(8 + (20 + 3) * 2, window.offset());
        assertEquals(20, window.pitch());
        assertFalse(window.isContiguous());
        assertTrue(matrix.rowRange(2, 1).isContiguous());
        assertEquals(ErrorCode.OUT_OF_BOUNDS, refuse(() -> matrix.window(3, 2, 0, 1)));
        assertTrue(matrix.window(4, 0, 0, 10).isEmpty());
    }

    private static ErrorCode refuse(Runnable call) {
        return assertThrows(AcceleratorException.class, call::run).code();
    }
}

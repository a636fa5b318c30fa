// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.compute;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class CopyKernelTest {
    private static final ComputePool POOL = new ComputePool(3);
    private final CopyKernel copies = new CopyKernel(POOL);

    @AfterAll
    static void closePool() {
        POOL.close();
    }

    @Test
    void contiguousCopiesOfAnySizeMoveTheirBytesOnly() {
        for (int bytes : new int[] {0, 1, 63, 4096, (1 << 19) - 1, 1 << 19, (1 << 19) + 1, 3_000_001}) {
            MemorySegment from = random(bytes + 10, bytes);
            MemorySegment to = Arena.ofAuto().allocate(bytes + 10L);
            to.fill((byte) 9);
            copies.copy(from, 3, to, 5, bytes);
            assertEquals(-1, from.asSlice(3, bytes).mismatch(to.asSlice(5, bytes)));
            assertEquals(9, to.get(ValueLayout.JAVA_BYTE, 4));
            assertEquals(9, to.get(ValueLayout.JAVA_BYTE, 5L + bytes));
        }
    }

    @Test
    void rowsMoveBetweenPitchesAndGapsStay() {
        int[][] cases = {
            {1, 1, 1, 1}, {7, 100, 9, 7}, {64, 64, 64, 1000}, {3, 50_000, 5, 4}, {700_001, 3, 700_003, 700_001}
        };
        for (int[] c : cases) {
            int width = c[0];
            int rows = c[1];
            int fromPitch = c[2];
            int toPitch = Math.max(width, c[3]);
            MemorySegment from = random(fromPitch * rows, width);
            byte[] to = new byte[toPitch * rows];
            MemorySegment target = Arena.ofAuto().allocate(to.length);
            copies.copyRows(from, 0, fromPitch, target, 0, toPitch, width, rows);
            for (int row = 0; row < rows; row++) {
                MemorySegment.copy(from, ValueLayout.JAVA_BYTE, (long) row * fromPitch, to, row * toPitch, width);
            }
            assertArrayEquals(to, target.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void fillsOfEveryPatternWidthSetTheirElementsOnly() {
        for (int width : new int[] {1, 2, 4}) {
            for (int pattern : new int[] {0, 0x12345678, 0x7F7F7F7F, -1, 0x00FF00FF}) {
                for (int columns : new int[] {0, 1, 5, 3000, 400_000}) {
                    for (int gap : new int[] {0, width}) {
                        int rows = columns > 3000 ? 2 : 3;
                        long pitch = (long) columns * width + gap;
                        MemorySegment to = Arena.ofAuto().allocate(pitch * rows + 2L * width);
                        copies.fillRows(to, width, pitch, pattern, width, columns, rows);
                        byte[] expected = new byte[(int) to.byteSize()];
                        for (int row = 0; row < rows; row++) {
                            for (int i = 0; i < columns * width; i++) {
                                expected[(int) (width + row * pitch + i)] = (byte) (pattern >> (8 * (i % width)));
                            }
                        }
                        assertArrayEquals(expected, to.toArray(ValueLayout.JAVA_BYTE));
                    }
                }
            }
        }
    }

    @Test
    void aPatternOfThreeBytesAndACopyBeyondTheMemoryAreRefused() {
        MemorySegment memory = Arena.ofAuto().allocate(100);
        assertThrows(IllegalArgumentException.class, () -> copies.fill(memory, 0, 1, 3, 10));
        assertThrows(IndexOutOfBoundsException.class, () -> copies.fill(memory, 0, 1, 4, 26));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> copies.copy(Arena.ofAuto().allocate(3_000_000), 0, memory, 0, 3_000_000));
    }

    private static MemorySegment random(int bytes, long seed) {
        byte[] content = new byte[bytes];
        new Random(seed).nextBytes(content);
        return Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, content);
    }
}

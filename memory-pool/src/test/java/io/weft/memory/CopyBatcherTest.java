// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.Device;
import io.weft.api.Stream;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CopyBatcherTest {
    private final FakePlatform fake = new FakePlatform(1, 64L << 20, false, false);
    private final Device device = fake.platform.device(0);
    private final Stream stream = device.createStream();

    @Test
    void manySmallCopiesArriveThroughFewTransfers() {
        SplittableRandom random = new SplittableRandom(4);
        byte[] expected = new byte[1 << 20];
        byte[] actual = new byte[expected.length];
        try (Buffer target = device.allocate(expected.length);
                CopyBatcher batcher = new CopyBatcher(stream, 64 << 10)) {
            target.write(0, MemorySegment.ofArray(expected));
            for (int i = 0; i < 2000; i++) {
                byte[] piece = new byte[1 + random.nextInt(4095)];
                random.nextBytes(piece);
                int at = random.nextInt(expected.length - piece.length);
                System.arraycopy(piece, 0, expected, at, piece.length);
                batcher.add(target, at, MemorySegment.ofArray(piece));
            }
            batcher.flush();
            stream.synchronize();
            target.read(MemorySegment.ofArray(actual), 0);
            assertArrayEquals(expected, actual, "seed 4");
            assertEquals(2000, batcher.copies());
            assertTrue(batcher.transfers() < 100, batcher.transfers() + " transfers");
        }
        assertEquals(0, fake.devices.get(0).held);
    }

    @Test
    void adjacentPiecesBecomeOneCopyOnTheDevice() {
        try (Buffer target = device.allocate(4096);
                CopyBatcher batcher = new CopyBatcher(stream, 8192)) {
            for (int i = 0; i < 16; i++) {
                batcher.add(target, i * 5L, MemorySegment.ofArray(new byte[] {1, 2, 3, 4, (byte) i}));
            }
            batcher.flush();
            assertEquals(2, ((FakePlatform.FakeStream) stream.driver()).issued, "one transfer, one copy");
        }
    }

    @Test
    void aPieceThatIsTooLargeOrDoesNotFitIsRefused() {
        try (Buffer target = device.allocate(100);
                CopyBatcher batcher = new CopyBatcher(stream, 8192)) {
            assertThrows(
                    AcceleratorException.class, () -> batcher.add(target, 0, MemorySegment.ofArray(new byte[4096])));
            assertThrows(AcceleratorException.class, () -> batcher.add(target, 96, MemorySegment.ofArray(new byte[5])));
            assertThrows(AcceleratorException.class, () -> batcher.add(target, 0, MemorySegment.ofArray(new byte[0])));
        }
    }

    @Test
    void sizesThatRepeatArePredicted() {
        SizePredictor predictor = new SizePredictor();
        SplittableRandom random = new SplittableRandom(6);
        long[] period = random.longs(500, 1, 1 << 24).toArray();
        for (int i = 0; i < 5000; i++) {
            predictor.observe(period[i % period.length]);
        }
        assertTrue(predictor.accuracy() > 0.85, () -> "accuracy " + predictor.accuracy());
        assertEquals(period[0], predictor.predict());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Stream;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands read at their start and write at their completion, so a forgotten dependency always shows. */
class StaleDataTest {
    private static final int BIG = 1 << 20;
    private static final int SMALL = 4096;

    private Platform platform;
    private Device device;

    @BeforeEach
    void open() {
        platform = Sim.mesh();
        device = platform.device(0);
    }

    @AfterEach
    void close() {
        platform.close();
    }

    private Buffer buffer(Device on, int bytes, int value) {
        Buffer buffer = on.allocate(bytes);
        Sim.write(buffer, Sim.filled(bytes, value));
        return buffer;
    }

    private static BufferView bytes(Buffer buffer, int count) {
        return buffer.vector(count, ElementType.INT8);
    }

    private long copiesKept() {
        return ((SimPlatform) platform.driver()).effects().copiesKept();
    }

    @Test
    void aReadThatOvertakesItsWriterSeesTheOldBytes() {
        Buffer source = buffer(platform.device(1), BIG, 2);
        Buffer middle = buffer(device, BIG, 1);
        Buffer result = buffer(device, BIG, 0);
        try (Stream copies = device.createStream();
                Stream compute = device.createStream();
                Event copied = device.createEvent(EventOptions.timed())) {
            copies.copy(bytes(middle, BIG), bytes(source, BIG), CopyMethod.ENGINE);
            copies.record(copied);
            // The wait for the event is missing on purpose.
            compute.copy(bytes(result, BIG), bytes(middle, BIG), CopyMethod.KERNEL);
            platform.synchronize();
            assertArrayEquals(Sim.filled(BIG, 1), Sim.read(result, BIG));
            assertArrayEquals(Sim.filled(BIG, 2), Sim.read(middle, BIG));

            compute.waitFor(copied);
            compute.copy(bytes(result, BIG), bytes(middle, BIG), CopyMethod.KERNEL);
            platform.synchronize();
            assertArrayEquals(Sim.filled(BIG, 2), Sim.read(result, BIG));
        }
        assertEquals(0, copiesKept(), "a reader that ends before the writer needs no copy");
    }

    @Test
    void aWriteIntoWhatARunningCommandHasReadDoesNotReachIt() {
        Buffer source = buffer(device, BIG, 1);
        Buffer target = buffer(platform.device(1), BIG, 0);
        try (Stream copies = device.createStream();
                Stream compute = device.createStream()) {
            copies.copy(bytes(target, BIG), bytes(source, BIG), CopyMethod.ENGINE);
            compute.fill(bytes(source, SMALL), 9);
            platform.synchronize();
            assertArrayEquals(Sim.filled(BIG, 1), Sim.read(target, BIG));
            assertArrayEquals(Sim.filled(SMALL, 9), Sim.read(source, SMALL));
        }
        assertEquals(1, copiesKept());
    }

    @Test
    void theHostsOwnWriteDoesNotReachARunningCommand() {
        Buffer source = buffer(device, BIG, 1);
        Buffer target = buffer(platform.device(1), BIG, 0);
        try (Stream copies = device.createStream();
                Event begun = device.createEvent(EventOptions.timed())) {
            copies.record(begun);
            copies.copy(bytes(target, BIG), bytes(source, BIG), CopyMethod.ENGINE);
            begun.synchronize();
            Buffer tiny = device.allocate(4);
            Sim.write(tiny, new byte[4]); // moves time on, so that the copy is under way
            source.write(0, MemorySegment.ofArray(Sim.filled(SMALL, 9)));
            platform.synchronize();
            assertArrayEquals(Sim.filled(BIG, 1), Sim.read(target, BIG));
        }
    }

    @Test
    void theLaterCompletionOfTwoWritersWins() {
        Buffer slow = buffer(platform.device(1), BIG, 1);
        Buffer target = buffer(device, BIG, 0);
        try (Stream copies = device.createStream();
                Stream compute = device.createStream()) {
            copies.copy(bytes(target, BIG), bytes(slow, BIG), CopyMethod.ENGINE);
            compute.fill(bytes(target, SMALL), 9);
            compute.synchronize();
            assertArrayEquals(Sim.filled(SMALL, 9), Sim.read(target, SMALL));
            copies.synchronize();
            assertArrayEquals(Sim.filled(SMALL, 1), Sim.read(target, SMALL));
        }
    }

    @Test
    void nothingIsVisibleBeforeItIsComplete() {
        Buffer source = buffer(platform.device(1), BIG, 2);
        Buffer target = buffer(device, BIG, 1);
        try (Stream copies = device.createStream()) {
            copies.copy(bytes(target, BIG), bytes(source, BIG), CopyMethod.ENGINE);
            assertArrayEquals(Sim.filled(SMALL, 1), Sim.read(target, SMALL));
            copies.synchronize();
            assertArrayEquals(Sim.filled(SMALL, 2), Sim.read(target, SMALL));
        }
    }

    @Test
    void columnBlocksOfOneMatrixDoNotDisturbOneAnother() {
        int rows = 512;
        int columns = 1024;
        Buffer source = buffer(platform.device(1), rows * columns, 2);
        Buffer matrix = buffer(device, rows * columns, 1);
        Buffer result = buffer(platform.device(2), rows * columns, 0);
        try (Stream in = device.createStream();
                Stream out = device.createStream()) {
            BufferView whole = matrix.matrix(rows, columns, ElementType.INT8);
            BufferView from = source.matrix(rows, columns, ElementType.INT8);
            BufferView to = result.matrix(rows, columns, ElementType.INT8);
            out.copy(to.columnRange(0, 900), whole.columnRange(0, 900), CopyMethod.ENGINE);
            in.copy(whole.columnRange(900, 8), from.columnRange(900, 8), CopyMethod.ENGINE);
            platform.synchronize();
            byte[] seen = Sim.read(matrix, rows * columns);
            assertEquals(1, seen[899]);
            assertEquals(2, seen[900]);
            assertEquals(2, seen[columns + 907]);
            assertEquals(1, seen[908]);
        }
        assertEquals(0, copiesKept());
    }

    @Test
    void aProductThatOvertakesTheCopyOfItsOperandIsWrongInTheSameWayEveryTime() {
        int n = 32;
        float[] first = staleProduct(n);
        close();
        open();
        assertArrayEquals(first, staleProduct(n));
        assertEquals(n, first[0], "the product used the old operand, all ones");
    }

    private float[] staleProduct(int n) {
        int copied = BIG / 2;
        Buffer a = device.allocate(BIG);
        Buffer b = device.allocate(2L * n * n);
        Buffer c = device.allocate(4L * n * n);
        Buffer remote = platform.device(1).allocate(BIG);
        try (Stream copies = device.createStream();
                Stream compute = device.createStream();
                Stream there = platform.device(1).createStream()) {
            compute.fill(a.vector(copied, ElementType.BF16), ElementType.BF16.encode(1));
            compute.fill(b.vector((long) n * n, ElementType.BF16), ElementType.BF16.encode(1));
            there.fill(remote.vector(copied, ElementType.BF16), ElementType.BF16.encode(3));
            platform.synchronize();
            copies.copy(a.vector(copied, ElementType.BF16), remote.vector(copied, ElementType.BF16), CopyMethod.ENGINE);
            compute.gemm(
                    c.matrix(n, n, ElementType.FP32),
                    a.matrix(n, n, ElementType.BF16),
                    b.matrix(n, n, ElementType.BF16));
            platform.synchronize();
            assertEquals(3, a.read(ElementType.BF16, 1)[0]);
            return c.read(ElementType.FP32, n);
        }
    }
}

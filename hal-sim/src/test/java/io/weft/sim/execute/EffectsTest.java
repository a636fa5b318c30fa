// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.execute;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.CopyMethod;
import io.weft.api.ElementType;
import io.weft.api.Platform;
import io.weft.api.PlatformUri;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.api.numeric.RandomData;
import io.weft.sim.compute.ComputePool;
import io.weft.sim.provider.SimProvider;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Random commands that start and complete in random order, against a model that copies all memory at every start. */
class EffectsTest {
    private static final long SEED = 411;
    private static final int EDGE = 24;
    private static final int BYTES = 4 * EDGE * EDGE;
    private static final int BUFFERS = 3;

    private Platform platform;

    @BeforeEach
    void open() {
        PlatformUri uri = PlatformUri.parse("sim:mesh-8");
        platform = new Platform(uri, new SimProvider().open(uri));
    }

    @AfterEach
    void close() {
        platform.close();
    }

    /** A command under way in the world under test and in the model. */
    private record Running(Command command, Effect effect, List<Buffer> shadow) {}

    @Test
    void everyCommandReadsAtItsStartAndWritesAtItsCompletion() {
        long copied = 0;
        for (int round = 0; round < 15; round++) {
            Random random = new Random(SEED + round);
            Effects effects = new Effects(ComputePool.shared());
            List<Buffer> real = buffers(round);
            List<Buffer> model = buffers(round);
            List<Running> running = new ArrayList<>();
            for (int step = 0; step < 120; step++) {
                if (running.isEmpty() || (running.size() < 6 && random.nextBoolean())) {
                    Command command = command(random, real);
                    running.add(new Running(command, effects.begin(command), copies(model)));
                } else {
                    complete(running.remove(random.nextInt(running.size())), effects, real, model);
                }
                if (random.nextInt(10) == 0) {
                    compare(effects, real, model, round, step);
                }
            }
            while (!running.isEmpty()) {
                complete(running.remove(random.nextInt(running.size())), effects, real, model);
            }
            compare(effects, real, model, round, -1);
            copied += effects.copiesKept();
            real.forEach(Buffer::close);
            model.forEach(Buffer::close);
        }
        assertTrue(copied > 50, "the cases must contain conflicts, seed " + SEED);
    }

    private List<Buffer> buffers(int stream) {
        List<Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) {
            byte[] data = new byte[BYTES];
            RandomData.fill(MemorySegment.ofArray(data), ElementType.FP32, SEED, stream * 10L + i);
            Buffer buffer = platform.device(0).allocate(BYTES);
            buffer.write(0, MemorySegment.ofArray(data));
            buffers.add(buffer);
        }
        return buffers;
    }

    private List<Buffer> copies(List<Buffer> of) {
        List<Buffer> copies = new ArrayList<>();
        for (Buffer buffer : of) {
            byte[] data = bytes(buffer);
            Buffer copy = platform.device(0).allocate(BYTES);
            copy.write(0, MemorySegment.ofArray(data));
            copies.add(copy);
        }
        return copies;
    }

    private static byte[] bytes(Buffer buffer) {
        byte[] data = new byte[BYTES];
        buffer.read(MemorySegment.ofArray(data), 0);
        return data;
    }

    private static void complete(Running one, Effects effects, List<Buffer> real, List<Buffer> model) {
        effects.complete(one.effect);
        // The model computes on what it saw at the start, then shows the result and nothing else.
        Command apart = one.command.rebind(memory -> one.shadow.get(real.indexOf((Buffer) memory)));
        Effects plain = new Effects(ComputePool.shared());
        plain.complete(plain.begin(apart));
        plain.flush();
        BufferView to = one.command.writes().getFirst();
        BufferView target = to.on(model.get(real.indexOf((Buffer) to.memory())));
        plain.complete(
                plain.begin(new Command.CopyStrided(target, apart.writes().getFirst(), CopyMethod.KERNEL)));
        plain.flush();
        one.shadow.forEach(Buffer::close);
    }

    private static void compare(Effects effects, List<Buffer> real, List<Buffer> model, int round, int step) {
        effects.flush();
        for (int i = 0; i < BUFFERS; i++) {
            assertArrayEquals(
                    bytes(model.get(i)),
                    bytes(real.get(i)),
                    "buffer " + i + ", round " + round + ", step " + step + ", seed " + SEED);
        }
    }

    private static Command command(Random random, List<Buffer> buffers) {
        int rows = 1 + random.nextInt(10);
        int columns = 1 + random.nextInt(10);
        BufferView to = window(random, buffers, rows, columns);
        return switch (random.nextInt(5)) {
            case 0 -> new Command.Fill(to, random.nextInt());
            case 1 -> new Command.CopyStrided(to, window(random, buffers, rows, columns), CopyMethod.KERNEL);
            case 2 ->
                new Command.Reduce(
                        to,
                        List.of(
                                random.nextBoolean() ? to : window(random, buffers, rows, columns),
                                window(random, buffers, rows, columns)),
                        ReduceOp.MAX);
            case 3 -> {
                int depth = 1 + random.nextInt(8);
                BufferView a = window(random, buffers, rows, depth);
                BufferView b = window(random, buffers, depth, columns);
                boolean apart = !a.memory().equals(to.memory()) && !b.memory().equals(to.memory());
                float beta = random.nextInt(2);
                yield apart
                        ? new Command.Gemm(to, a, b, false, false, 0.25f, beta, 1, 0, 0, 0)
                        : new Command.Fill(to, random.nextInt());
            }
            default -> {
                int count = 1 + random.nextInt(200);
                int from = random.nextInt(EDGE * EDGE - count);
                int target = random.nextInt(EDGE * EDGE - count);
                Buffer source = buffers.get(random.nextInt(BUFFERS));
                Buffer destination = buffers.get(random.nextInt(BUFFERS));
                yield source.equals(destination)
                        ? new Command.Fill(to, random.nextInt())
                        : new Command.Copy(
                                BufferView.vector(destination, 4L * target, count, ElementType.FP32),
                                BufferView.vector(source, 4L * from, count, ElementType.FP32),
                                CopyMethod.ENGINE);
            }
        };
    }

    private static BufferView window(Random random, List<Buffer> buffers, int rows, int columns) {
        Buffer buffer = buffers.get(random.nextInt(BUFFERS));
        return buffer.matrix(EDGE, EDGE, ElementType.FP32)
                .window(random.nextInt(EDGE - rows + 1), rows, random.nextInt(EDGE - columns + 1), columns);
    }
}

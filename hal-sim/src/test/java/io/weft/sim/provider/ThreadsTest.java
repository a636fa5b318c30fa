// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.provider;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class ThreadsTest {
    private static final int RANKS = 4;

    @Test
    void oneThreadForEachDeviceGivesTheSameDataAndTheSameTimesEveryRun() throws Exception {
        List<Double> first = run();
        for (int round = 0; round < 3; round++) {
            assertEquals(first, run());
        }
    }

    /** Each thread issues for its own device, all of it before anybody waits. */
    private static List<Double> run() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(RANKS);
        try (Platform platform = Sim.open("sim:mesh-8");
                Communicator communicator =
                        Communicator.over(platform, platform.devices().subList(0, RANKS))) {
            CountDownLatch issued = new CountDownLatch(RANKS);
            List<Future<Double>> times = new ArrayList<>();
            for (int r = 0; r < RANKS; r++) {
                int rank = r;
                times.add(threads.submit(() -> {
                    Device device = platform.device(rank);
                    int count = 64;
                    Buffer buffer = device.allocate(count * 4L);
                    BufferView view = buffer.vector(count, ElementType.INT32);
                    try (Stream stream = device.createStream();
                            Event start = device.createEvent(EventOptions.timed());
                            Event end = device.createEvent(EventOptions.timed())) {
                        stream.record(start);
                        for (int i = 0; i < 10; i++) {
                            stream.fill(view, 1 + rank);
                            communicator.allReduce(rank, view, view, ReduceOp.SUM, stream);
                        }
                        stream.record(end);
                        issued.countDown();
                        issued.await();
                        stream.synchronize();
                        assertEquals(1 + 2 + 3 + 4, (int) buffer.read(ElementType.INT32, 1)[0]);
                        return end.nanosSince(start);
                    }
                }));
            }
            List<Double> result = new ArrayList<>();
            for (Future<Double> time : times) {
                result.add(time.get());
            }
            return result;
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aRankThatComesLateFromAnotherThreadIsWaitedFor() throws Exception {
        try (Platform platform = Sim.open("sim:mesh-8");
                Communicator communicator =
                        Communicator.over(platform, platform.devices().subList(0, 2));
                Stream early = platform.device(0).createStream();
                Stream late = platform.device(1).createStream()) {
            communicator.group().barrier(0, early).close();
            Thread waiter = Thread.currentThread();
            Thread other = Thread.ofPlatform().start(() -> {
                while (waiter.getState() == Thread.State.RUNNABLE) {
                    Thread.onSpinWait();
                }
                communicator.group().barrier(1, late).close();
            });
            early.synchronize();
            late.synchronize();
            other.join();
        }
    }

    @Test
    void twoThreadsThatWaitForEachOtherAreBothTold() throws Exception {
        try (Platform platform = Sim.open("sim:mesh-8?stall-timeout-ms=50");
                Communicator a = Communicator.over(platform, platform.devices().subList(0, 3))) {
            List<Thread> threads = new ArrayList<>();
            List<ErrorCode> codes = Collections.synchronizedList(new ArrayList<>());
            for (int r = 0; r < 2; r++) {
                int rank = r;
                Stream stream = platform.device(rank).createStream();
                threads.add(Thread.ofPlatform().start(() -> {
                    a.group().barrier(rank, stream).close();
                    codes.add(Sim.refused(ErrorCode.TIMEOUT, stream::synchronize, "lacks")
                            .code());
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(ErrorCode.TIMEOUT, ErrorCode.TIMEOUT), codes);
        }
    }

    @Test
    void manyThreadsOnOneStreamKeepEachThreadsOwnOrder() throws Exception {
        try (Platform platform = Sim.mesh();
                Stream stream = platform.device(0).createStream()) {
            ExecutorService threads = Executors.newFixedThreadPool(4);
            List<Future<byte[]>> results = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                int value = t;
                results.add(threads.submit(() -> {
                    Buffer buffer = platform.device(0).allocate(256);
                    for (int i = 0; i < 50; i++) {
                        stream.fill(buffer.vector(256, ElementType.INT8), i);
                        if (i % 10 == 0) {
                            stream.synchronize();
                        }
                    }
                    stream.fill(buffer.vector(256, ElementType.INT8), 100 + value);
                    stream.synchronize();
                    return Sim.read(buffer, 256);
                }));
            }
            for (int t = 0; t < 4; t++) {
                assertArrayEquals(Sim.filled(256, 100 + t), results.get(t).get());
            }
            threads.shutdownNow();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.hccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Event;
import io.weft.api.EventOptions;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.ascend.group.EventRing;
import io.weft.ascend.group.GroupStatistics;
import io.weft.spi.GraphDriver;
import io.weft.spi.GraphExecutable;
import io.weft.spi.MetricSource;
import io.weft.spi.SymmetricMemoryDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The rules as a program meets them through the neutral API. */
class HcclPlatformTest {
    private static final long MB = 1L << 20;
    private static final double SECOND = 1e9;

    private final List<Platform> open = new ArrayList<>();

    private Platform platform(HcclFamily family, String options) {
        // Without data buffers need no memory; and a wait that cannot end is given up at once.
        String all = "mode=timing&stall-timeout-ms=0" + (options.isEmpty() ? "" : "&" + options);
        open.add(Models.open(family, all));
        return open.getLast();
    }

    @AfterEach
    void close() {
        open.forEach(Platform::close);
    }

    private static HcclMeters meters(Platform platform) {
        return platform.extension(HcclMeters.class).orElseThrow();
    }

    private static BufferView view(Device device, int count) {
        return device.allocate(count * 4L).vector(count, ElementType.FP32);
    }

    private static void allReduce(Communicator communicator, int rank, BufferView view, Stream stream) {
        communicator.allReduce(rank, view, view, ReduceOp.SUM, stream);
    }

    @Test
    void aCommunicatorTakesTwoBuffersOnEachOfItsDevicesUntilItIsClosed() {
        Platform platform = platform(HcclFamily.A2, "hccl-buffsize=300");
        long before = platform.device(1).memoryInfo().freeBytes();
        Communicator pair = Communicator.over(platform, platform.devices().subList(0, 2));
        assertEquals(before - 600 * MB, platform.device(1).memoryInfo().freeBytes());
        assertEquals(600 * MB, meters(platform).bufferBytes(1));
        Map<Integer, Communicator> parts = pair.split(Map.of(0, 0, 1, 0), Map.of());
        assertEquals(before - 1200 * MB, platform.device(1).memoryInfo().freeBytes());
        assertEquals(0, meters(platform).bufferBytes(2));
        parts.get(0).close();
        pair.close();
        assertEquals(before, platform.device(1).memoryInfo().freeBytes());
    }

    @Test
    void communicatorsThatDoNotFitTheMemoryAreRefusedWithTheLibrarysCode() {
        Platform platform = platform(HcclFamily.A2, "hccl-buffsize=1000000");
        long before = platform.device(0).memoryInfo().freeBytes();
        AcceleratorException refused = assertThrows(AcceleratorException.class, () -> Communicator.overAll(platform));
        assertEquals(ErrorCode.OUT_OF_MEMORY, refused.code());
        assertTrue(refused.getMessage().contains("EI0011"), refused.getMessage());
        assertEquals(before, platform.device(0).memoryInfo().freeBytes());
        assertEquals(List.of(), meters(platform).groups());
    }

    @Test
    void oneCommunicatorOnTwoUnorderedStreamsIsRefused() {
        Platform platform = platform(HcclFamily.A2, "");
        Device device = platform.device(0);
        try (Communicator one = Communicator.over(platform, List.of(device))) {
            BufferView view = view(device, 1 << 20);
            Stream first = device.createStream();
            Stream second = device.createStream();
            allReduce(one, 0, view, first);
            AcceleratorException refused =
                    assertThrows(AcceleratorException.class, () -> allReduce(one, 0, view, second));
            assertEquals(ErrorCode.INVALID_STATE, refused.code());
            assertTrue(refused.getMessage().contains("two streams without order"), refused.getMessage());

            Event done = device.createEvent(EventOptions.untimed());
            first.record(done);
            second.waitFor(done);
            allReduce(one, 0, view, second);
            second.synchronize();
            allReduce(one, 0, view, first);
            first.synchronize();
        }
    }

    @Test
    void twoCommunicatorsMayRunOnTwoStreams() {
        Platform platform = platform(HcclFamily.A2, "");
        Device device = platform.device(0);
        try (Communicator one = Communicator.over(platform, List.of(device));
                Communicator other = Communicator.over(platform, List.of(device))) {
            BufferView view = view(device, 1 << 20);
            allReduce(one, 0, view, device.createStream());
            allReduce(other, 0, view(device, 1 << 20), device.createStream());
            device.synchronize();
            assertEquals(2, meters(platform).groups().size());
        }
    }

    @Test
    void aRankThatNeverComesIsNamedAfterTheExecuteTimeoutOfVirtualTime() {
        Platform platform = platform(HcclFamily.A2, "");
        Communicator pair = Communicator.over(platform, platform.devices().subList(0, 2));
        Stream stream = platform.device(0).createStream();
        long start = platform.nanoTime();
        allReduce(pair, 0, view(platform.device(0), 1024), stream);
        AcceleratorException late = assertThrows(AcceleratorException.class, stream::synchronize);
        assertEquals(ErrorCode.TIMEOUT, late.code());
        assertTrue(
                late.getMessage().contains("rank 1")
                        && late.getMessage().contains("1836 s")
                        && late.getMessage().contains("EI0002"),
                late.getMessage());
        assertEquals(1836 * SECOND, (double) (platform.nanoTime() - start), SECOND);
        pair.abort();
        pair.close();
    }

    @Test
    void aRankThatNeverJoinedIsNamedAfterTheConnectTimeout() {
        Platform platform = platform(HcclFamily.A2, "hccl-connect-timeout=200");
        byte[] id = Communicator.newUniqueId(platform);
        Communicator alone = Communicator.join(platform, id, 2, Map.of(0, platform.device(0)));
        Stream stream = platform.device(0).createStream();
        long start = platform.nanoTime();
        allReduce(alone, 0, view(platform.device(0), 1024), stream);
        AcceleratorException late = assertThrows(AcceleratorException.class, stream::synchronize);
        assertTrue(
                late.getMessage().contains("rank 1")
                        && late.getMessage().contains("200 s")
                        && late.getMessage().contains("EI0006"),
                late.getMessage());
        assertEquals(200 * SECOND, (double) (platform.nanoTime() - start), SECOND);
        AcceleratorException tooLate = assertThrows(AcceleratorException.class, () -> {
            platform.device(1).createStream().synchronize();
            Communicator.join(platform, id, 2, Map.of(1, platform.device(1)));
        });
        assertEquals(ErrorCode.TIMEOUT, tooLate.code());
        alone.abort();
        alone.close();
    }

    @Test
    void withoutAnExecuteTimeoutOnlyTheWaitItselfIsGivenUp() {
        Platform platform = platform(HcclFamily.A2, "hccl-exec-timeout=0");
        Communicator pair = Communicator.over(platform, platform.devices().subList(0, 2));
        Stream stream = platform.device(0).createStream();
        allReduce(pair, 0, view(platform.device(0), 1024), stream);
        AcceleratorException late = assertThrows(AcceleratorException.class, stream::synchronize);
        assertTrue(!late.getMessage().contains("given up after"), late.getMessage());
        pair.abort();
        pair.close();
    }

    @Test
    void ranksThatDisagreeGetTheLibrarysCode() {
        Platform platform = platform(HcclFamily.A2, "");
        try (Communicator pair = Communicator.over(platform, platform.devices().subList(0, 2))) {
            Communicator.Group group = pair.group();
            for (int rank = 0; rank < 2; rank++) {
                BufferView view = view(platform.device(rank), 64 + rank);
                group.allReduce(
                        rank, view, view, ReduceOp.SUM, platform.device(rank).createStream());
            }
            AcceleratorException refused = assertThrows(AcceleratorException.class, group::close);
            assertEquals(ErrorCode.COLLECTIVE_MISMATCH, refused.code());
            assertTrue(refused.getMessage().contains("EI0005"), refused.getMessage());
        }
    }

    @Test
    void aFullRingMakesTheHostWaitAndIsCounted() {
        Platform platform = platform(HcclFamily.A2, "");
        Device device = platform.device(0);
        try (Communicator one = Communicator.over(platform, List.of(device))) {
            Stream stream = device.createStream();
            BufferView view = view(device, 1 << 20);
            for (int i = 0; i < EventRing.DEPTH + 100; i++) {
                allReduce(one, 0, view, stream);
            }
            stream.synchronize();
            GroupStatistics group = meters(platform).groups().getFirst();
            assertEquals(EventRing.DEPTH + 100, group.launches());
            assertEquals(EventRing.DEPTH, group.peakRingPlaces());
            assertTrue(group.ringRefusals() > 0);
            assertEquals(0, group.ringPlaces());
            assertEquals(0, group.semaphores());
            assertEquals(1, group.switches());
        }
    }

    @Test
    void aFullRingOfARankWhoseOthersNeverComeEndsInATimeout() {
        Platform platform = platform(HcclFamily.A2, "");
        Communicator pair = Communicator.over(platform, platform.devices().subList(0, 2));
        Stream stream = platform.device(0).createStream();
        BufferView view = view(platform.device(0), 16);
        AcceleratorException full = assertThrows(AcceleratorException.class, () -> {
            for (int i = 0; i <= EventRing.DEPTH; i++) {
                allReduce(pair, 0, view, stream);
            }
        });
        assertEquals(ErrorCode.TIMEOUT, full.code());
        pair.abort();
        pair.close();
    }

    @Test
    void aStreamThatServesTwoGroupsInTurnIsCounted() {
        Platform platform = platform(HcclFamily.A2, "");
        Device device = platform.device(0);
        try (Communicator one = Communicator.over(platform, List.of(device));
                Communicator other = Communicator.over(platform, List.of(device))) {
            Stream stream = device.createStream();
            BufferView view = view(device, 16);
            for (int i = 0; i < 5; i++) {
                allReduce(one, 0, view, stream);
                allReduce(other, 0, view, stream);
            }
            stream.synchronize();
            assertEquals(
                    10,
                    meters(platform).groups().stream()
                            .mapToLong(GroupStatistics::switches)
                            .sum());
            assertTrue(meters(platform).longestGroupSwitchNanos() > 0);
        }
    }

    @Test
    void theStreamBeyondTheLastIsRefusedAndNothingLeaks() {
        Platform platform = platform(HcclFamily.A2, "");
        Device device = platform.device(0);
        Budget streams = meters(platform).budgets().get(0).streams();
        assertEquals(1984, streams.limit());
        List<Stream> all = new ArrayList<>();
        while (streams.used() < streams.limit()) {
            all.add(device.createStream());
        }
        assertEquals(1983, all.size());
        AcceleratorException refused = assertThrows(AcceleratorException.class, device::createStream);
        assertTrue(
                refused.getMessage().contains("207008") && refused.getMessage().contains("EL0009"),
                refused.getMessage());
        platform.device(1).createStream().close();
        all.removeLast().close();
        device.createStream().close();
        assertEquals(1, streams.refused());
        assertEquals(1984, streams.peak());
    }

    @Test
    void aPreparedGraphHoldsAStreamForEachOfItsLanes() {
        Platform platform = platform(HcclFamily.A2, "");
        Budget streams = meters(platform).budgets().get(0).streams();
        GraphDriver driver = platform.extension(GraphDriver.class).orElseThrow();
        CommandGraph.Builder builder = CommandGraph.builder(1);
        Slot slot = builder.slot(0, "data", 4096, Slot.Role.OUTPUT);
        for (int lane = 0; lane < 1000; lane++) {
            BufferView target = BufferView.vector(slot, lane * 4L, 1, ElementType.INT32);
            builder.add(0, lane, Priority.NORMAL, new Command.Fill(target, 0), "fill");
        }
        CommandGraph graph = builder.build();
        List<io.weft.spi.DeviceDriver> devices = List.of(platform.device(0).driver());
        GraphExecutable first = driver.instantiate(graph, devices);
        assertEquals(1001, streams.used());
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> driver.instantiate(graph, devices));
        assertTrue(refused.getMessage().contains("EL0009"), refused.getMessage());
        first.close();
        assertEquals(1, streams.used());
        driver.instantiate(graph, devices).close();
    }

    @Test
    void anEventTakesItsNumberWhenItIsFirstRecorded() {
        Platform platform = platform(HcclFamily.A2, "");
        Device device = platform.device(0);
        Budget events = meters(platform).budgets().get(0).events();
        assertEquals(65_536, events.limit());
        Event event = device.createEvent(EventOptions.untimed());
        assertEquals(0, events.used());
        Stream stream = device.createStream();
        stream.record(event);
        stream.record(event);
        assertEquals(1, events.used());
        assertTrue(events.take(events.limit() - 1));
        AcceleratorException refused = assertThrows(
                AcceleratorException.class, () -> stream.record(device.createEvent(EventOptions.untimed())));
        assertTrue(refused.getMessage().contains("207007"), refused.getMessage());
        event.close();
        stream.record(device.createEvent(EventOptions.untimed()));
    }

    @Test
    void operatorsThatTheLibraryLacksAreComposedOrRefused() {
        Platform composed = platform(HcclFamily.A2, "");
        Platform strict = platform(HcclFamily.A2, "operators=native");
        for (Platform platform : List.of(composed, strict)) {
            Device device = platform.device(0);
            BufferView view = device.allocate(64).vector(32, ElementType.BF16);
            try (Communicator one = Communicator.over(platform, List.of(device))) {
                Stream stream = device.createStream();
                one.allReduce(0, view, view, ReduceOp.SUM, stream);
                if (platform == strict) {
                    AcceleratorException refused = assertThrows(
                            AcceleratorException.class, () -> one.allReduce(0, view, view, ReduceOp.PROD, stream));
                    assertEquals(ErrorCode.UNSUPPORTED, refused.code());
                    assertTrue(refused.getMessage().contains("no PROD of bf16"), refused.getMessage());
                } else {
                    one.allReduce(0, view, view, ReduceOp.PROD, stream);
                    assertEquals(1, meters(platform).composedParts());
                }
                stream.synchronize();
            }
        }
    }

    @Test
    void smallGroupsOfTheOldestGenerationMustStayInsideAnHccsGroup() {
        Platform platform = platform(HcclFamily.A910A, "");
        List<Device> devices = platform.devices();
        Communicator.over(platform, devices.subList(4, 8)).close();
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> Communicator.over(platform, devices.subList(3, 5)));
        assertTrue(refused.getMessage().contains("0-3 or 4-7"), refused.getMessage());
        Communicator.over(platform, devices).close();
        byte[] id = Communicator.newUniqueId(platform);
        Communicator half = Communicator.join(platform, id, 2, Map.of(0, devices.get(3)));
        assertThrows(AcceleratorException.class, () -> Communicator.join(platform, id, 2, Map.of(1, devices.get(4))));
        half.close();
    }

    @Test
    void windowsAreMultiplesOfTwoMegabytes() {
        Platform platform = platform(HcclFamily.A2, "");
        assertEquals(
                2 * MB,
                platform.extension(SymmetricMemoryDriver.class).orElseThrow().windowAlignment());
    }

    @Test
    void badOptionsAreRefusedWithWhatIsAccepted() {
        AcceleratorException refused =
                assertThrows(AcceleratorException.class, () -> platform(HcclFamily.A2, "hccl-connect-timeout=5"));
        assertTrue(refused.getMessage().contains("accepted is 120 to 7200 s"), refused.getMessage());
        assertThrows(AcceleratorException.class, () -> platform(HcclFamily.A2, "operators=some"));
        assertThrows(AcceleratorException.class, () -> platform(HcclFamily.A2, "hccl-nothing=1"));
    }

    @Test
    void metricsFollowGroupsAndBuffers() {
        Platform platform = platform(HcclFamily.A2, "hccl-buffsize=1");
        MetricSource metrics = platform.extension(MetricSource.class).orElseThrow();
        Device device = platform.device(0);
        BufferView view = view(device, 1 << 18);
        Stream stream = device.createStream();
        try (Communicator one = Communicator.over(platform, List.of(device))) {
            assertEquals(
                    0, metric(metrics, "communication.buffer.level").value().getAsDouble());
            allReduce(one, 0, view, stream);
            assertEquals(
                    0.5,
                    metric(metrics, "communication.buffer.level").value().getAsDouble(),
                    "a message of 1 MB in two buffers of 1 MB");
            stream.synchronize();
            assertEquals(
                    0, metric(metrics, "communication.buffer.level").value().getAsDouble());
            assertEquals(1, metric(metrics, "group.switch").count().getAsDouble());
        }
    }

    private static MetricSource.Metric metric(MetricSource source, String name) {
        return source.metrics().stream()
                .filter(metric -> metric.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void metersShowWhatIsInForce() {
        Platform platform = platform(HcclFamily.A3, "");
        assertEquals(HcclFamily.A3, meters(platform).family());
        assertEquals(HcclSettings.DEFAULTS, meters(platform).settings());
        assertEquals(8, meters(platform).budgets().size());
        Buffer buffer = platform.device(0).allocate(16);
        buffer.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Communicator;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.Platform;
import io.weft.runtime.WeftRuntime;
import io.weft.runtime.plan.Progress;
import io.weft.runtime.settings.EffectiveSettings;
import io.weft.spi.PerformanceModel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs on the simulator, which computes real data. */
final class CollectiveBenchTest {
    private static final long SEED = 20261129;

    private WeftRuntime runtime;

    @BeforeEach
    void start() {
        runtime = WeftRuntime.start(EffectiveSettings.defaults());
    }

    @AfterEach
    void close() {
        runtime.close();
    }

    private static CollectiveRequest request(
            List<CollectiveOperation> operations, List<Integer> ranks, CollectiveRequest.Sizes sizes) {
        return new CollectiveRequest(
                operations,
                ranks,
                List.of(ElementType.FP32),
                List.of(BenchReduction.SUM),
                0,
                sizes,
                20,
                5,
                1 << 24,
                SEED,
                true);
    }

    private static CollectiveRequest.Sizes sizes(long first, long last) {
        return new CollectiveRequest.Sizes(first, last, 0, 4);
    }

    private CollectiveReport run(String uri, CollectiveRequest request) {
        try (Platform platform = runtime.open(uri)) {
            return runtime.collectives().run(platform, request, Progress.NONE);
        }
    }

    @ParameterizedTest
    @EnumSource(CollectiveOperation.class)
    void everyOperationGivesRightDataOverEveryNumberOfRanksAndType(CollectiveOperation operation) {
        boolean pairs = operation == CollectiveOperation.SENDRECV;
        CollectiveRequest request = new CollectiveRequest(
                List.of(operation),
                pairs ? List.of(2, 3, 5, 8) : List.of(1, 2, 3, 5, 8),
                List.of(ElementType.values()),
                List.of(BenchReduction.values()),
                0,
                new CollectiveRequest.Sizes(
                        8, 5000, 0, 24), // one element or two, some, and several blocks for each rank
                2,
                0,
                1 << 24,
                SEED,
                false);
        CollectiveReport report = run("sim:mesh-8", request);
        assertEquals(0, report.wrong(), () -> "seed " + SEED + ": " + report.tables());
        long rows =
                report.tables().stream().mapToLong(table -> table.rows().size()).sum();
        assertEquals(operation.hasInPlace() ? 2 * rows : rows, report.checked());
    }

    @ParameterizedTest
    @EnumSource(CollectiveOperation.class)
    void oneWrongElementIsCounted(CollectiveOperation operation) {
        for (boolean inPlace : operation.hasInPlace() ? List.of(false, true) : List.of(false)) {
            CollectiveShape shape =
                    new CollectiveShape(operation, 64, ElementType.FP32, BenchReduction.SUM, 1, 3, inPlace);
            try (Platform platform = runtime.open("sim:mesh-8");
                    Communicator communicator =
                            Communicator.over(platform, platform.devices().subList(0, 3));
                    RankBuffers buffers = new RankBuffers(communicator, shape)) {
                CollectiveCheck check = new CollectiveCheck(communicator, shape, SEED);
                check.prepare(buffers);
                assertNotEquals(0, check.count(buffers), "nothing has run yet: " + shape);
                buffers.call();
                buffers.synchronize();
                assertEquals(0, check.count(buffers), shape + ", seed " + SEED);
                BufferView received = buffers.receive(1); // rank 1 is also the root
                Buffer buffer = (Buffer) received.memory();
                MemorySegment one = MemorySegment.ofArray(new byte[4]);
                long place = received.offset() + 4 * 17;
                buffer.read(one, place);
                one.set(ValueLayout.JAVA_BYTE, 2, (byte) (one.get(ValueLayout.JAVA_BYTE, 2) ^ 0x10));
                buffer.write(place, one);
                assertEquals(1, check.count(buffers), shape + ", seed " + SEED);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(CollectiveOperation.class)
    void predictionAndExecutionInVirtualTimeAgree(CollectiveOperation operation) {
        try (Platform platform = runtime.open("sim:mesh-8?mode=timing");
                Communicator communicator =
                        Communicator.over(platform, platform.devices().subList(0, 5))) {
            CollectiveShape shape =
                    new CollectiveShape(operation, 1 << 20, ElementType.FP32, BenchReduction.SUM, 0, 5, false);
            double predicted = new PredictedClock(
                            platform.extension(PerformanceModel.class).orElseThrow(), 10)
                    .nanos(shape);
            double ran = new RunningClock(communicator, 2, 10).nanos(shape);
            assertEquals(1, predicted / ran, 0.06, () -> operation + ": " + predicted + " and " + ran);
        }
    }

    @Test
    void withoutDataNothingIsCheckedAndAnyDeviceSizedMessageIsTimed() {
        CollectiveReport report = run(
                "sim:mesh-8?mode=timing",
                request(List.of(CollectiveOperation.ALL_REDUCE), List.of(8), sizes(1L << 30, 1L << 34)));
        assertEquals(0, report.checked());
        assertTrue(
                report.notes().getFirst().contains("holds no data"),
                () -> report.notes().toString());
        List<CollectiveReport.Row> rows = report.tables().getFirst().rows();
        assertEquals(3, rows.size());
        for (CollectiveReport.Row row : rows) {
            assertEquals(OptionalLong.empty(), row.outOfPlace().wrong());
            assertEquals(row.outOfPlace().busGbps(), row.outOfPlace().algorithmGbps() * 1.75, 1e-9 * row.bytes());
            assertTrue(row.algorithm().contains("compute units"), row.algorithm());
        }
    }

    @Test
    void messagesAboveTheCheckingLimitAreTimedAndNotChecked() {
        CollectiveRequest small = new CollectiveRequest(
                List.of(CollectiveOperation.ALL_GATHER),
                List.of(4),
                List.of(ElementType.BF16),
                List.of(BenchReduction.SUM),
                0,
                sizes(1024, 16384),
                3,
                0,
                20_000,
                SEED,
                false);
        List<CollectiveReport.Row> rows =
                run("sim:ring-4", small).tables().getFirst().rows();
        assertEquals(OptionalLong.of(0), rows.getFirst().outOfPlace().wrong());
        assertEquals(OptionalLong.empty(), rows.getLast().outOfPlace().wrong());
        assertTrue(rows.getLast().outOfPlace().us() > 0);
    }

    /** Three rows that AMD published for eight MI300X (all_reduce_perf, RCCL 2.22.3, float, sum): the other columns follow from size and time. */
    @ParameterizedTest
    @CsvSource({
        "1048576, 262144, 27.42, 38.25, 66.93",
        "1073741824, 268435456, 5970.6, 179.84, 314.72",
        "17179869184, 4294967296, 94254, 182.27, 318.98"
    })
    void bandwidthsAreThoseOfRcclTests(long bytes, long count, double us, double algorithm, double bus) {
        CollectiveOperation operation = CollectiveOperation.ALL_REDUCE;
        assertEquals(count, operation.count(bytes, 4, 8));
        assertEquals(bytes, operation.size(count, 4, 8));
        double own = operation.algorithmBandwidth(count, 4, 8, us * 1e3);
        assertEquals(algorithm, own, 0.006 + 0.0005 * algorithm);
        assertEquals(bus, own * operation.busFactor(8), 0.01 + 0.0005 * bus);
    }

    static Stream<String> tables() {
        return Stream.of("mi300x_8_all_reduce_1proc_per_gpu.csv", "mi300x_8_all_reduce_graph.csv");
    }

    @ParameterizedTest
    @MethodSource("tables")
    void everyRowOfAPublishedTableFollowsFromItsTimes(String name) throws IOException {
        Path file = Path.of("..", "..", "shared", "data", "amd", "rccl-tests", name);
        assumeTrue(Files.exists(file), "the published tables are not beside this checkout");
        List<String> lines = Files.readAllLines(file);
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split(",", -1);
            long bytes = Long.parseLong(cells[0]);
            long count = CollectiveOperation.ALL_REDUCE.count(bytes, 4, 8);
            assertEquals(Long.parseLong(cells[1]), count, line);
            for (int at : new int[] {2, 5}) {
                double own = CollectiveOperation.ALL_REDUCE.algorithmBandwidth(
                        count, 4, 8, Double.parseDouble(cells[at]) * 1e3);
                assertEquals(Double.parseDouble(cells[at + 1]), own, 0.006 + 0.001 * own, line);
                assertEquals(Double.parseDouble(cells[at + 2]), own * 1.75, 0.006 + 0.001 * own * 1.75, line);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        // operation, asked, count, size, bus factor over 8 ranks; blocks are whole multiples of 16 bytes
        "ALL_REDUCE, 1001, 250, 1000, 1.75",
        "ALL_GATHER, 1001, 28, 896, 0.875",
        "ALL_GATHER, 100, 0, 0, 0.875",
        "REDUCE_SCATTER, 1024, 32, 1024, 0.875",
        "ALLTOALL, 1024, 32, 1024, 0.875",
        "ALLTOALLV, 120, 0, 0, 0.875",
        "GATHER, 1024, 32, 1024, 0.875",
        "SCATTER, 1024, 32, 1024, 0.875",
        "BROADCAST, 1001, 250, 1000, 1",
        "REDUCE, 1001, 250, 1000, 1",
        "SENDRECV, 1001, 250, 1000, 1"
    })
    void countsAndFactorsAreThoseOfRcclTests(
            CollectiveOperation operation, long asked, long count, long size, double factor) {
        assertEquals(count, operation.count(asked, 4, 8));
        assertEquals(size, operation.size(count, 4, 8));
        assertEquals(factor, operation.busFactor(8), 1e-12);
    }

    @ParameterizedTest
    @CsvSource({"FP32, SUM, 8, 4", "FP16, SUM, 8, 5", "BF16, AVG, 8, 5", "INT32, SUM, 8, 0", "FP32, MAX, 64, 0"})
    void tolerancesAreThoseOfRcclTests(ElementType type, BenchReduction reduction, int ranks, long ulps) {
        assertEquals(ulps, BenchTypes.tolerance(type, reduction, ranks));
    }

    @Test
    void sizesGoByFactorOrByStepAndEndInTime() {
        assertEquals(List.of(8L, 16L, 32L), new CollectiveRequest.Sizes(8, 63, 0, 2).all());
        assertEquals(List.of(8L, 18L, 28L), new CollectiveRequest.Sizes(8, 30, 10, 0).all());
        assertEquals(
                3, new CollectiveRequest.Sizes(1L << 58, 1L << 60, 0, 2).all().size());
        assertThrows(AcceleratorException.class, () -> new CollectiveRequest.Sizes(1, 1L << 40, 1, 0));
    }

    @Test
    void whatDoesNotFitIsSaidBeforeAnythingRuns() {
        AcceleratorException refusal = assertThrows(
                AcceleratorException.class,
                () -> run(
                        "sim:mesh-8",
                        request(List.of(CollectiveOperation.ALL_GATHER), List.of(8), sizes(8, 1L << 45))));
        assertEquals(ErrorCode.INVALID_ARGUMENT, refusal.code());
        assertTrue(refusal.getMessage().contains("smaller -e"), refusal.getMessage());
        assertFalse(refusal.getMessage().contains("\n"));
    }

    @Test
    void rowsAreToldOfAsTheyCome() {
        List<String> heard = new ArrayList<>();
        CollectiveRequest request = request(
                List.of(CollectiveOperation.ALL_GATHER, CollectiveOperation.ALLTOALL), List.of(2, 4), sizes(64, 1024));
        try (Platform platform = runtime.open("sim:ring-4")) {
            Progress steps = new Progress() {
                @Override
                public void step(String label) {
                    heard.add("step " + label);
                }
            };
            CollectiveReport report = runtime.collectives()
                    .run(
                            platform,
                            request,
                            steps,
                            (operation, ranks, row) -> heard.add(operation.label() + " " + ranks + " " + row.bytes()));
            List<String> expected = new ArrayList<>();
            for (CollectiveReport.Table table : report.tables()) {
                for (CollectiveReport.Row row : table.rows()) {
                    expected.add(table.operation().label() + " " + table.ranks() + " " + row.bytes());
                    expected.add("step " + table.operation().label() + " " + row.bytes() + " B");
                }
            }
            assertEquals(24, heard.size());
            assertEquals(expected, heard);
        }
    }

    @Test
    void theSameRequestGivesTheSameReport() {
        CollectiveRequest request = request(List.of(CollectiveOperation.values()), List.of(2, 8), sizes(8, 1 << 16));
        assertEquals(
                run("sim:mesh-8", request).json(), run("sim:mesh-8", request).json());
    }
}

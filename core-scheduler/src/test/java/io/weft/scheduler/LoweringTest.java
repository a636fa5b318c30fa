// SPDX-License-Identifier: Apache-2.0
package io.weft.scheduler;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.ElementType;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class LoweringTest {
    private static final long SEED = 0x5EEDL;

    /** Every kind with parameters that make its steps, lanes and blocks interesting. */
    static List<Schedule> schedules() {
        return Stream.of(
                        "serial",
                        "serial/engine=copy-engine",
                        "shard-p2p",
                        "shard-p2p/streams=2",
                        "shard-p2p/reduction=accumulate",
                        "uniform-fused-1d/chunks=1",
                        "uniform-fused-1d/chunks=5,streams=2",
                        "uniform-fused-1d/chunks=4,engine=kernel",
                        "hetero-fused-1d/chunks=1",
                        "hetero-fused-1d/chunks=5",
                        "hetero-fused-1d/chunks=4,streams=3",
                        "hetero-fused-1d/chunks=3,reduction=accumulate",
                        "hetero-unfused-1d/chunks=1",
                        "hetero-unfused-1d/chunks=4,streams=4",
                        "hetero-unfused-1d/chunks=3,streams=2,reduction=accumulate",
                        "uniform-fused-2d/chunks=1",
                        "uniform-fused-2d/chunks=5",
                        "uniform-fused-2d/chunks=4,streams=2",
                        "cover-merge/cover=0.25",
                        "cover-merge/cover=0.5,streams=2",
                        "cover-merge/cover=1")
                .map(Schedule::parse)
                .toList();
    }

    private static List<OverlapProblem> problems(Pattern pattern) {
        List<OverlapProblem> problems = new ArrayList<>();
        problems.add(OverlapProblem.of(pattern, 5, 3, 2, ElementType.FP32, 1));
        problems.add(OverlapProblem.of(pattern, 29, 5, 7, ElementType.FP16, 2));
        problems.add(OverlapProblem.of(pattern, 24, 4, 6, ElementType.BF16, 3));
        problems.add(OverlapProblem.of(pattern, 29, 5, 7, ElementType.BF16, 3));
        problems.add(OverlapProblem.of(pattern, 17, 2, 9, ElementType.INT8, 4));
        problems.add(OverlapProblem.of(pattern, 1, 1, 1, ElementType.FP8_E4M3, 4));
        problems.add(OverlapProblem.of(pattern, 5, 3, 2, ElementType.FP32, 8));
        if (pattern == Pattern.ALL_GATHER_GEMM) {
            problems.add(
                    OverlapProblem.of(pattern, 29, 5, 7, ElementType.FP16, 2).withInPlace(true));
            problems.add(
                    OverlapProblem.of(pattern, 29, 5, 7, ElementType.BF16, 3).withInPlace(true));
        }
        if (pattern.exchanges()) {
            problems.add(
                    OverlapProblem.of(pattern, 31, 3, 4, ElementType.BF16, 3).withSkew(2));
            problems.add(
                    OverlapProblem.of(pattern, 40, 3, 4, ElementType.BF16, 4).withSkew(0.7));
        }
        return problems;
    }

    private static double[][] random(List<Slot> slots, ElementType type, SplittableRandom random) {
        double[][] values = new double[slots.size()][];
        for (int i = 0; i < values.length; i++) {
            values[i] = new double[(int) (slots.get(i).bytes() / type.bytes())];
            for (int j = 0; j < values[i].length; j++) {
                float value = type == ElementType.INT8 ? random.nextInt(-9, 10) : (float) (random.nextDouble() * 2 - 1);
                values[i][j] = type.decode(type.encode(value));
            }
        }
        return values;
    }

    private static final class Inputs {
        private final double[][] a;
        private final double[][] b;

        private Inputs(LoweredSchedule lowered, long seed) {
            SplittableRandom random = new SplittableRandom(seed);
            ElementType type = lowered.problem().elementType();
            a = random(lowered.operands(), type, random);
            b = random(lowered.weights(), type, random);
        }
    }

    private static double[][] run(LoweredSchedule lowered, Inputs inputs, SplittableRandom order) {
        Reference reference = new Reference(lowered.graph());
        int ranks = lowered.problem().ranks();
        for (int r = 0; r < ranks; r++) {
            reference.put(lowered.operands().get(r), inputs.a[r]);
            reference.put(lowered.weights().get(r), inputs.b[r]);
        }
        reference.run(order);
        double[][] results = new double[ranks][];
        for (int r = 0; r < ranks; r++) {
            results[r] = reference.get(lowered.results().get(r));
        }
        return results;
    }

    /** What the pattern means, written down again without any schedule. */
    private static double[][] expected(OverlapProblem problem, Inputs inputs) {
        int ranks = problem.ranks();
        int n = (int) problem.n();
        int k = (int) problem.k();
        double[][] c = new double[ranks][];
        switch (problem.pattern()) {
            case ALL_GATHER_GEMM -> {
                double[] all = new double[(int) problem.m() * k];
                for (int r = 0; r < ranks; r++) {
                    // In place, the own rows stand where they will be, between rows that mean nothing yet.
                    int start = (int) problem.shardStart(r) * k;
                    int length = (int) problem.shardRows(r) * k;
                    System.arraycopy(inputs.a[r], problem.inPlace() ? start : 0, all, start, length);
                }
                for (int r = 0; r < ranks; r++) {
                    c[r] = multiply(all, inputs.b[r], n, k);
                }
            }
            case GEMM_REDUCE_SCATTER, GEMM_ALL_REDUCE -> {
                double[] sum = new double[(int) problem.m() * n];
                for (int r = 0; r < ranks; r++) {
                    double[] partial = multiply(inputs.a[r], inputs.b[r], n, k);
                    for (int i = 0; i < sum.length; i++) {
                        sum[i] += partial[i];
                    }
                }
                for (int r = 0; r < ranks; r++) {
                    boolean all = problem.pattern() == Pattern.GEMM_ALL_REDUCE;
                    int from = all ? 0 : (int) problem.shardStart(r) * n;
                    int length = all ? sum.length : (int) problem.shardRows(r) * n;
                    c[r] = new double[length];
                    System.arraycopy(sum, from, c[r], 0, length);
                }
            }
            case ALL_TO_ALL_GEMM -> {
                long[][] rows = problem.exchange();
                for (int d = 0; d < ranks; d++) {
                    double[] received = new double[0];
                    for (int s = 0; s < ranks; s++) {
                        int from = 0;
                        for (int i = 0; i < d; i++) {
                            from += (int) rows[s][i] * k;
                        }
                        received = append(received, inputs.a[s], from, (int) rows[s][d] * k);
                    }
                    c[d] = multiply(received, inputs.b[d], n, k);
                }
            }
            case GEMM_ALL_TO_ALL -> {
                long[][] rows = problem.exchange();
                for (int s = 0; s < ranks; s++) {
                    c[s] = new double[0];
                    for (int d = 0; d < ranks; d++) {
                        int from = 0;
                        for (int i = 0; i < s; i++) {
                            from += (int) rows[i][d] * n;
                        }
                        double[] product = multiply(inputs.a[d], inputs.b[d], n, k);
                        c[s] = append(c[s], product, from, (int) rows[s][d] * n);
                    }
                }
            }
        }
        return c;
    }

    private static double[] append(double[] to, double[] from, int first, int count) {
        double[] longer = java.util.Arrays.copyOf(to, to.length + count);
        System.arraycopy(from, first, longer, to.length, count);
        return longer;
    }

    private static double[] multiply(double[] a, double[] b, int n, int k) {
        int m = a.length / k;
        double[] c = new double[m * n];
        for (int row = 0; row < m; row++) {
            for (int column = 0; column < n; column++) {
                for (int i = 0; i < k; i++) {
                    c[row * n + column] += a[row * k + i] * b[i * n + column];
                }
            }
        }
        return c;
    }

    @ParameterizedTest
    @EnumSource(Pattern.class)
    void everyScheduleIsRightInEveryLegalOrderAndHasTheBitsOfTheSerialOne(Pattern pattern) {
        for (OverlapProblem problem : problems(pattern)) {
            LoweredSchedule serial = Lowering.lower(problem, Schedule.serial());
            Inputs inputs = new Inputs(serial, SEED);
            double[][] wanted = expected(problem, inputs);
            double[][] serialResult = run(serial, inputs, new SplittableRandom(SEED));
            for (Schedule schedule : schedules()) {
                LoweredSchedule lowered = Lowering.lower(problem, schedule);
                String what = problem + " " + schedule + " seed " + SEED;
                double[][] first = null;
                int orders = problem.ranks() == 3 ? 20 : 4;
                for (int round = 0; round < orders; round++) {
                    double[][] result = run(lowered, inputs, new SplittableRandom(SEED + round));
                    for (int r = 0; r < problem.ranks(); r++) {
                        if (first != null) {
                            assertArrayEquals(first[r], result[r], what + " order " + round + " rank " + r);
                        } else if (schedule.keepsBits(pattern)) {
                            assertArrayEquals(serialResult[r], result[r], what + " rank " + r);
                        }
                    }
                    if (first == null) {
                        first = result;
                        double step = problem.outputType().isFloating()
                                ? Math.scalb(1.0, -problem.outputType().mantissaBits())
                                : 0;
                        for (int r = 0; r < problem.ranks(); r++) {
                            // Partial products are below k in magnitude and are rounded once each, the sum once more.
                            double bound = step * problem.k() * (problem.ranks() + 1.0);
                            assertArrayEquals(wanted[r], result[r], bound, what + " rank " + r);
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Pattern.class)
    void noTwoCommandsThatTouchTheSameBytesAreUnorderedAndNoDependencyIsInVain(Pattern pattern) {
        for (OverlapProblem problem : problems(pattern)) {
            for (Schedule schedule : schedules()) {
                CommandGraph graph = Lowering.lower(problem, schedule).graph();
                RaceCheck check = new RaceCheck(graph);
                assertNull(check.race(), () -> problem + " " + schedule);
                assertNull(check.redundant(), () -> problem + " " + schedule);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("schedules")
    void everySingleDependencyIsNeeded(Schedule schedule) {
        for (Pattern pattern : Pattern.values()) {
            // Even sizes: with uneven ones a piece may by chance not touch what its block held before.
            OverlapProblem problem = OverlapProblem.of(pattern, 540, 60, 60, ElementType.BF16, 3);
            CommandGraph graph = Lowering.lower(problem, schedule).graph();
            for (int node = 0; node < graph.size(); node++) {
                for (int dependency : graph.dependencies(node)) {
                    String race = new RaceCheck(graph.withoutDependency(node, dependency)).race();
                    assertNotNull(
                            race, problem + " " + schedule + ": node " + node + " waits in vain for " + dependency);
                }
            }
        }
    }

    @Test
    void aDroppedDependencyShowsInTheNumbers() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 29, 5, 7, ElementType.BF16, 3);
        LoweredSchedule lowered = Lowering.lower(problem, Schedule.parse("uniform-fused-1d/chunks=5"));
        CommandGraph graph = lowered.graph();
        Inputs inputs = new Inputs(lowered, SEED);
        double[][] right = run(lowered, inputs, new SplittableRandom(SEED));
        int caught = 0;
        int dropped = 0;
        for (int node = 0; node < graph.size(); node++) {
            for (int dependency : graph.dependencies(node)) {
                LoweredSchedule broken = lowered.withGraph(graph.withoutDependency(node, dependency));
                dropped++;
                boolean wrong = false;
                for (int round = 0; round < 40 && !wrong; round++) {
                    double[][] result = run(broken, inputs, new SplittableRandom(SEED + round));
                    for (int r = 0; r < 3; r++) {
                        wrong |= !java.util.Arrays.equals(right[r], result[r]);
                    }
                }
                caught += wrong ? 1 : 0;
            }
        }
        assertTrue(
                caught > dropped * 3 / 4,
                caught + " of " + dropped + " dropped dependencies were caught, seed " + SEED);
    }

    @Test
    void communicationAndComputeWorkspacesAreApart() {
        for (Pattern pattern : Pattern.values()) {
            for (Schedule schedule : schedules()) {
                OverlapProblem problem = OverlapProblem.of(pattern, 29, 5, 7, ElementType.BF16, 4);
                CommandGraph graph = Lowering.lower(problem, schedule).graph();
                for (int node = 0; node < graph.size(); node++) {
                    Command command = graph.command(node);
                    for (var view : command.writes()) {
                        Slot slot = (Slot) view.memory();
                        assertNotEquals(Slot.Role.INPUT, slot.role(), problem + " " + schedule);
                        boolean compute = command instanceof Command.Gemm || command instanceof Command.Reduce;
                        if (slot.role().isWorkspace()) {
                            assertEquals(
                                    compute ? Slot.Role.COMPUTE : Slot.Role.COMMUNICATION,
                                    slot.role(),
                                    problem + " " + schedule + " " + slot);
                        }
                    }
                }
            }
        }
    }

    @Test
    void copiesBetweenDevicesArePushedOnALaneOfTheirOwn() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 64, 8, 8, ElementType.BF16, 4);
        CommandGraph graph = Lowering.lower(problem, Schedule.parse("hetero-unfused-1d/chunks=4,streams=2"))
                .graph();
        for (int node = 0; node < graph.size(); node++) {
            if (graph.command(node) instanceof Command.Copy copy) {
                Slot source = (Slot) copy.source().memory();
                Slot target = (Slot) copy.destination().memory();
                assertEquals(source.device(), graph.device(node));
                assertEquals(2 + (target.device() - source.device() + 4) % 4 - 1, graph.lane(node));
            } else {
                assertTrue(graph.lane(node) < 2);
            }
        }
    }

    @Test
    void theNumberOfGemmsPerDeviceIsTheScheduleTables() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_GATHER_GEMM, 1024, 64, 64, ElementType.BF16, 8);
        assertEquals(1, gemms(problem, "serial"));
        assertEquals(8, gemms(problem, "shard-p2p"));
        assertEquals(8, gemms(problem, "uniform-fused-1d/chunks=8"));
        assertEquals(1 + 8, gemms(problem, "hetero-fused-1d/chunks=8"));
        assertEquals(1 + 8 * 7, gemms(problem, "hetero-unfused-1d/chunks=8"));
        assertEquals(8, gemms(problem, "uniform-fused-2d/chunks=8"));
        assertEquals(2, gemms(problem, "cover-merge"));
    }

    /** GEMMs on device 0. */
    private static long gemms(OverlapProblem problem, String schedule) {
        CommandGraph graph = Lowering.lower(problem, Schedule.parse(schedule)).graph();
        long count = 0;
        for (int node = 0; node < graph.size(); node++) {
            count += graph.device(node) == 0 && graph.command(node) instanceof Command.Gemm ? 1 : 0;
        }
        return count;
    }

    @Test
    void moreChunksThanRowsLeaveEmptyPiecesOut() {
        for (Pattern pattern : Pattern.values()) {
            OverlapProblem problem = OverlapProblem.of(pattern, 3, 2, 2, ElementType.BF16, 8);
            CommandGraph graph = Lowering.lower(problem, Schedule.parse("hetero-unfused-1d/chunks=100"))
                    .graph();
            for (int node = 0; node < graph.size(); node++) {
                graph.command(node).writes().forEach(view -> assertTrue(!view.isEmpty()));
            }
        }
    }

    @Test
    void groupsBecomeABatchOfProducts() {
        OverlapProblem problem = OverlapProblem.of(Pattern.ALL_TO_ALL_GEMM, 4096, 64, 32, ElementType.BF16, 8)
                .withGroups(32);
        CommandGraph graph = Lowering.lower(problem, Schedule.serial()).graph();
        Command.Gemm gemm = (Command.Gemm) graph.command(graph.size() - 1);
        assertEquals(32, gemm.batch());
        assertEquals(16, gemm.m());
        Command.Gemm small = (Command.Gemm)
                Lowering.lower(problem.withM(40), Schedule.serial()).graph().command(8);
        assertEquals(5, small.batch());
    }
}

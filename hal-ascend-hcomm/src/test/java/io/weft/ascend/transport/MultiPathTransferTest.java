// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MultiPathTransferTest {
    private static final long BYTES = 256L << 20;

    /** Takes what is delivered, and fails on a gap, a repetition or disorder. */
    private static final class Ordered implements DeliverySink {
        private long next;

        @Override
        public void deliver(long offset, long bytes) {
            assertEquals(next, offset, "the offset of the next bytes");
            next += bytes;
        }
    }

    private static List<PathSpec> roce(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> PathSpec.roce("roce" + i, RoceSettings.DEFAULTS))
                .toList();
    }

    private static TransferReport run(List<PathSpec> paths, PathEvent... events) {
        Ordered sink = new Ordered();
        TransferReport report = MultiPathTransfer.run(paths, BYTES, List.of(events), sink);
        assertEquals(report.deliveredBytes(), sink.next);
        if (report.complete()) {
            assertEquals(BYTES, sink.next, "every byte");
            assertEquals(
                    BYTES,
                    report.paths().stream()
                            .mapToLong(TransferReport.PathReport::deliveredBytes)
                            .sum());
        }
        return report;
    }

    @Test
    void fourEqualPathsAreAtLeastThreePointSixTimesOne() {
        double one = run(roce(1)).nanos();
        double four = run(roce(4)).nanos();
        assertTrue(one / four >= 3.6, "four paths are " + one / four + " times one");
    }

    @Test
    void unequalPathsAddUp() {
        List<PathSpec> paths = new ArrayList<>(roce(2));
        paths.add(PathSpec.hccs("hccs"));
        paths.add(PathSpec.pcie("pcie"));
        double sum = paths.stream().mapToDouble(PathSpec::bytesPerSecond).sum();
        assertTrue(run(paths).bytesPerSecond() > 0.93 * sum);
    }

    @Test
    void aPathThatIsDeadFromTheStartCostsItsShareAndNothingElse() {
        double three = run(roce(3)).nanos();
        TransferReport report = run(roce(4), PathEvent.down(2, 0));
        assertTrue(report.complete());
        assertEquals(0, report.paths().get(2).deliveredBytes());
        assertTrue(report.nanos() < 1.06 * three, report.nanos() + " ns with one of four dead, three take " + three);
    }

    @Test
    void aPathThatDiesHalfWayCostsItsShareAndNothingElse() {
        for (PathKind kind : PathKind.values()) {
            List<PathSpec> paths = IntStream.range(0, 4)
                    .mapToObj(i -> new PathSpec("p" + i, kind, 25e9, 2000, 4, true, RoceSettings.DEFAULTS))
                    .toList();
            double healthy = run(paths).nanos();
            double half = healthy / 2;
            TransferReport report = run(paths, PathEvent.down(1, half));
            assertTrue(report.complete());
            double ideal = half + half * 4 / 3;
            assertTrue(report.nanos() < 1.08 * ideal, kind + ": " + report.nanos() + " ns, ideal is " + ideal);
            assertTrue(report.restriped() > 0);
        }
    }

    @Test
    void aCongestedPathKeepsWhatItCanCarry() {
        TransferReport report = run(roce(4), new PathEvent(0, 0, 0.5));
        double ideal = BYTES / (3.5 * 25e9) * 1e9;
        assertTrue(report.nanos() < 1.1 * ideal, report.nanos() + " ns, ideal is " + ideal);
        assertTrue(
                report.paths().get(0).deliveredBytes() < report.paths().get(1).deliveredBytes());
    }

    @Test
    void aPathAboveTheThresholdOnlyGetsProbesUntilItIsFreeAgain() {
        TransferReport slow = run(roce(4), new PathEvent(3, 0, 0.1));
        assertTrue(slow.paths().get(3).deliveredBytes() < BYTES / 16);
        TransferReport freed = run(roce(4), new PathEvent(3, 0, 0.1), PathEvent.up(3, 500_000));
        assertTrue(
                freed.paths().get(3).deliveredBytes() > 3 * slow.paths().get(3).deliveredBytes());
    }

    @Test
    void aFlapWithinTheRetriesLosesNothingAndThePathGoesOn() {
        TransferReport report = run(roce(2), PathEvent.down(0, 400_000), PathEvent.up(0, 900_000));
        assertTrue(report.complete());
        assertEquals(0, report.paths().get(0).flaps());
        assertTrue(report.paths().get(0).deliveredBytes() > BYTES / 5);
    }

    @Test
    void manyFlapsOfAllPathsLoseNothing() {
        long seed = 20_261_130;
        Random random = new Random(seed);
        List<PathSpec> paths = new ArrayList<>(roce(2));
        paths.add(PathSpec.hccs("hccs"));
        paths.add(PathSpec.pcie("pcie"));
        for (int round = 0; round < 20; round++) {
            List<PathEvent> events = new ArrayList<>();
            for (int i = 0; i < 24; i++) {
                double share = random.nextInt(3) == 0 ? 0 : random.nextDouble();
                events.add(new PathEvent(random.nextInt(4), random.nextInt(4_000_000), share));
            }
            IntStream.range(0, 4).forEach(path -> events.add(PathEvent.up(path, 5_000_000)));
            TransferReport report = run(paths, events.toArray(PathEvent[]::new));
            assertTrue(report.complete(), "seed " + seed + ", round " + round);
        }
    }

    @Test
    void aLinkThatComesBackIsUsedAgain() {
        List<PathSpec> paths = List.of(PathSpec.hccs("a"), PathSpec.hccs("b"));
        TransferReport report = run(paths, PathEvent.down(0, 100_000), PathEvent.up(0, 1_000_000));
        assertEquals(1, report.paths().get(0).flaps());
        assertTrue(report.paths().get(0).alive());
        assertTrue(report.paths().get(0).deliveredBytes() > BYTES / 4);
    }

    @Test
    void whenAllPathsAreLostTheTransferEndsWithWhatArrivedInOrder() {
        TransferReport report = run(roce(2), PathEvent.down(0, 1_000_000), PathEvent.down(1, 1_500_000));
        assertFalse(report.complete());
        assertTrue(report.deliveredBytes() > 0 && report.deliveredBytes() < BYTES);
        // The first sending and seven retries of 4.29 s each.
        assertEquals(1_500_000 + RoceSettings.DEFAULTS.giveUpNanos(), report.nanos(), 1);
    }

    @Test
    void theBytesThemselvesArriveUnchanged() {
        byte[] source = new byte[(9 << 20) + 17];
        new Random(7).nextBytes(source);
        byte[] target = new byte[source.length];
        TransferReport report = MultiPathTransfer.run(
                roce(4),
                source.length,
                List.of(PathEvent.down(1, 30_000), new PathEvent(2, 20_000, 0.05)),
                (offset, bytes) -> System.arraycopy(source, (int) offset, target, (int) offset, (int) bytes));
        assertTrue(report.complete());
        assertArrayEquals(source, target);
    }

    @Test
    void lossyPathsSendAgainUnderLoad() {
        List<PathSpec> paths = roce(4).stream().map(PathSpec::lossy).toList();
        assertEquals(0, run(paths).paths().getFirst().retransmissions());
        TransferReport loaded = run(paths, new PathEvent(0, 0, 0.1));
        assertTrue(loaded.complete());
        assertTrue(loaded.paths().getFirst().retransmissions() > 0);
    }

    @Test
    void theSameRunGivesTheSameReport() {
        PathEvent[] events = {new PathEvent(0, 100_000, 0.3), PathEvent.down(1, 200_000)};
        assertEquals(run(roce(3), events), run(roce(3), events));
    }

    @Test
    void badRequestsAreRefused() {
        DeliverySink none = (offset, bytes) -> {};
        assertThrows(AcceleratorException.class, () -> MultiPathTransfer.run(List.of(), 1, List.of(), none));
        assertThrows(AcceleratorException.class, () -> MultiPathTransfer.run(roce(5), 1, List.of(), none));
        assertThrows(AcceleratorException.class, () -> MultiPathTransfer.run(roce(1), 0, List.of(), none));
        assertThrows(
                AcceleratorException.class,
                () -> MultiPathTransfer.run(roce(1), 1, List.of(PathEvent.down(1, 0)), none));
    }
}

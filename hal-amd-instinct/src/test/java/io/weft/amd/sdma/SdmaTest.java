// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.sdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.amd.Nodes;
import io.weft.api.Buffer;
import io.weft.api.BufferView;
import io.weft.api.Capability;
import io.weft.api.CopyMethod;
import io.weft.api.Device;
import io.weft.api.ElementType;
import io.weft.api.MemoryKind;
import io.weft.api.Platform;
import io.weft.api.Priority;
import io.weft.api.Stream;
import io.weft.api.graph.Command;
import io.weft.api.graph.CommandGraph;
import io.weft.api.graph.Slot;
import io.weft.api.graph.Timeline;
import io.weft.sim.machine.CopyRules;
import io.weft.sim.machine.Machine;
import io.weft.sim.model.GraphEstimator;
import io.weft.spi.ChoiceTables;
import io.weft.spi.PerformanceModel.Detail;
import io.weft.spi.PerformanceModel.Issue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SdmaTest {
    private static final long LARGE = 256L << 20;
    private static final long MIB = 1L << 20;
    /** What published figures are met within. */
    private static final double PAIRS = 0.10;

    // The engine map.

    @Test
    void sevenPeersHaveSevenEnginesOfTheirOwn() {
        for (int from = 0; from < 8; from++) {
            Set<Integer> engines = new HashSet<>();
            for (int to = 0; to < 8; to++) {
                int engine = EngineMap.recommendedInMesh(from, to);
                if (from != to) {
                    assertTrue(engine >= 2 && engine <= 14 && engine % 2 == 0, "engine " + engine);
                    engines.add(engine);
                }
            }
            assertEquals(7, engines.size());
        }
    }

    @Test
    void theDriversOwnMapIsTheSame() throws IOException {
        Path file = Path.of("..", "..", "shared", "data", "amd", "kfd", "mi300x_recommended_sdma_engine_map.csv");
        assumeTrue(Files.exists(file), () -> "there is no " + file + " here");
        List<String> lines = Files.readAllLines(file);
        for (int from = 0; from < 8; from++) {
            String[] cells = lines.get(1 + from).split(",", -1);
            for (int to = 0; to < 8; to++) {
                assertEquals(Integer.parseInt(cells[1 + to]), EngineMap.recommendedInMesh(from, to));
            }
        }
    }

    @Test
    void onlyMasksOfOneBitAreFollowed() {
        assertEquals(14, EngineMap.ofMask(16384));
        assertEquals(EngineMap.NONE, EngineMap.ofMask(0xfc), "rocm-systems PR#11318");
        assertEquals(EngineMap.NONE, EngineMap.ofMask(0));
    }

    @Test
    void aMeshOfEightIsMappedAsRecommendedAndAnyOtherInOrder() {
        assertTrue(rules("mi300x-8", "").map().isRecommended());
        assertTrue(rules("mi355x-8", "").map().isRecommended());
        assertEquals(14, rules("mi300x-8", "").map().engine(0, 1));
        EngineMap inOrder =
                rules("mi300x-8", "HSA_ENABLE_SDMA_RECOMMENDED_ENG=0").map();
        assertEquals(
                List.of(false, 2, 8), List.of(inOrder.isRecommended(), inOrder.engine(0, 1), inOrder.engine(0, 7)));
        EngineMap three = rules("mi250x-8", "").map();
        assertEquals(
                List.of(2, 3, 4, 2),
                List.of(three.engine(0, 1), three.engine(0, 2), three.engine(0, 3), three.engine(0, 4)));
    }

    private static SdmaRules rules(String machine, String options) {
        return (SdmaRules) Nodes.machine(machine, options).copyRules();
    }

    // One engine drives one link.

    @Test
    void copiesToSevenPeersRunAtOnceOnSevenEngines() {
        Copies one = new Copies("mi300x-8", "").add(0, 1, 0, LARGE, CopyMethod.ENGINE);
        Copies seven = new Copies("mi300x-8", "");
        for (int peer = 1; peer < 8; peer++) {
            seven.add(0, peer, peer, LARGE, CopyMethod.ENGINE);
        }
        assertEquals(one.nanos(), seven.nanos(), 0.02 * one.nanos());
        assertEquals(7, seven.engines());
    }

    @Test
    void twoCopiesToOnePeerShareItsEngineAndHalve() {
        double one = new Copies("mi300x-8", "")
                .add(0, 1, 0, LARGE, CopyMethod.ENGINE)
                .nanos();
        Copies two = new Copies("mi300x-8", "")
                .add(0, 1, 0, LARGE, CopyMethod.ENGINE)
                .add(0, 1, 1, LARGE, CopyMethod.ENGINE);
        assertEquals(2 * one, two.nanos(), 0.02 * two.nanos());
        assertEquals(1, two.engines());
    }

    @Test
    void anEngineIsCappedNearFiftyWhereKernelsTakeAllLinksOfAPackage() {
        // AMD's blog on GPU-aware MPI: 49.4 GB/s by engine and 142 by kernel in a package; rocm-bandwidth-test has 152.
        assertEquals(49.4, rate("mi250x-8", "", 1, CopyMethod.ENGINE), PAIRS * 49.4);
        assertEquals(147, rate("mi250x-8", "", 1, CopyMethod.KERNEL), PAIRS * 147);
        // The same blog: 41 to 42 on one link, and the same over two hops.
        assertEquals(41.5, rate("mi250x-8", "", 6, CopyMethod.ENGINE), PAIRS * 41.5);
    }

    @Test
    void aGangOfEnginesTakesTheLinksOfAPackage() {
        assertEquals(150, rate("mi250x-8", "HSA_ENABLE_SDMA_GANG=1", 1, CopyMethod.ENGINE), 0.02 * 150);
        double single = rate("mi250x-8", "", 6, CopyMethod.ENGINE);
        assertEquals(single, rate("mi250x-8", "HSA_ENABLE_SDMA_GANG=1", 6, CopyMethod.ENGINE), 1e-9 * single);
        assertEquals(
                rate("mi300x-8", "", 1, CopyMethod.ENGINE),
                rate("mi300x-8", "HSA_ENABLE_SDMA_GANG=1", 1, CopyMethod.ENGINE),
                1e-9);
    }

    private static double rate(String machine, String options, int peer, CopyMethod method) {
        return LARGE
                / new Copies(machine, options).add(0, peer, 0, LARGE, method).nanos(0);
    }

    // Transfer modes.

    @ParameterizedTest
    @CsvSource({
        "'',                       1048576, false",
        "'',                       1048577, true",
        "ROC_P2P_SDMA_SIZE=64,       65536, false",
        "ROC_P2P_SDMA_SIZE=64,       65537, true",
        "ROC_P2P_SDMA_SIZE=0,            1, true",
        "HSA_ENABLE_PEER_SDMA=0, 268435456, false",
        "HSA_ENABLE_SDMA=0,      268435456, false",
        "sdma-engines=0,         268435456, false"
    })
    void aPeerCopyGoesByKernelUpToASizeAndByEngineAbove(String options, long bytes, boolean engine) {
        Copies copies = new Copies("mi300x-8", options).add(0, 3, 0, bytes, CopyMethod.AUTO);
        assertEquals(engine ? 1 : 0, copies.engines());
        assertEquals(engine, copies.computeUnitSeconds() == 0);
    }

    @Test
    void withoutEnginesTheSameDataArriveAndComputeUnitsAreTaken() {
        int bytes = (int) (2 * MIB);
        for (String uri : List.of("amd:mi300x-8", "amd:mi300x-8?HSA_ENABLE_SDMA=0", "amd:mi300x-8?sdma-engines=1")) {
            try (Platform platform = Nodes.open(uri)) {
                byte[] data = Nodes.random(bytes, 1);
                for (CopyMethod method : platform.has(Capability.COPY_ENGINES)
                        ? CopyMethod.values()
                        : new CopyMethod[] {CopyMethod.AUTO, CopyMethod.KERNEL}) {
                    Buffer from = platform.device(0).allocate(bytes);
                    Buffer to = platform.device(5).allocate(bytes);
                    Nodes.write(from, data);
                    Stream stream = platform.device(0).createStream();
                    stream.copy(to.vector(bytes, ElementType.INT8), from.vector(bytes, ElementType.INT8), method);
                    stream.synchronize();
                    assertArrayEquals(data, Nodes.read(to, bytes), uri + " " + method);
                }
            }
        }
        assertTrue(new Copies("mi300x-8", "HSA_ENABLE_SDMA=0")
                        .add(0, 5, 0, LARGE, CopyMethod.AUTO)
                        .computeUnitSeconds()
                > 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void devicesWithFewEnginesUseNoneThatTheyLack(int engines) {
        Machine machine = Nodes.machine("mi300x-8", "sdma-engines=" + engines);
        for (int peer = 1; peer < 8 && engines > 0; peer++) {
            int engine = machine.copyRules().engine(machine, 0, 0, peer);
            assertTrue(engine >= 0 && engine < engines, "rocm-systems PR#7053: engine " + engine + " of " + engines);
        }
        Copies all = new Copies(machine);
        for (int peer = 1; peer < 8; peer++) {
            all.add(0, peer, peer, LARGE, CopyMethod.AUTO);
        }
        // One after the other on one engine, two at a time on two, and one engine for peers of three; kernels have four
        // queues.
        int turns = engines == 0 ? 2 : engines == 2 ? 4 : 7;
        double one = new Copies(machine).add(0, 1, 1, LARGE, CopyMethod.AUTO).nanos();
        assertEquals(turns * one, all.nanos(), 0.05 * turns * one);
    }

    // The host.

    @ParameterizedTest
    @CsvSource({"mi250x-8, 0, 1", "mi300x-8, 1, 0", "mi100-8, 0, 1", "mi355x-8, 0, 1"})
    void eachDirectionOfTheHostHasItsEngineAndGfx94HasThemTheOtherWayRound(String name, int in, int out) {
        Machine machine = Nodes.machine(name, "");
        assertEquals(in, machine.copyRules().engine(machine, 0, CopyRules.HOST, 0));
        assertEquals(out, machine.copyRules().engine(machine, 0, 0, CopyRules.HOST));
    }

    @Test
    void hostCopiesReachThePublishedRates() {
        // rocm-bandwidth-test on MI300X: 57.3 GB/s in and 48.4 out.
        double[] found = hostNanos("amd:mi300x-8?mode=timing", true, false);
        assertEquals(57.3, LARGE / found[0], PAIRS * 57.3);
        found = hostNanos("amd:mi300x-8?mode=timing", false, true);
        assertEquals(48.4, LARGE / found[0], PAIRS * 48.4);
    }

    @Test
    void aDoubleBufferedPipelineRunsBothDirectionsAtOnceWithTwoHostEnginesAndInTurnsWithOne() {
        double in = pipeline("amd:mi300x-8?mode=timing", true, false);
        double out = pipeline("amd:mi300x-8?mode=timing", false, true);
        double both = pipeline("amd:mi300x-8?mode=timing", true, true);
        assertTrue(both < 1.15 * Math.max(in, out), in + " " + out + " " + both);
        double turns = pipeline("amd:mi300x-8?mode=timing&sdma-engines=1", true, true);
        assertTrue(turns > 0.95 * (in + out), in + " " + out + " " + turns);
    }

    /** Sixteen chunks from the host into two buffers in turn, and out of two others; ns. */
    private static double pipeline(String uri, boolean in, boolean out) {
        int chunks = 16;
        long bytes = 8 * MIB;
        try (Platform platform = Nodes.open(uri)) {
            Device device = platform.device(0);
            Stream[] streams = {device.createStream(), device.createStream()};
            Buffer host = device.allocate(MemoryKind.HOST_PINNED, 4 * bytes);
            Buffer[] buffers = new Buffer[4];
            for (int i = 0; i < 4; i++) {
                buffers[i] = device.allocate(bytes);
            }
            long start = platform.nanoTime();
            for (int chunk = 0; chunk < chunks; chunk++) {
                int half = chunk % 2;
                if (in) {
                    streams[0].copy(buffers[half].vector(bytes, ElementType.INT8), part(host, half * bytes, bytes));
                }
                if (out) {
                    streams[1].copy(
                            part(host, (2 + half) * bytes, bytes), buffers[2 + half].vector(bytes, ElementType.INT8));
                }
            }
            platform.synchronize();
            return (double) (platform.nanoTime() - start);
        }
    }

    private static BufferView part(Buffer buffer, long offset, long bytes) {
        return BufferView.vector(buffer, offset, bytes, ElementType.INT8);
    }

    private static double[] hostNanos(String uri, boolean in, boolean out) {
        try (Platform platform = Nodes.open(uri)) {
            Device device = platform.device(0);
            Stream stream = device.createStream();
            Buffer host = device.allocate(MemoryKind.HOST_PINNED, LARGE);
            Buffer there = device.allocate(LARGE);
            BufferView hostView = host.vector(LARGE, ElementType.INT8);
            BufferView view = there.vector(LARGE, ElementType.INT8);
            long start = platform.nanoTime();
            if (in) {
                stream.copy(view, hostView);
            }
            if (out) {
                stream.copy(hostView, view);
            }
            stream.synchronize();
            return new double[] {(double) (platform.nanoTime() - start)};
        }
    }

    @Test
    void smallHostCopiesGoByKernelWhereThatIsForced() {
        Machine machine = Nodes.machine("mi300x-8", "GPU_FORCE_BLIT_COPY_SIZE=16");
        CopyRules rules = machine.copyRules();
        assertEquals(false, rules.byEngine(machine, 0, CopyRules.HOST, 0, 16384, CopyMethod.AUTO));
        assertEquals(true, rules.byEngine(machine, 0, CopyRules.HOST, 0, 16385, CopyMethod.AUTO));
        assertEquals(true, rules.byEngine(machine, 0, CopyRules.HOST, 0, 1, CopyMethod.ENGINE));
    }

    @Test
    void smallCopiesInOneBatchCostTheHostLittleMoreThanOneInEitherMode() {
        int bytes = 4096;
        int copies = 64;
        for (String options : List.of("", "?HSA_ENABLE_SDMA=0")) {
            double[] nanos = new double[2];
            try (Platform platform = Nodes.open("amd:mi300x-8" + options)) {
                Device device = platform.device(0);
                Stream stream = device.createStream();
                Buffer host = device.allocate(MemoryKind.HOST_PINNED, (long) copies * bytes);
                byte[] data = Nodes.random(copies * bytes, 2);
                Nodes.write(host, data);
                for (int batch = 0; batch < 2; batch++) {
                    Buffer there = device.allocate((long) copies * bytes);
                    List<Command.Copy> all = new ArrayList<>();
                    for (int i = 0; i < copies; i++) {
                        all.add(new Command.Copy(
                                part(there, (long) i * bytes, bytes),
                                part(host, (long) i * bytes, bytes),
                                CopyMethod.AUTO));
                    }
                    stream.synchronize();
                    long start = platform.nanoTime();
                    if (batch == 0) {
                        all.forEach(stream::enqueue);
                    } else {
                        stream.copyAll(all);
                    }
                    nanos[batch] = (double) (platform.nanoTime() - start);
                    stream.synchronize();
                    assertArrayEquals(data, Nodes.read(there, copies * bytes), "rocm-systems PR#8447");
                }
            }
            // 64 calls of 5 us, or one and 63 more packets of 0.3 us; a kernel is launched each time.
            assertEquals(options.isEmpty() ? 320_000 : 160_000, nanos[0], 1_000, options);
            assertEquals(options.isEmpty() ? 5_000 + 63 * 300 : 160_000, nanos[1], 1_000, options);
        }
    }

    // Lines.

    @ParameterizedTest
    @CsvSource({"0, 0, 128, 128", "64, 0, 128, 256", "0, 127, 2, 256", "0, 0, 1, 128", "1, 1, 1048576, 1048704"})
    void engineMovesEveryLineThatACopyTouches(long from, long to, long bytes, long moved) {
        assertEquals(moved, rules("mi300x-8", "").moved(from, to, bytes));
    }

    // What is shown.

    @Test
    void theTablesSayWhoCarriesWhat() {
        try (Platform platform = Nodes.open("amd:mi300x-8?mode=timing")) {
            List<ChoiceTables.Table> tables =
                    platform.extension(ChoiceTables.class).orElseThrow().copies();
            assertEquals(2, tables.size());
            assertTrue(tables.getFirst().rows().stream()
                    .anyMatch(row ->
                            row.get(1).equals("up to 1048576 B") && row.get(2).equals("kernel")));
            assertTrue(tables.getFirst().rows().stream()
                    .anyMatch(row -> row.get(1).equals("above") && row.get(2).equals("engine 14")));
            assertEquals(
                    List.of("0", "-", "14", "12", "2", "4", "8", "10", "6"),
                    tables.get(1).rows().getFirst());
        }
        try (Platform platform = Nodes.open("amd:mi300x-8?mode=timing&HSA_ENABLE_SDMA=0")) {
            List<ChoiceTables.Table> tables =
                    platform.extension(ChoiceTables.class).orElseThrow().copies();
            assertEquals(1, tables.size());
            assertTrue(
                    tables.getFirst().rows().stream().allMatch(row -> row.get(2).equals("kernel")));
        }
    }

    /** Copies of one prediction. */
    private static final class Copies {
        private final Machine machine;
        private final CommandGraph.Builder graph;
        private Timeline timeline;

        Copies(String name, String options) {
            this(Nodes.machine(name, options));
        }

        Copies(Machine machine) {
            this.machine = machine;
            graph = CommandGraph.builder(machine.deviceCount());
        }

        Copies add(int from, int to, int lane, long bytes, CopyMethod method) {
            graph.add(
                    from, lane, Priority.NORMAL, new Command.Copy(view(to, bytes), view(from, bytes), method), "copy");
            return this;
        }

        private BufferView view(int device, long bytes) {
            Slot slot = graph.slot(device, "buffer", bytes, Slot.Role.COMMUNICATION);
            return BufferView.vector(slot, 0, bytes, ElementType.INT8);
        }

        private Timeline timeline() {
            if (timeline == null) {
                timeline = new GraphEstimator(machine).estimate(graph.build(), Issue.DEVICE_GRAPH, Detail.SUMMARY);
            }
            return timeline;
        }

        double nanos() {
            double first = Double.POSITIVE_INFINITY;
            for (int node = 0; node < timeline().graph().size(); node++) {
                first = Math.min(first, timeline().startNanos(node));
            }
            return timeline().makespanNanos() - first;
        }

        double nanos(int node) {
            return timeline().durationNanos(node);
        }

        long engines() {
            return timeline().resources().stream()
                    .filter(resource -> resource.kind() == Timeline.ResourceKind.COPY_ENGINE)
                    .count();
        }

        double computeUnitSeconds() {
            return timeline().resources().stream()
                    .filter(resource -> resource.kind() == Timeline.ResourceKind.COMPUTE && resource.device() == 0)
                    .mapToDouble(Timeline.Resource::units)
                    .sum();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.CollectiveKind;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MachineWriterTest {
    private static final long SEED = 5;

    static List<String> shipped() {
        return MachineCatalog.names();
    }

    private static void assertSame(Machine expected, Machine actual, String what) {
        assertEquals(expected.name(), actual.name(), what);
        assertEquals(expected.description(), actual.description(), what);
        assertEquals(expected.vendor(), actual.vendor(), what);
        assertEquals(expected.devices(), actual.devices(), what);
        assertEquals(expected.switches(), actual.switches(), what);
        assertEquals(expected.links(), actual.links(), what);
        assertEquals(expected.collectiveModels(), actual.collectiveModels(), what);
        assertEquals(expected.forwardingEfficiency(), actual.forwardingEfficiency(), what);
        assertEquals(expected.forwardingDuplexEfficiency(), actual.forwardingDuplexEfficiency(), what);
        assertEquals(expected.fixedRoutes(), actual.fixedRoutes(), what);
    }

    @ParameterizedTest
    @MethodSource("shipped")
    void everyShippedMachineIsReadBackToTheSameNumbers(String name) {
        Machine machine = MachineCatalog.open(name);
        String text = MachineWriter.write(machine);
        assertSame(machine, MachineReader.read("written.yaml", text), text);
    }

    @Test
    void numbersOfAnySizeAreReadBackBitByBit() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 2000; i++) {
            double unit = i % 3 == 0 ? 1 : i % 3 == 1 ? 1e9 : 1e12;
            double value = random.nextDouble() * Math.pow(10, random.nextInt(-3, 6)) * unit;
            double back = Double.parseDouble(MachineWriter.number(value, unit)) * unit;
            assertEquals(value, back, Math.ulp(value), "seed " + SEED + ", number " + i);
        }
        assertEquals("0.84", MachineWriter.number(0.84, 1));
        assertEquals("450", MachineWriter.number(450e9, 1e9));
        assertEquals("0", MachineWriter.number(0, 1));
    }

    @Test
    void unevenDevicesLinksAndNamesStayWhatTheyAre() {
        Machine eight = MachineCatalog.open("node-2x8");
        Machine.Builder builder =
                Machine.builder("odd: #1 \"quoted\"").forwardingEfficiency(0.9).forwardingDuplexEfficiency(0.8);
        for (int i = 0; i < 3; i++) {
            DeviceModel d = eight.device(0);
            builder.device(new DeviceModel(
                    i == 1 ? "yes" : d.name(),
                    d.architecture(),
                    i / 2,
                    i,
                    "0000:0" + i + ":00.0",
                    d.computeUnits(),
                    d.clockGhz() + i / 3.0,
                    d.gemm(),
                    d.memory(),
                    d.copyEngines(),
                    d.kernels(),
                    d.launch(),
                    d.hostLink(),
                    d.fp8(),
                    Map.of("note", "a: b # c")));
        }
        int hub = builder.switchNode("hub 1");
        LinkModel link = eight.links().getFirst();
        builder.link(between(link, 2, hub))
                .link(between(link, 0, hub))
                .link(between(link, hub, 1))
                .link(between(link, 0, 1));
        builder.route(0, hub, 2);
        eight.collectiveModels().forEach(builder::collective);
        CollectiveRange way = new CollectiveRange(0, 100, CollectiveAlgorithm.TREE, "ll: 1", 2, 1e3, 2.5, 4, 0.5);
        CollectiveRange other = new CollectiveRange(7, Long.MAX_VALUE, CollectiveAlgorithm.RING, "", 1, 3, 1, 8, 0.9);
        builder.collective(new CollectiveModel(Set.of(CollectiveKind.REDUCE), List.of(way, other), true));
        Machine machine = builder.build();
        String text = MachineWriter.write(
                machine, List.of("first", "two\nlines"), Map.of("devices[0].memory.efficiency", "said so"));
        assertSame(machine, MachineReader.read("written.yaml", text), text);
        assertTrue(text.startsWith("# first\n# two lines\n"), text);
        assertTrue(text.lines().anyMatch(line -> line.matches(" +efficiency: [0-9.]+ +# said so")), text);
    }

    private static LinkModel between(LinkModel like, int from, int to) {
        return new LinkModel(
                like.kind(),
                like.name(),
                from,
                to,
                like.bandwidth() / 3,
                like.bandwidth() / 7,
                like.efficiency(),
                0.8,
                like.latencyNanos(),
                like.width(),
                like.copyable(),
                like.addressable());
    }
}

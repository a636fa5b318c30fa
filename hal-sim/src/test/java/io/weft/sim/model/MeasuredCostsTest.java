// SPDX-License-Identifier: Apache-2.0
package io.weft.sim.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.weft.api.AcceleratorException;
import io.weft.api.BufferView;
import io.weft.api.ElementType;
import io.weft.api.Priority;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineCatalog;
import io.weft.sim.machine.MachineReader;
import io.weft.sim.machine.MachineWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Costs that measurements on GPUs have taught: nothing where a document does not name them. */
class MeasuredCostsTest {
    private static final String TEXT = MachineWriter.write(MachineCatalog.open("switch-8"));
    private static final long ROWS = 4096;
    private static final long COLUMNS = 4096;

    private static Machine machine(String key, double value) {
        String absent = key + ": 0\n";
        assertTrue(TEXT.contains(absent), () -> key + " is not in\n" + TEXT);
        return MachineReader.read("changed.yaml", TEXT.replace(absent, key + ": " + value + "\n"));
    }

    private static Machine plain() {
        return MachineReader.read("plain.yaml", TEXT);
    }

    private static double product(Machine machine, long m, long n, long k, boolean added) {
        GraphKit kit = GraphKit.on(machine);
        BufferView c = kit.matrix(0, m, n);
        BufferView a = kit.matrix(0, m, k);
        BufferView b = kit.matrix(0, k, n);
        Command command = added ? Command.Gemm.accumulate(c, a, b) : Command.Gemm.of(c, a, b);
        kit.builder.add(0, 0, Priority.NORMAL, command, "gemm");
        return kit.run().durationNanos(0);
    }

    private static double reduction(BufferView result, List<BufferView> inputs, GraphKit kit) {
        kit.builder.add(0, 0, Priority.NORMAL, new Command.Reduce(result, inputs, ReduceOp.SUM), "reduce");
        return kit.run().durationNanos(0);
    }

    private static double sum(Machine machine) {
        GraphKit kit = GraphKit.on(machine);
        return reduction(
                kit.matrix(0, ROWS, COLUMNS), List.of(kit.matrix(0, ROWS, COLUMNS), kit.matrix(0, ROWS, COLUMNS)), kit);
    }

    private static double sumIntoColumns(Machine machine) {
        GraphKit kit = GraphKit.on(machine);
        return reduction(
                kit.matrix(0, ROWS, 2 * COLUMNS).columnRange(0, COLUMNS),
                List.of(kit.matrix(0, ROWS, COLUMNS), kit.matrix(0, ROWS, COLUMNS)),
                kit);
    }

    private static double rounding(Machine machine) {
        GraphKit kit = GraphKit.on(machine);
        BufferView sums = BufferView.matrix(kit.slot(0, ROWS * COLUMNS * 4), 0, ROWS, COLUMNS, ElementType.FP32);
        return reduction(kit.matrix(0, ROWS, COLUMNS), List.of(sums), kit);
    }

    @Test
    void aProductThatAddsToWhatIsThereReadsItAtTheEndOfEachTile() {
        double before = product(plain(), ROWS, COLUMNS, 8192, false);
        assertEquals(before, product(plain(), ROWS, COLUMNS, 8192, true), 1e-6 * before);
        Machine slow = machine("accumulate_ns_per_kib", 80);
        assertEquals(before, product(slow, ROWS, COLUMNS, 8192, false), 1e-6 * before);
        double once = product(slow, ROWS, COLUMNS, 8192, true) - before;
        double twice = product(machine("accumulate_ns_per_kib", 160), ROWS, COLUMNS, 8192, true) - before;
        // At least what the units need together; more where the last wave is not full.
        double least = ROWS * COLUMNS * 2 / 1024.0 * 80 / slow.device(0).computeUnits();
        assertTrue(once >= 0.99 * least && once < 2 * least, () -> once + " ns more, at least " + least);
        assertEquals(2 * once, twice, 0.02 * twice);
    }

    @Test
    void partialSumsThatAreNotHiddenComeAfterTheProduct() {
        double hidden = product(plain(), 256, 256, 16384, false);
        double half = product(machine("split_k_exposed", 0.5), 256, 256, 16384, false);
        double exposed = product(machine("split_k_exposed", 1), 256, 256, 16384, false);
        assertTrue(hidden < half && half < exposed, () -> hidden + ", " + half + ", " + exposed);
        double whole = product(plain(), 8192, 8192, 8192, false);
        assertEquals(whole, product(machine("split_k_exposed", 1), 8192, 8192, 8192, false), 1e-6 * whole);
    }

    @Test
    void aSumThatIsRoundedReadsTwiceAsManyBytesAsItWrites() {
        // Two halves in and one out are as many bytes as one of fp32 in and a half out.
        assertEquals(sum(plain()), rounding(plain()), 1e-6 * rounding(plain()));
        assertEquals(sum(plain()), sumIntoColumns(plain()), 1e-6 * sum(plain()));
    }

    @Test
    void reductionsThatGoElementByElementTakeTheirTimeForEach() {
        Machine slow = machine("element_ns", 1);
        assertEquals(sum(plain()), sum(slow), 1e-6 * sum(slow));
        int units = slow.device(0).kernels().maxUnits();
        double start = slow.device(0).kernels().startNanos();
        assertEquals(2.0 * ROWS * COLUMNS / units + start, rounding(slow), 1e-3 * rounding(slow));
        assertEquals(3.0 * ROWS * COLUMNS / units + start, sumIntoColumns(slow), 1e-3 * sumIntoColumns(slow));
    }

    @Test
    void aShareAboveOneIsRefusedWithWhatIsAccepted() {
        AcceleratorException refusal = assertThrows(AcceleratorException.class, () -> machine("split_k_exposed", 1.5));
        assertTrue(refusal.getMessage().contains("from 0 to 1"), refusal::getMessage);
    }
}

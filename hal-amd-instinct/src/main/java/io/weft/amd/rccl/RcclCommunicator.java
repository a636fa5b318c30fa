// SPDX-License-Identifier: Apache-2.0
package io.weft.amd.rccl;

import io.weft.api.AcceleratorException;
import io.weft.api.CollectiveKind;
import io.weft.api.CommunicatorOptions;
import io.weft.api.ElementType;
import io.weft.api.ErrorCode;
import io.weft.api.ReduceOp;
import io.weft.api.graph.Command;
import io.weft.sim.machine.Machine;
import io.weft.spi.CollectiveDriver;
import io.weft.spi.CommunicatorDriver;
import io.weft.spi.DeviceDriver;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A communicator with RCCL's refusals.
 *
 * <p>RCCL has one type for each 8-bit float, and the chip decides what its bytes mean: FNUZ on gfx942, OCP on gfx950. A job over both computes wrong numbers without a word, so
 * 8-bit floats are refused on a communicator whose members differ, and so are reductions in the encoding that the chip has not. Data in it may be moved.
 */
final class RcclCommunicator implements CommunicatorDriver {
    private final CommunicatorDriver simulator;
    private final Machine machine;
    private final int size;
    private final Set<String> encodings;

    RcclCommunicator(CommunicatorDriver simulator, Machine machine, int size, Set<String> encodings) {
        this.simulator = simulator;
        this.machine = machine;
        this.size = size;
        this.encodings = new TreeSet<>(encodings);
    }

    /** What a device's 8-bit floats are: fnuz, ocp or none. */
    static String encoding(DeviceDriver device) {
        return device.properties().extra().getOrDefault("fp8", "none");
    }

    @Override
    public void enqueue(List<CollectiveDriver.Part> group) {
        List<Command.Collective> small = group.stream()
                .map(CollectiveDriver.Part::command)
                .filter(command -> command.type() != null && command.type().isFp8())
                .toList();
        if (!small.isEmpty()) {
            requireOneEncoding(small.getFirst());
            requireOwnEncoding(small);
        }
        RcclResults.run("collective", () -> simulator.enqueue(group));
    }

    private void requireOneEncoding(Command.Collective command) {
        if (encodings.size() > 1) {
            throw refusal(
                    command,
                    "members of this communicator read 8-bit floats differently (" + String.join(", ", encodings)
                            + "), as the byte 0x38, which is 0.5 for FNUZ and 1.0 for OCP");
        }
    }

    /** Parts of one group that differ in the encoding are told as what they are, ranks that disagree, by whoever matches them. */
    private void requireOwnEncoding(List<Command.Collective> small) {
        String own = encodings.iterator().next();
        boolean foreign = small.stream()
                .allMatch(command ->
                        command.kind().reduces() && !own.equals("none") && !own.equals(encoding(command.type())));
        if (foreign) {
            throw refusal(
                    small.getFirst(),
                    "RCCL has one type for each 8-bit float, and on this chip it is " + own
                            + "; it would add other numbers than these bytes mean");
        }
    }

    private static String encoding(ElementType type) {
        boolean fnuz = type == ElementType.FP8_E4M3_FNUZ || type == ElementType.FP8_E5M2_FNUZ;
        return fnuz ? "fnuz" : "ocp";
    }

    private static AcceleratorException refusal(Command.Collective command, String why) {
        return new AcceleratorException(
                ErrorCode.UNSUPPORTED,
                "collective",
                command.kind() + " of " + command.type() + ": " + why,
                "convert to another type first",
                RcclResult.INVALID_ARGUMENT.word(),
                null);
    }

    @Override
    public Map<Integer, Membership> split(Map<Integer, Integer> colors, Map<Integer, Integer> keys) {
        return split(colors, keys, null);
    }

    @Override
    public Map<Integer, Membership> split(
            Map<Integer, Integer> colors, Map<Integer, Integer> keys, CommunicatorOptions options) {
        Map<CommunicatorDriver, RcclCommunicator> made = new LinkedHashMap<>();
        Map<Integer, Membership> result = new LinkedHashMap<>();
        RcclResults.of("split", () -> simulator.split(colors, keys, options))
                .forEach((oldRank, membership) -> result.put(
                        oldRank,
                        new Membership(
                                made.computeIfAbsent(
                                        membership.communicator(),
                                        inner -> new RcclCommunicator(inner, machine, membership.size(), encodings)),
                                membership.rank(),
                                membership.size())));
        return result;
    }

    @Override
    public boolean isReady() {
        return RcclResults.of("ready", simulator::isReady);
    }

    @Override
    public void finish() {
        RcclResults.run("finish", simulator::finish);
    }

    @Override
    public String describe(CollectiveKind kind, ReduceOp op, ElementType type, long bytes) {
        return RcclTables.choice(machine, kind, size, bytes);
    }

    @Override
    public Optional<AcceleratorException> asyncError() {
        return simulator.asyncError().map(failure -> RcclResults.said("collective", failure));
    }

    @Override
    public void abort() {
        simulator.abort();
    }

    @Override
    public void close() {
        simulator.close();
    }
}

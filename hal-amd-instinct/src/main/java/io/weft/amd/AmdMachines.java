// SPDX-License-Identifier: Apache-2.0
package io.weft.amd;

import io.weft.amd.setting.AmdSettings;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineReader;
import io.weft.spi.Target;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** The machines that ship with this plugin, as commented documents. */
final class AmdMachines {
    private static final List<Target> TARGETS = List.of(
            new Target("mi100-8", "8 MI100 in two hives of 4"),
            new Target("mi250x-8", "8 dies of 4 MI250X, numbered as in AMD's guide"),
            new Target("mi250x-8-frontier", "8 dies of 4 MI250X, numbered as on Frontier"),
            new Target("mi300a-4", "4 MI300A in a full mesh"),
            new Target("mi300x-8", "8 MI300X in a full mesh"),
            new Target("mi325x-8", "8 MI325X in a full mesh"),
            new Target("mi355x-8", "8 MI355X in a full mesh"));

    private AmdMachines() {}

    /** What can be opened, in a stable order. */
    static List<Target> targets() {
        return TARGETS;
    }

    /** A machine as AMD's runtimes use it, by its target's name; empty when there is none of that name. */
    static Optional<Machine> find(String name) {
        return document(name).map(machine -> NodeModel.of(machine, AmdSettings.none()));
    }

    /** A machine as its document has it, by its target's name; empty when there is none of that name. */
    static Optional<Machine> document(String name) {
        return TARGETS.stream().anyMatch(target -> target.name().equals(name))
                ? Optional.of(MachineReader.read(name + ".yaml", text(name)))
                : Optional.empty();
    }

    private static String text(String name) {
        String resource = "/io/weft/amd/machines/" + name + ".yaml";
        try (InputStream in = AmdMachines.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is not in the module");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend;

import io.weft.api.AcceleratorException;
import io.weft.api.ErrorCode;
import io.weft.ascend.topology.AscendGraph;
import io.weft.ascend.topology.Generation;
import io.weft.ascend.topology.SuperDeviceId;
import io.weft.sim.machine.Machine;
import io.weft.sim.machine.MachineReader;
import io.weft.spi.Target;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The machines that ship with this plugin: servers as commented documents, clusters of them by number. */
final class AscendMachines {
    private static final String CLUSTER = "a2-cluster=";
    private static final int POD_SERVERS = 48;
    private static final int MOST_SERVERS = 512;

    private static final List<Target> DOCUMENTS = List.of(
            new Target("910a-8", "8 Ascend 910A in two HCCS groups of four (Atlas 800)"),
            new Target("atlas-800t-a2", "8 Ascend 910B3 in a full HCCS mesh"),
            new Target("a3-16", "8 Ascend 910C, 16 dies, on HCCS switches"));

    private static final List<Target> TARGETS;

    static {
        List<Target> all = new ArrayList<>(DOCUMENTS);
        all.add(new Target("cloudmatrix-384", "48 servers of 8 Ascend 910C, 768 dies, in one super pod"));
        all.add(new Target("a2-cluster=SERVERS", "so many servers of 8 Ascend 910B3, joined by RoCE"));
        TARGETS = List.copyOf(all);
    }

    private AscendMachines() {}

    /** What can be opened, in a stable order. */
    static List<Target> targets() {
        return TARGETS;
    }

    /** A machine by its target's name; empty when there is none of that name. */
    static Optional<Machine> find(String name) {
        if (name.equals("cloudmatrix-384")) {
            return Optional.of(MachineOfGraph.machine(
                    pod(), name, "48 servers of 8 Ascend 910C (768 dies) in one super pod (links +-10 %)"));
        }
        if (name.startsWith(CLUSTER)) {
            int servers = servers(name.substring(CLUSTER.length()));
            return Optional.of(MachineOfGraph.machine(
                    cluster(servers), name, servers + " servers of 8 Ascend 910B3, joined by RoCE (links +-10 %)"));
        }
        return DOCUMENTS.stream().anyMatch(target -> target.name().equals(name))
                ? Optional.of(document(name))
                : Optional.empty();
    }

    /** The shipped server of a family. */
    static Optional<Machine> of(Generation generation) {
        return switch (generation) {
            case ATLAS_800 -> Optional.of(document("910a-8"));
            case A2, UNKNOWN -> Optional.of(document("atlas-800t-a2"));
            case A3 -> Optional.of(document("a3-16"));
            case A5 -> Optional.empty();
        };
    }

    private static int servers(String text) {
        if (text.matches("\\d{1,4}")) {
            int servers = Integer.parseInt(text);
            if (servers >= 1 && servers <= MOST_SERVERS) {
                return servers;
            }
        }
        throw new AcceleratorException(
                ErrorCode.NOT_FOUND,
                "machine",
                CLUSTER + text + " names no cluster; accepted is " + CLUSTER + "1 to " + CLUSTER + MOST_SERVERS);
    }

    private static AscendGraph pod() {
        List<AscendGraph.Npu> npus = new ArrayList<>();
        for (int server = 0; server < POD_SERVERS; server++) {
            for (int device = 0; device < 16; device++) {
                npus.add(npu(
                        npus.size(),
                        server,
                        device,
                        "pod",
                        Optional.of(new SuperDeviceId(server, device / 2, device % 2, device))));
            }
        }
        return new AscendGraph(Generation.A3, npus, true, Map.of(), List.of(), List.of());
    }

    private static AscendGraph cluster(int servers) {
        List<AscendGraph.Npu> npus = new ArrayList<>();
        for (int server = 0; server < servers; server++) {
            for (int device = 0; device < 8; device++) {
                npus.add(npu(npus.size(), server, device, "", Optional.empty()));
            }
        }
        return new AscendGraph(Generation.A2, npus, true, Map.of(), List.of(), List.of());
    }

    private static AscendGraph.Npu npu(
            int ordinal, int server, int device, String pod, Optional<SuperDeviceId> superDevice) {
        return new AscendGraph.Npu(
                ordinal, device, server, "", pod, superDevice, "", "", "", -1, "", -1, -1, List.of());
    }

    private static Machine document(String name) {
        return MachineReader.read(name + ".yaml", text(name));
    }

    private static String text(String name) {
        String resource = "/io/weft/ascend/machines/" + name + ".yaml";
        try (InputStream in = AscendMachines.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is not in the module");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A rank table: which ranks run on which devices of which servers. Immutable.
 *
 * @param version {@code 1.0}, {@code 1.2} or {@code 2.0}; {@code legacy} for the form with groups, which states none
 * @param status {@code completed} or {@code initializing}
 * @param statedServers what {@code server_count} says, -1 when it says nothing
 * @param statedRanks what {@code rank_count} or {@code device_count} says, -1 when it says nothing
 * @param servers in the order of the file
 * @param superPods super pods and their servers as the file lists them; empty when it lists none
 */
public record RankTable(
        String version,
        String status,
        int statedServers,
        int statedRanks,
        List<Server> servers,
        List<SuperPod> superPods) {
    public RankTable {
        servers = List.copyOf(servers);
        superPods = List.copyOf(superPods);
    }

    /**
     * A server.
     *
     * @param id its name in the table
     * @param hostIp address of its host, empty when not stated
     * @param devices in the order of the file
     */
    public record Server(String id, String hostIp, List<Device> devices) {
        public Server {
            devices = List.copyOf(devices);
        }
    }

    /**
     * A device and the rank that runs on it.
     *
     * @param rank the rank, -1 where the form states none
     * @param device its number on the server
     * @param ip address of its network card, empty when not stated
     * @param port {@code device_port}, -1 when not stated
     * @param superDevice packed identifier in the super pod, -1 when not stated
     * @param levels networks that it is in, of version 2.0
     */
    public record Device(int rank, int device, String ip, int port, long superDevice, List<Level> levels) {
        public Device {
            levels = List.copyOf(levels);
        }
    }

    /**
     * A network of version 2.0.
     *
     * @param layer 0 for the nearest
     * @param instance devices with the same one are joined at this layer
     * @param type {@code TOPO_FILE_DESC} or {@code CLOS}
     * @param unifiedBus whether its addresses are of the unified bus, and not of IP
     */
    public record Level(int layer, String instance, String type, boolean unifiedBus) {}

    /** A super pod and its servers' names. */
    public record SuperPod(String id, List<String> servers) {
        public SuperPod {
            servers = List.copyOf(servers);
        }
    }

    /** A device with its server's place in {@link #servers()}. */
    public record Placed(int server, Device device) {}

    /** Every device by rank; by place in the file where ranks are not stated. */
    public List<Placed> byRank() {
        List<Placed> placed = new ArrayList<>();
        for (int s = 0; s < servers.size(); s++) {
            for (Device device : servers.get(s).devices()) {
                placed.add(new Placed(s, device));
            }
        }
        placed.sort(Comparator.comparingInt(entry -> entry.device().rank()));
        return placed;
    }

    /** Number of devices. */
    public int size() {
        return servers.stream().mapToInt(server -> server.devices().size()).sum();
    }

    /** Whether the operator has filled it in. */
    public boolean isComplete() {
        return status.equals("completed");
    }

    /** The super pod of a server; empty when none lists it. */
    public String superPod(String server) {
        return superPods.stream()
                .filter(pod -> pod.servers().contains(server))
                .map(SuperPod::id)
                .findFirst()
                .orElse("");
    }
}

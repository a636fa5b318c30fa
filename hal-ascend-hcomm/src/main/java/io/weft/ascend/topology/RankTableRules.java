// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.api.Finding;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a table must hold to before a communicator can be made of it. Each fault is one finding of severity PROBLEM that names server, device and rank. */
public final class RankTableRules {
    /** The name of the check. */
    public static final String CHECK = "rank-table";

    private static final String SOURCE = "HCCL documentation, cluster information file; MindCluster rank tables";
    private static final int MOST_SERVER_ID = 64;
    private static final int MOST_PORT = 65_535;
    /** Servers of one super pod. */
    private static final int MOST_POD_SERVERS = 48;

    private final RankTable table;
    private final List<Finding> findings = new ArrayList<>();

    private RankTableRules(RankTable table) {
        this.table = table;
    }

    /** Every fault, in the order of the table; none when it may be used. */
    public static List<Finding> check(RankTable table) {
        RankTableRules rules = new RankTableRules(table);
        if (!table.isComplete()) {
            rules.problem(
                    "status is 'initializing': the operator has not filled the table in",
                    "A job that starts now reads half a cluster; launchers look again until it says 'completed'.",
                    "Wait, and look at the operator's log when it stays so.");
            return List.copyOf(rules.findings);
        }
        rules.servers();
        rules.ranks();
        rules.addresses();
        rules.superPods();
        rules.groups();
        return List.copyOf(rules.findings);
    }

    private void problem(String seen, String why, String fix) {
        findings.add(new Finding(Finding.Severity.PROBLEM, CHECK, seen, why, SOURCE, fix));
    }

    private void servers() {
        Set<String> seen = new HashSet<>();
        for (RankTable.Server server : table.servers()) {
            if (server.id().isEmpty() || server.id().length() > MOST_SERVER_ID) {
                problem(
                        "server_id '" + server.id() + "' has " + server.id().length() + " characters",
                        "Names are 1 to " + MOST_SERVER_ID + " characters long.",
                        "Use the host's address.");
            }
            if (!seen.add(server.id())) {
                problem(
                        "server_id '" + server.id() + "' stands twice",
                        "Devices of one name are taken for one server, joined by its fabric.",
                        "List each server once, with all of its devices.");
            }
            if (server.devices().isEmpty()) {
                problem("server '" + server.id() + "' has no device", "", "Leave it out, or name its devices.");
            }
            Set<Integer> devices = new HashSet<>();
            for (RankTable.Device device : server.devices()) {
                if (!devices.add(device.device())) {
                    problem(
                            "device_id " + device.device() + " stands twice on server '" + server.id() + "'",
                            "Two ranks would share one device; the second fails to initialise (EJ0001).",
                            "Give each rank a device of its own.");
                }
            }
        }
        if (table.statedServers() >= 0
                && table.statedServers() != table.servers().size()) {
            problem(
                    "server_count is " + table.statedServers() + " and "
                            + table.servers().size() + " are listed",
                    "HCCL refuses the table (EI0004, EI0014).",
                    "Make them agree.");
        }
        if (table.statedRanks() >= 0 && table.statedRanks() != table.size()) {
            problem(
                    (table.version().equals("2.0") ? "rank_count" : "device_count") + " is " + table.statedRanks()
                            + " and " + table.size() + " are listed",
                    "HCCL refuses the table (EI0004, EI0014).",
                    "Make them agree.");
        }
    }

    private void ranks() {
        Map<Integer, String> places = new HashMap<>();
        int size = table.size();
        for (RankTable.Server server : table.servers()) {
            int least = Integer.MAX_VALUE;
            int most = -1;
            for (RankTable.Device device : server.devices()) {
                String place = "device " + device.device() + " of server '" + server.id() + "'";
                String other = places.putIfAbsent(device.rank(), place);
                if (other != null) {
                    problem(
                            "rank_id " + device.rank() + " is given to " + other + " and to " + place,
                            "A rank runs on one device.",
                            "Number the ranks 0 to " + (size - 1) + ", each once.");
                }
                least = Math.min(least, device.rank());
                most = Math.max(most, device.rank());
            }
            int own = server.devices().size();
            if (own > 0 && most - least + 1 != own) {
                problem(
                        "ranks of server '" + server.id() + "' lie from " + least + " to " + most + ", and it has "
                                + own + " devices: they are interleaved with another server's",
                        "Ranks of one server must follow one another; hierarchical algorithms take neighbours in rank "
                                + "for neighbours in place.",
                        "Number server by server.");
            }
        }
        for (int rank = 0; rank < size; rank++) {
            if (!places.containsKey(rank)) {
                problem(
                        "rank_id " + rank + " is missing; there are " + size + " devices",
                        "Ranks run from 0 without a gap.",
                        "Number the ranks 0 to " + (size - 1) + ", each once.");
                break;
            }
        }
    }

    private void addresses() {
        boolean several = table.servers().size() > 1;
        Map<String, String> places = new HashMap<>();
        for (RankTable.Server server : table.servers()) {
            for (RankTable.Device device : server.devices()) {
                String place = "device " + device.device() + " of server '" + server.id() + "'";
                if (several && device.ip().isEmpty() && !table.version().equals("2.0")) {
                    problem(
                            place + " has no device_ip, and there are "
                                    + table.servers().size() + " servers",
                            "Ranks of other servers cannot reach it.",
                            "Set its address with hccn_tool, and write it here.");
                }
                if (!device.ip().isEmpty()) {
                    String other = places.putIfAbsent(device.ip(), place);
                    if (other != null) {
                        problem(
                                "device_ip " + device.ip() + " is given to " + other + " and to " + place,
                                "Connections to one of them end at the other.",
                                "Give each network card an address of its own.");
                    }
                }
                if (device.port() == 0 || device.port() > MOST_PORT) {
                    problem(
                            "device_port " + device.port() + " of " + place + " is no port",
                            "Ports are 1 to " + MOST_PORT + "; a base plus the device's number can run past the end "
                                    + "(vllm-project/vllm-ascend PR 12318).",
                            "Choose a lower base.");
                }
            }
        }
    }

    private void superPods() {
        if (!table.version().equals("1.2")) {
            return;
        }
        Set<Long> seen = new HashSet<>();
        Map<String, String> podOf = new HashMap<>();
        for (RankTable.SuperPod pod : table.superPods()) {
            if (pod.servers().size() > MOST_POD_SERVERS) {
                problem(
                        "super pod '" + pod.id() + "' lists " + pod.servers().size() + " servers",
                        "A super pod has " + MOST_POD_SERVERS + " at most.",
                        "Split it.");
            }
            for (String server : pod.servers()) {
                String other = podOf.putIfAbsent(server, pod.id());
                if (other != null) {
                    problem(
                            "server '" + server + "' is in super pods '" + other + "' and '" + pod.id() + "'",
                            "",
                            "List it in one.");
                }
                if (table.servers().stream().noneMatch(known -> known.id().equals(server))) {
                    problem(
                            "super pod '" + pod.id() + "' lists server '" + server + "', which has no devices",
                            "",
                            "Leave it out, or add it to server_list.");
                }
            }
        }
        for (RankTable.Server server : table.servers()) {
            String pod = table.superPod(server.id());
            if (pod.isEmpty() && table.servers().size() > 1) {
                problem(
                        "server '" + server.id() + "' is in no super pod",
                        "Its dies cannot tell which peers the fabric reaches.",
                        "List it in super_pod_list.");
            }
            int number = -1;
            for (RankTable.Device device : server.devices()) {
                String place = "device " + device.device() + " of server '" + server.id() + "'";
                if (device.superDevice() < 0) {
                    problem(
                            place + " has no super_device_id",
                            "Version 1.2 addresses dies by it.",
                            "Take it from npu-smi info -t spod-info.");
                    continue;
                }
                // Examples in documents number from 0 in each pod; only packed numbers can be taken apart.
                SuperDeviceId id = SuperDeviceId.of(device.superDevice());
                boolean packed = device.superDevice() > 0xffff;
                if (packed && (!id.isConsistent() || id.device() != device.device())) {
                    problem(
                            "super_device_id " + device.superDevice() + " of " + place + " stands for server "
                                    + id.server() + ", chip " + id.chip() + ", die " + id.die() + ", device "
                                    + id.device(),
                            "The device's number must be the same, chip its half and die its remainder.",
                            "Take it from npu-smi info -t spod-info.");
                } else if (packed && number >= 0 && id.server() != number) {
                    problem(
                            "super_device_id of " + place + " is of server " + id.server()
                                    + ", others of the same are of " + number,
                            "All dies of one server carry its number.",
                            "Take it from npu-smi info -t spod-info.");
                }
                number = packed && number < 0 ? id.server() : number;
                long key = (long) Math.max(
                                        0,
                                        table.superPods().stream()
                                                .map(RankTable.SuperPod::id)
                                                .toList()
                                                .indexOf(pod))
                                << 32
                        | device.superDevice();
                if (!seen.add(key)) {
                    problem(
                            "super_device_id " + device.superDevice() + " of " + place
                                    + " stands twice in its super pod",
                            "",
                            "Take it from npu-smi info -t spod-info.");
                }
            }
        }
    }

    /** On 910A servers, groups of two and four must stay within one half. */
    private void groups() {
        if (!table.version().equals("legacy")) {
            return;
        }
        for (RankTable.Server server : table.servers()) {
            int size = server.devices().size();
            long low = server.devices().stream()
                    .filter(device -> device.device() < 4)
                    .count();
            if (size != 1 && size != 2 && size != 4 && size != 8) {
                problem(
                        "server '" + server.id() + "' has " + size + " devices",
                        "A 910A server takes part with 1, 2, 4 or 8.",
                        "Use one of these.");
            } else if (size <= 4 && low != 0 && low != size) {
                problem(
                        size + " devices of server '" + server.id() + "' lie in both halves (0-3 and 4-7)",
                        "The fabric of a 910A server joins four; groups of 2 and 4 must stay within one half.",
                        "Take devices 0-3 or 4-7.");
            }
        }
    }
}

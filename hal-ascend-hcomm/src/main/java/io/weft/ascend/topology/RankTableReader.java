// SPDX-License-Identifier: Apache-2.0
package io.weft.ascend.topology;

import io.weft.api.AcceleratorException;
import io.weft.ascend.topology.RankTable.Device;
import io.weft.ascend.topology.RankTable.Level;
import io.weft.ascend.topology.RankTable.Server;
import io.weft.ascend.topology.RankTable.SuperPod;
import io.weft.spi.input.ToolText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * Reads rank tables: versions 1.0, 1.2 and 2.0, and the older form with groups that has no version. Keys that it does not know are passed over, as tools add their own; numbers are taken as numbers or as strings.
 * Whether a table that can be read may be used is for {@link RankTableRules}.
 */
public final class RankTableReader {
    static final String ACCEPTED =
            "a rank table of version 1.0, 1.2 or 2.0: JSON with server_list, group_list or rank_list";

    /** Most devices of a table: more than any cluster of these has. */
    static final int MOST_DEVICES = 65_536;

    /** ms between two looks at a table that is not filled in yet. */
    static final long POLL_MILLIS = 500;

    private static final int MOST_RANK = Integer.MAX_VALUE - 1;

    private RankTableReader() {}

    /**
     * Reads a table as it is, whatever its status.
     *
     * @throws AcceleratorException BAD_DOCUMENT that names file, place, what was found and what was expected
     */
    public static RankTable read(Path file) {
        JsonPlace root = JsonPlace.read(file, ACCEPTED);
        RankTable table;
        if (root.has("rank_list")) {
            table = ofRanks(root);
        } else if (root.has("group_list")) {
            table = ofGroups(root);
        } else if (root.has("server_list")) {
            table = ofServers(root);
        } else if (isEmptyWhileInitializing(root)) {
            table = new RankTable(root.text("version", "1.0"), "initializing", -1, -1, List.of(), List.of());
        } else {
            throw ToolText.refused(file, "has none of server_list, group_list and rank_list; accepted is " + ACCEPTED);
        }
        if (table.isComplete() && table.size() == 0) {
            throw ToolText.refused(file, "names no device; accepted is " + ACCEPTED);
        }
        return table;
    }

    /**
     * Waits until the operator has filled a table in.
     *
     * @param timeoutMillis ms to wait at most
     * @param pause waits for so many ms
     * @throws AcceleratorException BAD_DOCUMENT as {@link #read}, and when it is still initializing then
     */
    public static RankTable await(Path file, long timeoutMillis, LongConsumer pause) {
        long waited = 0;
        while (true) {
            RankTable table = read(file);
            if (table.isComplete()) {
                return table;
            }
            if (waited >= timeoutMillis) {
                throw ToolText.refused(
                        file,
                        "status is still 'initializing' after " + timeoutMillis + " ms; accepted is 'completed', which "
                                + "the cluster's operator writes once every device has reported");
            }
            pause.accept(POLL_MILLIS);
            waited += POLL_MILLIS;
        }
    }

    private static boolean isEmptyWhileInitializing(JsonPlace root) {
        return root.has("status") && root.text("status").equals("initializing");
    }

    private static String status(JsonPlace root) {
        String status = root.text("status", "completed");
        if (!status.equals("completed") && !status.equals("initializing")) {
            throw root.at("status").refused("completed or initializing");
        }
        return status;
    }

    private static void checkSize(JsonPlace root, int devices) {
        if (devices > MOST_DEVICES) {
            throw ToolText.refused(
                    root.file(), "names more than " + MOST_DEVICES + " devices, which no cluster of these has");
        }
    }

    // Versions 1.0 and 1.2.

    private static RankTable ofServers(JsonPlace root) {
        String version = root.text("version", "1.0");
        if (!version.equals("1.0") && !version.equals("1.2")) {
            throw root.at("version").refused("1.0 or 1.2 beside server_list");
        }
        List<Server> servers = new ArrayList<>();
        int devices = 0;
        for (JsonPlace server : root.objects("server_list")) {
            if (server.has("tor_id")) {
                throw ToolText.refused(
                        root.file(),
                        server.path() + " has a tor_id: this is a table of switches, which goes to --tor-table; "
                                + "accepted is " + ACCEPTED);
            }
            List<Device> own = new ArrayList<>();
            for (JsonPlace device : server.objects("device")) {
                own.add(device(device, device.has("rank_id") ? "rank_id" : null));
            }
            devices += own.size();
            checkSize(root, devices);
            servers.add(new Server(server.text("server_id"), server.text("host_ip", ""), own));
        }
        List<SuperPod> pods = new ArrayList<>();
        if (root.has("super_pod_list")) {
            for (JsonPlace pod : root.objects("super_pod_list")) {
                List<String> names = new ArrayList<>();
                for (JsonPlace server : pod.objects("server_list")) {
                    names.add(server.text("server_id"));
                }
                pods.add(new SuperPod(pod.text("super_pod_id"), names));
            }
        }
        return new RankTable(
                version, status(root), (int) root.number("server_count", 0, MOST_DEVICES, -1), -1, servers, pods);
    }

    private static Device device(JsonPlace device, String rankKey) {
        if (rankKey == null) {
            throw device.at("rank_id").refused("a rank");
        }
        return new Device(
                (int) device.number(rankKey, 0, MOST_RANK),
                (int) device.number("device_id", 0, 65_535),
                device.text("device_ip", ""),
                (int) device.number("device_port", 0, 1_000_000, -1),
                device.number("super_device_id", 0, SuperDeviceId.MAX, -1),
                List.of());
    }

    // The older form.

    private static RankTable ofGroups(JsonPlace root) {
        Map<String, List<Device>> byServer = new LinkedHashMap<>();
        int rank = 0;
        int stated = 0;
        for (JsonPlace group : root.objects("group_list")) {
            stated += (int) group.number("device_count", 0, MOST_DEVICES, 0);
            for (JsonPlace instance : group.objects("instance_list")) {
                List<Device> own = byServer.computeIfAbsent(instance.text("server_id"), server -> new ArrayList<>());
                for (JsonPlace device : instance.objects("devices")) {
                    // The form has no ranks: they go by place.
                    own.add(new Device(
                            rank++,
                            (int) device.number("device_id", 0, 65_535),
                            device.text("device_ip", ""),
                            -1,
                            -1,
                            List.of()));
                    checkSize(root, rank);
                }
            }
        }
        List<Server> servers = new ArrayList<>();
        byServer.forEach((id, devices) -> servers.add(new Server(id, "", devices)));
        return new RankTable("legacy", status(root), -1, stated == 0 ? -1 : stated, servers, List.of());
    }

    // Version 2.0.

    private static RankTable ofRanks(JsonPlace root) {
        String version = root.text("version", "2.0");
        if (!version.equals("2.0")) {
            throw root.at("version").refused("2.0 beside rank_list");
        }
        Map<String, List<Device>> byServer = new LinkedHashMap<>();
        int count = 0;
        for (JsonPlace rank : root.objects("rank_list")) {
            List<Level> levels = new ArrayList<>();
            for (JsonPlace level : rank.has("level_list") ? rank.objects("level_list") : List.<JsonPlace>of()) {
                levels.add(level(level));
            }
            int local = (int) rank.number("local_id", 0, 65_535, -1);
            Device device = new Device(
                    (int) rank.number("rank_id", 0, MOST_RANK),
                    (int) rank.number("device_id", 0, 65_535, local < 0 ? 0 : local),
                    "",
                    (int) rank.number("device_port", 0, 1_000_000, -1),
                    -1,
                    levels);
            // Version 2.0 names no servers: the nearest network's instance stands for one.
            String server = levels.stream()
                    .filter(level -> level.layer() == 0)
                    .map(Level::instance)
                    .findFirst()
                    .orElse("server");
            byServer.computeIfAbsent(server, id -> new ArrayList<>()).add(device);
            checkSize(root, ++count);
        }
        List<Server> servers = new ArrayList<>();
        byServer.forEach((id, devices) -> servers.add(new Server(id, "", devices)));
        return new RankTable(
                version, status(root), -1, (int) root.number("rank_count", 0, MOST_DEVICES, -1), servers, List.of());
    }

    private static Level level(JsonPlace level) {
        String type = level.text("net_type", "CLOS");
        if (!type.equals("CLOS") && !type.equals("TOPO_FILE_DESC")) {
            throw level.at("net_type").refused("CLOS or TOPO_FILE_DESC");
        }
        boolean bus = false;
        if (level.has("rank_addr_list")) {
            for (JsonPlace address : level.objects("rank_addr_list")) {
                String kind = address.text("addr_type", "IPV4");
                if (!List.of("IPV4", "IPV6", "EID").contains(kind)) {
                    throw address.at("addr_type").refused("IPV4, IPV6 or EID");
                }
                bus |= kind.equals("EID");
            }
        }
        return new Level((int) level.number("net_layer", 0, 16), level.text("net_instance_id"), type, bus);
    }
}
